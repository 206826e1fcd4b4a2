"""Opens DuckDB: the only place that does, with the settings that forensics need."""

import contextlib
import functools
import json
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from faultlayer import assets, corrected, derived, functions, queries, schema
from faultlayer.errors import CaseError, UsageError
from faultlayer.schema import Column

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

STORAGE = "v1.2.0"
"""Storage version of `case.duckdb`, so that clients older than ours read it."""

VIEWS: dict[str, tuple[Column, ...]] = {
    "events_raw": schema.EVENTS_RAW,
    **schema.TABLES,
    "events": corrected.EVENTS,
    **derived.TABLES,
}
"""Every view of a case, in an order in which each rests on earlier ones only."""

STORED = tuple(name for name in VIEWS if name not in derived.TABLES)
"""Those that are there while a case is made."""
_WORKED_OUT = {"events", *derived.TABLES}

_ROW_BYTES = 40
"""What a row of events takes on disk, for plans; it need not be right."""

_OPEN: "weakref.WeakSet[duckdb.DuckDBPyConnection]" = weakref.WeakSet()
_STOPPED = threading.Event()


def connect(
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_dir: Path | None = None,
    time_limit: timedelta | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open an empty in-memory database that never reaches for the network.

    `memory_limit` as DuckDB writes it (`"2GB"`). Without `temp_dir` a query that outgrows
    it fails. A statement that takes longer than `time_limit` is stopped. Raises UsageError
    for a limit that DuckDB does not understand.
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
    if time_limit:
        config["max_execution_time"] = max(1, time_limit // timedelta(milliseconds=1))
    try:
        con = duckdb.connect(config=config)
    except duckdb.Error as error:
        raise UsageError(
            f"the database refuses its settings: {_first_line(error)}",
            hint="sizes are written like 2GB or 512MB",
        ) from error
    con.execute("SET TimeZone = 'UTC'")
    # Every statement that names a table would read its footer anew.
    con.execute("SET parquet_metadata_cache = true")
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
        raise damaged(case_dir, error) from error
    finally:
        con.close()


def damaged(case_dir: Path, error: Exception) -> CaseError:
    """Say that a case cannot be read as it is, by what was found."""
    return CaseError(
        f"{case_dir} is damaged: {_first_line(error)}",
        hint=f"faultlayer verify {case_dir} lists what has changed",
    )


def rows(
    con: duckdb.DuckDBPyConnection,
    statement: str,
    parameters: Mapping[str, object] | None = None,
) -> list[dict[str, Any]]:
    """Run a query of ours and give its rows by the names of their columns."""
    result = con.execute(statement, dict(parameters or {}))
    names = [item[0] for item in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def stopped() -> bool:
    """Tell whether `interrupt` was called since this was last asked.

    DuckDB says of a query that ran out of its time that it was interrupted, too.
    """
    was = _STOPPED.is_set()
    _STOPPED.clear()
    return was


def interrupt() -> None:
    """Stop what all connections are doing; may be called from any thread.

    DuckDB does not look for signals while it runs: Ctrl-C would wait for the end.
    """
    _STOPPED.set()
    for con in list(_OPEN):
        with contextlib.suppress(duckdb.ConnectionException):  # closed by now
            con.interrupt()


def attach_views(
    con: duckdb.DuckDBPyConnection,
    case_dir: Path,
    names: Iterable[str] | None = None,
    *,
    sandbox: bool = False,
) -> None:
    """Make the views of `VIEWS`, or these, over a case; tables not written are empty.

    Called again after more tables are written, it replaces the views. With `sandbox`
    it has the table functions too, and the connection is then locked for good: it reads
    these tables and nothing else, no file, no network, no setting; nothing can be
    written outside of its memory. CaseError where a finished case lacks a file.
    """
    if names is None:
        _see_whole(case_dir)
    for name in VIEWS if names is None else names:
        attach_view(con, case_dir, name, sandbox=sandbox)
    if sandbox:
        for function in functions.load():
            con.execute("; ".join(function.statements("TEMP")))
        _lock(con)


def _see_whole(case_dir: Path) -> None:
    manifest = case_dir / "case.json"
    listed = json.loads(manifest.read_bytes()) if manifest.is_file() else {}
    for name in listed.get("files", {}):
        if name.endswith(".parquet") and not (case_dir / name).is_file():
            raise damaged(case_dir, FileNotFoundError(f"{name} is missing"))


def attach_view(
    con: duckdb.DuckDBPyConnection, case_dir: Path, name: str, *, sandbox: bool = False
) -> None:
    """Make or replace one view of `VIEWS`; see `attach_views`."""
    columns = VIEWS[name]
    files = [] if name in _WORKED_OUT else parquet_files(case_dir, name)
    if files and sandbox:
        con.register(name, _dataset(name, columns, files))
    else:
        if name in _WORKED_OUT:
            body = _worked_out(name, case_dir)
        elif files:
            names = ", ".join(_glob_literal(file) for file in files)
            body = _select(columns, f"read_parquet([{names}]{_expected(files)})")
        else:
            body = _nothing(columns)
        try:
            con.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {body}")
        except duckdb.BinderException as error:
            raise CaseError(
                f"the table {name} of {case_dir} has other columns: {_first_line(error)}",
                hint="another version of faultlayer wrote the case; analyze anew",
            ) from error
    if sandbox:  # a person may ask what the columns mean; our own queries do not
        _comment(con, name, columns)


def _expected(files: Sequence[Path]) -> str:
    """Say how many rows to plan for: DuckDB takes all files for as large as the first."""
    if len(files) == 1:
        return ""
    size = sum(file.stat().st_size for file in files)
    return f", explicit_cardinality = {max(len(files), size // _ROW_BYTES)}"


def write_catalogue(path: Path) -> None:
    """Write the `case.duckdb` of the case in the working directory to `path`.

    It holds views over relative paths: a client opens it from the case folder.
    """
    con = connect()
    try:
        con.execute(
            f"ATTACH {literal(str(path))} AS catalogue (STORAGE_VERSION '{STORAGE}')"
        )
        con.execute("USE catalogue")
        con.execute("BEGIN")  # or each of hundreds of comments is synced on its own
        for name, columns in VIEWS.items():
            if name in _WORKED_OUT:
                body = _worked_out(name, Path())
            elif parquet_files(Path(), name):
                body = _select(columns, f"read_parquet('{_relative(name)}')")
            else:
                body = _nothing(columns)
            con.execute(f"CREATE VIEW {name} AS {body}")
            _comment(con, name, columns)
        for function in functions.load():
            con.execute("; ".join(function.statements()))
        con.execute("COMMIT")
        con.execute("USE memory")
        con.execute("DETACH catalogue")
    finally:
        con.close()


def parquet_files(case_dir: Path, name: str) -> list[Path]:
    """List the Parquet files of a view in name order; none when not written yet."""
    return sorted(case_dir.glob(_relative(name)))


def split(con: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    """Give the statements of a text; UsageError where it cannot be read."""
    try:
        found = con.extract_statements(functions.asked(text))
    except duckdb.Error as error:
        raise UsageError(str(error).strip()) from error
    return [str(one.query) for one in found]


def one_statement(con: duckdb.DuckDBPyConnection, text: str) -> str:
    """Check that `text` is one statement that only reads, and give it back trimmed.

    This is a courtesy with a clear message; what protects is the locked connection.
    """
    try:
        statements = con.extract_statements(functions.asked(text))
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


def _glob_literal(file: Path) -> str:
    path = "".join(f"[{c}]" if c in "*?[" else c for c in file.absolute().as_posix())
    return literal(path)


def literal(text: str) -> str:
    """Spell a text as SQL does."""
    return "'" + text.replace("'", "''") + "'"


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
    comments = [f"COMMENT ON VIEW {name} IS {literal(schema.VIEW_DOCS[name])}"]
    comments += [
        f"COMMENT ON COLUMN {name}.{column.name} IS {literal(column.doc)}"
        for column in columns
    ]
    con.execute("; ".join(comments))


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def settle_clocks(con: duckdb.DuckDBPyConnection) -> None:
    """Make `events` rest on a table of the clocks as they are now.

    Who asks often spares working their segments out with each question.
    """
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE settled AS {corrected.STAMPS} FROM stamps"
    )
    asked = {
        "turned": "SELECT count(*) > 0 FROM turns",
        "even": corrected.EVEN,
        "aliased": "SELECT count(*) > 0 FROM aliases",
    }
    shape = {name: con.execute(sql).fetchall()[0][0] for name, sql in asked.items()}
    body = corrected.view("WITH stamps AS (FROM settled)", **shape)
    con.execute(f"CREATE OR REPLACE TEMP VIEW events AS {body}")


def _worked_out(name: str, case_dir: Path) -> str:
    if name == "events":
        return corrected.view(turned=_turned(case_dir))
    return _statements()[name]


@functools.cache
def _statements() -> dict[str, str]:
    found = queries.load(assets.builtin("queries"), "tables")
    return {query.name: query.statement for query in found}


def _turned(case_dir: Path) -> bool:
    """Whether a clock of the case was set back."""
    files = parquet_files(case_dir, "turns")
    return any(pq.read_metadata(file).num_rows for file in files)
