"""From events to verdicts: runs the SQL of `queries/` over a case under construction."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from faultlayer import database, influences, schema, sorted_files
from faultlayer.clocks import tie
from faultlayer.clocks.wishes import Wishes
from faultlayer.queries import Library, Query
from faultlayer.stated import Stated
from faultlayer.write import leaf, regrouped

#: Views numbered below this read events as logged; those above, corrected ones.
CORRECTED = 10

ROW_GROUP = 122_880

#: So many failed attempts do with what the database has, or this much if it is more;
#: each further one gets memory of its own.
FAILURES = 400_000
ENOUGH_MB = 320
ROW_BYTES = 2_000

#: Hashes that are sorted at once: 40 MB of them.
PART = 5_000_000

#: Columns whose values hardly repeat: a dictionary would only cost time.
_PLAIN = {
    "attempt_id": "DELTA_BINARY_PACKED",
    "ts_start": "DELTA_BINARY_PACKED",
    "ts_end": "DELTA_BINARY_PACKED",
    "request_id": "DELTA_LENGTH_BYTE_ARRAY",
}

_PARSED = """
CREATE OR REPLACE TEMP VIEW parsed AS
SELECT
    events_raw.event_id,
    events_raw.source_id,
    sources.clock_id,
    events_raw.ts_raw,
    greatest(events_raw.ts_precision_us, grains.grain_us) AS ts_precision_us,
    events_raw.borrowed,
    events_raw.layer,
    events_raw.kind,
    events_raw.kinds,
    events_raw.severity,
    coalesce(aliases.request_id, events_raw.request_id) AS request_id,
    events_raw.status,
    events_raw.duration_ms,
    events_raw.client,
    events_raw.engine,
    events_raw.message
FROM events_raw
INNER JOIN sources ON events_raw.source_id = sources.source_id
LEFT JOIN grains ON sources.clock_id = grains.clock_id
LEFT JOIN aliases ON events_raw.request_id = aliases.alias
"""

# What a stamp is written with says nothing of what its clock counts: `,000` in every
# line is a clock of whole seconds. A lonely clock needs no bounds.
_GRAINS = """
CREATE OR REPLACE TEMP TABLE grains AS
SELECT
    sources.clock_id,
    CASE
        WHEN bool_and(epoch_us(events_raw.ts_raw) % 1000000 = 0) THEN 1000000
        WHEN bool_and(epoch_us(events_raw.ts_raw) % 100000 = 0) THEN 100000
        WHEN bool_and(epoch_us(events_raw.ts_raw) % 10000 = 0) THEN 10000
        ELSE 1
    END AS grain_us
FROM events_raw
INNER JOIN sources ON events_raw.source_id = sources.source_id
WHERE (SELECT count(DISTINCT clock_id) FROM sources) > 1
GROUP BY sources.clock_id
HAVING count(events_raw.ts_raw) >= 20
"""

_FINDING = """
INSERT INTO findings
SELECT
    attempt_id,
    $rule::VARCHAR,
    layer_of(cause),
    cause,
    $role::VARCHAR,
    -- What is the attempt's by its exchange alone does not bear its id.
    CASE
        WHEN
            strength = 'proven'
            AND list_has_any(
                evidence,
                (SELECT coalesce(list(event_id), []) FROM relayed_records)
            )
            THEN 'corroborated'
        ELSE strength
    END,
    $precedence::BIGINT,
    ts,
    condition_id,
    clock_sensitive,
    evidence,
    because
FROM ({statement})
ORDER BY attempt_id, cause
"""

_CONDITION = """
INSERT INTO conditions
SELECT
    (SELECT count(*) FROM conditions)
    + row_number() OVER (ORDER BY ts_start, scope_kind, scope, cause, evidence),
    layer_of(cause),
    cause,
    role,
    scope_kind,
    scope,
    ts_start,
    ts_end,
    ts_error_us,
    clock_status,
    because,
    evidence
