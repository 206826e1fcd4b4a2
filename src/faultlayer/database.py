"""Opens DuckDB: the only place that does, with the settings that forensics need."""

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from faultlayer import schema
from faultlayer.errors import CaseError, UsageError
from faultlayer.schema import Column

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

STORAGE = "v1.2.0"
"""Storage version of `case.duckdb`, so that clients older than ours read it."""

_DERIVED = {
    "ts": Column("ts", pa.timestamp("us"), "time corrected by the source's clock, UTC"),
    "ts_error_us": Column(
        "ts_error_us", pa.int64(), "uncertainty of ts, us; NULL = clock is untied"
    ),
    "clock_id": Column("clock_id", pa.string(), "clock that stamped it"),
}

_EVENTS_FIRST = """
    event_id source_id line byte_offset byte_length ts ts_raw ts_precision_us
    ts_error_us layer component kind severity request_id raw_request_id engine
    plugin pool user_id project_id tenant_id model status duration_ms
    upstream_connect_ms upstream_header_ms upstream_response_ms upstream_hops
    forwarded prompt_tokens completion_tokens quota_amount message attrs
"""


def _event_columns() -> tuple[Column, ...]:
    known = {column.name: column for column in schema.EVENTS_RAW} | _DERIVED
    first = _EVENTS_FIRST.split()
    rest = [name for name in known if name not in first]
    return tuple(known[name] for name in (*first, *rest))


EVENTS = _event_columns()
"""Columns of the view `events`: those that CONTRACT guarantees, then the rest."""

VIEWS: dict[str, tuple[Column, ...]] = {
    "events_raw": schema.EVENTS_RAW,
    **schema.TABLES,
    "events": EVENTS,
}
"""Every view of a case, in an order in which each rests on earlier ones only."""

_OPEN: "weakref.WeakSet[duckdb.DuckDBPyConnection]" = weakref.WeakSet()

VIEW_DOCS = {
    "events_raw": "parsed records as logged, nothing corrected",
    "sources": "one row per input file or archive member",
    "rejects": "records that no format took",
    "clocks": "one row per segment of a clock",
    "aliases": "spellings of request ids",
    "attempts": "one row per attempt, failed or not",
    "conditions": "intervals of trouble",
    "findings": "rules that fired on an attempt",
    "verdicts": "one row per failed attempt",
    "incidents": "groups of failed attempts",
    "events": "parsed records in corrected time, with resolved request ids",
}


def connect(
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_dir: Path | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open an empty in-memory database that never reaches for the network.

    `memory_limit` as DuckDB writes it (`"2GB"`). Without `temp_dir` a query that
    outgrows the memory fails instead of spilling. Raises UsageError for a limit that
    DuckDB does not understand.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "temp_directory": str(temp_dir) if temp_dir else "",
    }
    if memory_limit:
        config["memory_limit"] = memory_limit
    if threads:
        config["threads"] = threads
    try:
        con = duckdb.connect(config=config)
    except duckdb.Error as error:
        raise UsageError(
            f"the database refuses its settings: {_first_line(error)}",
            hint="sizes are written like 2GB or 512MB",
        ) from error
    con.execute("SET TimeZone = 'UTC'")
    _OPEN.add(con)
    return con