FROM ({statement})
ORDER BY ts_start, scope_kind, scope, cause, evidence
"""


_ASSUMED = """
SELECT 'clock ' || clock_id || ': ' || method
FROM clocks
WHERE status = 'weak'
"""


class Classifier:
    """Runs the definitions in order on one connection over one case folder.

    `sources.parquet` and the events must be there; `run` writes all other tables.
    `spill` is a folder for what does not outlive the run. `checks` holds after `run` how
    many constraints of shared requests contradict each clock. With `grows` the database
    gets more memory where very many attempts failed.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        case_dir: Path,
        library: Library,
        timing: pa.Table | None = None,
        spill: Path | None = None,
        wishes: Wishes | None = None,
        stated: Stated | None = None,
        *,
        grows: bool = False,
    ) -> None:
        self._con = con
        self._grows = grows
        self._spill = spill or case_dir
        self._dir = case_dir
        self._timing = timing
        self._wishes = wishes or Wishes()
        self._bare: dict[str, bool] = {}
        self.checks: list[dict[str, str | int]] = []
        self._library = library
        self._stated = stated or Stated()
        con.execute(f"CREATE OR REPLACE TEMP TABLE limits AS {self._stated.limits()}")
        for statement in self._stated.macros():
            con.execute(statement)
        for macro in library.macros:
            con.execute(
                macro.statement.replace("CREATE MACRO", "CREATE OR REPLACE TEMP MACRO")
            )

    def run(self, tell: Callable[[str], None]) -> None:
        """Write all tables that rest on events, and `tell` each stage that begins."""
        con = self._con
        database.attach_views(con, self._dir, database.STORED)
        tell("ids")
        for view in self._library.views:
            if view.order < CORRECTED:
                self._make(view)
        self._write("aliases", "alias")
        con.execute("DROP TABLE aliases")
        database.attach_view(con, self._dir, "aliases")
        tell("clocks")
        con.execute(_GRAINS)
        con.execute(_PARSED)
        con.register("timing_table", self._timing)
        con.execute("CREATE OR REPLACE TEMP TABLE timing AS FROM timing_table")
        tied = tie.tie(con, self._wishes)
        self.checks = [asdict(check) for check in tied.checks]
        for name, table in (("clocks", tied.clocks), ("turns", tied.turns)):
            pq.write_table(table, self._dir / f"{name}.parquet", compression="zstd")
        database.attach_views(con, self._dir, ("clocks", "turns"))
        database.settle_clocks(con)
        tell("attempts")
        self.correlate()
        tell("rules")
        self.judge()
        self._write("conditions", "condition_id")
        self._write("findings", "attempt_id, precedence, rule, cause")
        self._write("verdicts", "attempt_id")
        self._write("incidents", "incident_id")
        self._write("cascades", "incident_id, step")
        for view in self._library.views:
            if view.header.get("store") == "case":
                self._write(view.name, "ALL")

    def assumed(self) -> list[str]:
        """Say what had to be assumed and had a part in a verdict."""
        rows = self._con.execute(_ASSUMED).fetchall()
        return [str(row[0]) for row in rows]

    def values(self) -> list[dict[str, Any]]:
        """List the numbers that had a part in verdicts, and those that the user stated."""
        judges = [*self._library.conditions, *self._library.rules]
        return influences.used(self._con, self._stated, self._library.views, judges)

    def correlate(self, *, in_memory: bool = False) -> None:
        """Make the views over corrected events, up to the failed attempts.

        `in_memory` keeps what would be written as Parquet in a table.
        """
        for view in self._library.views:
            if view.order >= CORRECTED:
                self._make(view, in_memory=in_memory)

    def judge(self) -> None:
        """Find conditions, apply the rules, and give every failed attempt a verdict."""
        self._bare.clear()
        self._find_conditions()
        self._apply_rules()
        for query in self._library.verdicts:
            self._make(query)

    def _make(self, query: Query, *, in_memory: bool = False) -> None:
        store = query.header.get("store", "view")
        if store == "parquet" and not in_memory:
            self._stream(query)
            database.attach_view(self._con, self._dir, query.name)
            return
        if store == "kept" and not in_memory:
            return
        if store == "twice":
            self._keep_twice(query)
            return
        if store == "spill" and not in_memory:
            self._put_aside(query)
            return
        self._con.execute(f"DROP VIEW IF EXISTS {query.name}")
        kind = "VIEW" if store == "view" else "TABLE"
        self._con.execute(
            f"CREATE OR REPLACE TEMP {kind} {query.name} AS {query.statement}"
        )

    def _keep_twice(self, query: Query) -> None:
        """Keep of a column of hashes those that occur more than once.

        Sorting them outside of the database takes half the time of grouping them in it;
        a part of the hashes at a time, so that memory stays bounded.
        """
        con = self._con
        found = con.execute("SELECT coalesce(sum(events), 0) FROM sources").fetchall()
        parts = 1 + int(found[0][0]) // PART
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE {query.name} AS"
            f" SELECT * FROM ({query.statement}) WHERE false"
        )
        for part in range(parts):
            hashes = con.execute(
                f"SELECT id_hash FROM ({query.statement})"
                f" WHERE id_hash % {parts} = {part}"
                if parts > 1
                else query.statement
            ).fetchnumpy()["id_hash"]
            hashes.sort()
            twice = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
            con.register("twice", pa.table({"id_hash": twice}))
            con.execute(f"INSERT INTO {query.name} FROM twice")
            con.unregister("twice")

    def _put_aside(self, query: Query) -> None:
        """Keep a table that may be too large for memory in a file beside the case."""
        con = self._con
        literal = database.literal(str(self._spill / f"{query.name}.parquet"))
        con.execute(
            f"COPY ({query.statement}) TO {literal}"
            f" (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE {ROW_GROUP})"
        )
        con.execute(f"DROP TABLE IF EXISTS {query.name}")
        con.execute(
            f"CREATE OR REPLACE TEMP VIEW {query.name} AS FROM read_parquet({literal})"
        )

    def _stream(self, query: Query) -> None:
        """Write a large table without holding it, in row groups of a fixed size."""
        wanted = schema.arrow(schema.TABLES[query.name])
        flag = query.header["keep"]
        kept = f"{query.name}_{flag}"
        # The rows keep the order of the events as long as no join is turned around and
        # one thread streams them, which spares a sort.
        con, leaves = self._con, [*map(leaf, wanted)]
        con.execute("SET disabled_optimizers = 'build_side_probe_side,join_order'")
        with (
            sorted_files.alone(con),
            con.sql(query.statement).to_arrow_reader(ROW_GROUP) as reader,
            pq.ParquetWriter(
                self._dir / f"{query.name}.parquet",
                wanted,
                # A compressor costs more than it saves on pages of a few repeated values.
                compression={n: "zstd" if n in _PLAIN else "none" for n in leaves},
                compression_level={n: 1 for n in leaves if n in _PLAIN},
                use_dictionary=[n for n in leaves if n not in _PLAIN],  # type: ignore[arg-type]
                column_encoding=_PLAIN,
                # Only what a query prunes by: the others would cost and not pay.
                write_statistics=["attempt_id", "ts_start", "ts_end", "failed"],
            ) as writer,
            pq.ParquetWriter(self._spill / f"{kept}.parquet", reader.schema) as keeper,
        ):
            for table in regrouped(reader, ROW_GROUP):
                writer.write_table(table.select(wanted.names).cast(wanted))
                keeper.write_table(table.filter(table[flag]))
        con.execute("RESET disabled_optimizers")
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE {kept} AS FROM read_parquet(?)",
            [str(self._spill / f"{kept}.parquet")],
        )
        self._make_room(kept)

    def _make_room(self, kept: str) -> None:
        """Give what follows the memory for so many rows; spilling all costs more."""
        rows = self._con.execute(f"SELECT count(*) FROM {kept}").fetchall()[0][0]
        if self._grows and rows > FAILURES:
            wanted = ENOUGH_MB + (rows - FAILURES) * ROW_BYTES // 1_000_000
            self._con.execute(f"SET memory_limit = '{wanted}MB'")

    def _find_conditions(self) -> None:
        self._empty("conditions")
        for query in self._library.conditions:
            self._fill(query, _CONDITION, {})

    def _apply_rules(self) -> None:
        self._empty("findings")
        for query in self._library.rules:
            header = query.header
            values: dict[str, str | int] = {
                "rule": query.name,
                "role": header["role"],
                "precedence": int(header["precedence"]),
            }
            self._fill(query, _FINDING, values)

    def _fill(self, query: Query, into: str, values: Mapping[str, str | int]) -> None:
        """Insert what a condition or rule gives, by the statement `into`."""
        if any(map(self._is_bare, query.needs)):
            return  # to plan a statement takes longer than to run it over nothing
        self._insert(query, into.format(statement=query.statement), values)

    def _insert(
        self,
        query: Query,  # noqa: ARG002
        statement: str,
        values: Mapping[str, str | int],
    ) -> None:
        self._con.execute(statement, dict(values))

    def _is_bare(self, name: str) -> bool:
        """Tell whether a table has no row; while rules and conditions are asked."""
        if name not in self._bare:
            found = self._con.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchall()
            self._bare[name] = not found
        return self._bare[name]

    def _empty(self, name: str) -> None:
        columns = ", ".join(
            f"{column.name} {database.sql_type(column.type)}"
            for column in schema.TABLES[name]
        )
        self._con.execute(f"DROP VIEW IF EXISTS {name}")
        self._con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")

    def _write(self, name: str, order: str) -> None:
        sorted_files.write(
            self._con, name, order, self._dir / f"{name}.parquet", ROW_GROUP
        )