@contextlib.contextmanager
def reading(case_dir: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a finished case for our own queries; CaseError when it is damaged."""
    con = connect()
    try:
        attach_views(con, case_dir)
        yield con
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        raise CaseError(
            f"{case_dir} is damaged: {_first_line(error)}",
            hint=f"faultlayer verify {case_dir} lists what has changed",
        ) from error
    finally:
        con.close()


def interrupt() -> None:
    """Stop what all connections are doing; may be called from any thread.

    DuckDB does not look for signals while it runs a statement, so that Ctrl-C would wait
    for the end of a long one.
    """
    for con in list(_OPEN):
        con.interrupt()


def attach_views(
    con: duckdb.DuckDBPyConnection, case_dir: Path, *, sandbox: bool = False
) -> None:
    """Make the views of `VIEWS` over a case; tables not written yet are empty.

    Called again after more tables are written, it replaces the views. With `sandbox`
    the connection is then locked for good: it reads these tables and nothing else, no
    file, no network, no setting; nothing can be written outside of its memory.
    """
    for name in VIEWS:
        attach_view(con, case_dir, name, sandbox=sandbox)
    if sandbox:
        _lock(con)


def attach_view(
    con: duckdb.DuckDBPyConnection, case_dir: Path, name: str, *, sandbox: bool = False
) -> None:
    """Make or replace one view of `VIEWS`; see `attach_views`."""
    columns = VIEWS[name]
    files = [] if name == "events" else parquet_files(case_dir, name)
    if files and sandbox:
        con.register(name, _dataset(name, columns, files))
    else:
        if name == "events":
            body = _events_body()
        elif files:
            names = ", ".join(_literal(file) for file in files)
            body = _select(columns, f"read_parquet([{names}])")
        else:
            body = _nothing(columns)
        con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {body}")
    if sandbox:  # a person may ask what the columns mean; our own queries do not
        _comment(con, name, columns)


def write_catalogue(path: Path) -> None:
    """Write the `case.duckdb` of the case in the working directory to `path`.

    It holds views over relative Parquet paths: a client opens it from the case folder.
    """
    con = connect()
    quoted = str(path).replace("'", "''")
    try:
        con.execute(f"ATTACH '{quoted}' AS catalogue (STORAGE_VERSION '{STORAGE}')")
        con.execute("USE catalogue")
        con.execute("BEGIN")  # or each of hundreds of comments is synced on its own
        for name, columns in VIEWS.items():
            if name == "events":
                body = _events_body()
            elif parquet_files(Path(), name):
                body = _select(columns, f"read_parquet('{_relative(name)}')")
            else:
                body = _nothing(columns)
            con.execute(f"CREATE VIEW {name} AS {body}")
            _comment(con, name, columns)
        con.execute("COMMIT")
        con.execute("USE memory")
        con.execute("DETACH catalogue")
    finally:
        con.close()


def parquet_files(case_dir: Path, name: str) -> list[Path]:
    """List the Parquet files of a view in name order; none when not written yet."""
    return sorted(case_dir.glob(_relative(name)))


def one_statement(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """Check that `text` is one statement that only reads, and give it back trimmed.

    This is a courtesy with a clear message; what protects is the locked connection.
    """
    try:
        statements = con.extract_statements(text)
    except duckdb.Error as error:
        raise UsageError(str(error).strip()) from error
    if not statements:
        raise UsageError("no statement given", hint="try: SELECT * FROM verdicts")
    if len(statements) > 1:
        raise UsageError(
            f"{len(statements)} statements given, one is allowed",
            hint="run them one by one, or join them with WITH",
        )
    kind = statements[0].type
    allowed = {
        duckdb.StatementType.SELECT,
        duckdb.StatementType.EXPLAIN,
        duckdb.StatementType.MULTI,  # PIVOT
    }
    if kind not in allowed:
        raise UsageError(
            f"a case is read-only: {kind.name} is not allowed",
            hint="SELECT, FROM, WITH, DESCRIBE, SHOW TABLES, SUMMARIZE, PIVOT work",
        )
    return str(statements[0].query).strip().rstrip(";").strip()


def _lock(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("SET python_enable_replacements = false")
    con.execute("SET allow_community_extensions = false")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


def _relative(name: str) -> str:
    if name in {"events_raw", "rejects"}:
        return f"{name.removesuffix('_raw')}/*.parquet"
    return f"{name}.parquet"


def _dataset(
    name: str, columns: tuple[Column, ...], files: Sequence[Path]
) -> "Dataset":
    # Importing it costs, and only the statements of users need it.
    import pyarrow.dataset as pads  # noqa: PLC0415

    try:
        return pads.dataset([str(file) for file in files], schema=schema.arrow(columns))
    except (OSError, pa.ArrowInvalid) as error:
        raise CaseError(
            f"{name} cannot be read: {_first_line(error)}",
            hint="faultlayer verify CASE lists what is damaged",
        ) from error


def _literal(file: Path) -> str:
    path = "".join(f"[{c}]" if c in "*?[" else c for c in file.absolute().as_posix())
    return "'" + path.replace("'", "''") + "'"


def _select(columns: tuple[Column, ...], relation: str) -> str:
    return f"SELECT {', '.join(c.name for c in columns)} FROM {relation}"


def _nothing(columns: tuple[Column, ...]) -> str:
    items = ", ".join(f"CAST(NULL AS {sql_type(c.type)}) AS {c.name}" for c in columns)
    return f"SELECT {items} WHERE false"


def sql_type(kind: pa.DataType) -> str:
    """Spell an Arrow type of the schema as DuckDB does."""
    if pa.types.is_list(kind):
        return f"{sql_type(kind.value_type)}[]"
    return {
        "int64": "BIGINT",
        "int32": "INTEGER",
        "double": "DOUBLE",
        "string": "VARCHAR",
        "bool": "BOOLEAN",
        "timestamp[us]": "TIMESTAMP",
    }[str(kind)]


def _comment(
    con: duckdb.DuckDBPyConnection, name: str, columns: tuple[Column, ...]
) -> None:
    comments = [f"COMMENT ON VIEW {name} IS '{_quote(VIEW_DOCS[name])}'"]
    comments += [
        f"COMMENT ON COLUMN {name}.{column.name} IS '{_quote(column.doc)}'"
        for column in columns
    ]
    con.execute("; ".join(comments))


def _quote(text: str) -> str:
    return text.replace("'", "''")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def settle_clocks(con: duckdb.DuckDBPyConnection) -> None:
    """Make `events` rest on a table of the clocks as they are now.

    Who asks often spares working their segments out with each question.
    """
    con.execute(f"CREATE OR REPLACE TEMP TABLE settled AS {_STAMPS} FROM stamps")
    body = _events_body("WITH stamps AS (FROM settled)")
    con.execute(f"CREATE OR REPLACE TEMP VIEW events AS {body}")


def _events_body(stamps: str | None = None) -> str:
    special = {
        "ts": "CASE WHEN stamps.offset_us IS NULL THEN raw.ts_raw"
        f" ELSE {_corrected('raw.ts_raw', 'stamps')} END AS ts",
        "ts_error_us": "raw.ts_precision_us + stamps.error_us AS ts_error_us",
        "clock_id": "stamps.clock_id",
        "request_id": "coalesce(aliases.request_id, raw.request_id) AS request_id",
        "raw_request_id": "coalesce(raw.raw_request_id, raw.request_id)"
        " AS raw_request_id",
    }
    items = ",\n    ".join(special.get(c.name, f"raw.{c.name}") for c in EVENTS)
    return f"""{stamps or _STAMPS}
SELECT
    {items}
FROM events_raw AS raw
LEFT JOIN stamps
    ON
        raw.source_id = stamps.source_id
        AND raw.ts_raw >= stamps.reads_from
        AND raw.ts_raw < stamps.reads_to
LEFT JOIN aliases ON raw.request_id = aliases.alias"""


def _corrected(reading: str, clock: str) -> str:
    """Give the reference time at which a clock showed `reading`."""
    since = f"epoch_us({reading}) - epoch_us({clock}.anchor_ts) - {clock}.offset_us"
    scale = f"(1 + {clock}.drift_ppm * 1e-6)"
    return (
        f"make_timestamp(epoch_us({clock}.anchor_ts)"
        f" + CAST(round(({since}) / {scale}) AS BIGINT))"
    )


# A segment holds from its valid_from to the next one's, as read off that clock; where
# a clock was set back the same reading occurs twice and the later segment gets it.
_STAMPS = """WITH segments AS (
    SELECT
        clock_id,
        segment,
        coalesce(anchor_ts, valid_from, TIMESTAMP '2000-01-01') AS anchor_ts,
        CASE WHEN status <> 'untied' THEN offset_us END AS offset_us,
        coalesce(drift_ppm, 0) AS drift_ppm,
        CASE
            WHEN status = 'untied' OR lo_us IS NULL OR hi_us IS NULL THEN NULL
            ELSE greatest(hi_us - offset_us, offset_us - lo_us)
        END AS error_us,
        max(CASE
            WHEN valid_from IS NULL THEN TIMESTAMP '-infinity'
            ELSE make_timestamp(
                epoch_us(valid_from) + coalesce(offset_us, 0)
                + CAST(round(
                    coalesce(drift_ppm, 0) * 1e-6
                    * (epoch_us(valid_from) - epoch_us(coalesce(anchor_ts, valid_from)))
                ) AS BIGINT)
            )
        END) OVER (PARTITION BY clock_id ORDER BY segment) AS reads_from
    FROM clocks
),

bounded AS (
    SELECT
        clock_id,
        anchor_ts,
        offset_us,
        drift_ppm,
        error_us,
        reads_from,
        lead(reads_from, 1, TIMESTAMP 'infinity')
            OVER (PARTITION BY clock_id ORDER BY segment) AS reads_to
    FROM segments
),

stamps AS (
    SELECT
        sources.source_id,
        bounded.clock_id,
        bounded.anchor_ts,
        bounded.offset_us,
        bounded.drift_ppm,
        bounded.error_us,
        bounded.reads_from,
        bounded.reads_to
    FROM sources
    INNER JOIN bounded ON sources.clock_id = bounded.clock_id
)
"""
