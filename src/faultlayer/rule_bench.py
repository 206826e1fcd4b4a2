"""A case of a rule on a connection of its own: its records, and what they give."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from faultlayer import corrected, database, queries, schema
from faultlayer.classify import CORRECTED, Classifier
from faultlayer.errors import DefinitionError, Location
from faultlayer.queries import Query

#: Second 0 of every case.
START = datetime(2026, 6, 15, 12, 0, 0)  # noqa: DTZ001 - cases hold UTC without a zone

#: The logs that a record of a case can stand in: path, layer, component, format.
LOGS: dict[str, tuple[str, str, str, str]] = {
    "access": ("logs/nginx/access.log", "harness", "nginx", "nginx_access"),
    "edge": ("logs/nginx/error.log", "harness", "nginx", "nginx_error"),
    "app": ("logs/harness/harness.log", "harness", "harness", "harness_app"),
    "engine": ("logs/model/engine-0/model.log", "model", "vllm", "vllm"),
    "engine-1": ("logs/model/engine-1/model.log", "model", "vllm", "vllm"),
    "pod": (
        "logs/pods/ai_vllm-0_7d1f0c52-3a0b-4f0e-9d55-0c9a7d1b2f42/vllm/0.log",
        "model",
        "vllm",
        "vllm",
    ),
    "kernel": ("logs/host/dmesg", "model", "kernel", "dmesg"),
    "gpu": ("logs/host/gpu_dmon.txt", "model", "gpu", "nvidia_dmon"),
    "metrics": ("logs/metrics/gateway.prom", "harness", "metrics", "prometheus"),
    "ledger": ("logs/quota/ledger.jsonl", "quota", "quota", "quota_ledger"),
    "balance": ("logs/quota/balance.jsonl", "quota", "quota", "quota_balance"),
    "config": ("logs/config/harness.yaml", "harness", "config", "yaml_config"),
    "edge-b": ("logs/nginx-b/error.log", "harness", "nginx", "nginx_error"),
    "mesh": ("logs/istio/istio-proxy.log", "harness", "envoy", "envoy"),
    "mesh-b": ("logs/istio-b/istio-proxy.log", "harness", "envoy", "envoy"),
    "app-b": ("logs/harness-b/harness.log", "harness", "harness", "harness_app"),
}

#: Which engine writes a log, where its records do not say otherwise.
ENGINES = {"engine": "engine-0", "engine-1": "engine-1", "pod": "engine-0"}

#: Keys of a record that are not columns: name, log, at and took in seconds,
#: id, error in seconds.
_OWN_KEYS = {"name", "log", "at", "took", "id", "error", "attrs"}


@dataclass(frozen=True, slots=True)
class RuleCase:
    """One case: records, and the answers that they must give.

    `fires`, of the file's rule, and `verdicts` are `{request id: "cause strength"}`,
    `finds`, of the file's condition, is what `Prepared.found` gives.
    """

    subject: str
    path: str
    line: int
    name: str
    records: tuple[Mapping[str, Any], ...] = ()
    untied: frozenset[str] = frozenset()
    fires: Mapping[str, str] | None = None
    finds: tuple[str, ...] | None = None
    verdicts: Mapping[str, str] | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: case {self.name!r}"


class _Stages(Classifier):
    """A classifier that makes no more than is asked for: most cases need little."""

    _made: frozenset[str] = frozenset()

    def make_for(self, statement: str) -> None:
        """Make what a statement reads: views, and conditions with what they read."""
        needed = queries.words(statement)
        conditions = "conditions" in needed and "conditions" not in self._made
        if conditions:
            needed = needed.union(
                *(queries.words(c.statement) for c in self._conditions)
            )
        views = []
        for view in reversed(self._views):
            if view.order >= CORRECTED and view.name in needed:
                views.append(view)
                needed |= queries.words(view.statement)
        for view in reversed(views):
            if view.name not in self._made:
                self._make(view, in_memory=True)
                self._made |= {view.name}
        if conditions:
            self._find_conditions()
            self._made |= {"conditions"}

    def judge_all(self) -> None:
        """Go on to the verdicts, finding conditions anew."""
        self._made |= {"conditions"}
        every = (*self._views, *self._conditions, *self._rules, *self._verdicts)
        # Findings are written with the help of a view that no file of its own reads.
        self.make_for(
            " ".join(["relayed_records", *(query.statement for query in every)])
        )
        self._con.execute("DROP TABLE IF EXISTS conditions")
        self.judge()


class Prepared:
    """A case on a connection of its own; what a statement reads is made for it.

    With a `seed` the records are in another order; `own` are a user's rules and
    conditions, beside those of `definitions`. Raises DefinitionError for records
    that no table can hold; asking raises duckdb.Error for a query that does not run.
    """

    def __init__(
        self,
        case: RuleCase,
        definitions: Traversable,
        *,
        seed: int | None = None,
        own: Sequence[Query] = (),
    ) -> None:
        self.case = case
        self.con = database.connect(threads=1)
        self.con.execute("PRAGMA disable_optimizer")  # longer than such tables repay
        _tables(self.con, case, seed)
        self._stages = _Stages(self.con, Path(), definitions, None, own=own)
        self._judged = False

    def fired(self, statement: str) -> dict[str, str]:
        """Run a rule's statement; gives `{request id: "cause strength"}`.

        Later attempts of a request are `id#2`, attempts without an id `-`; several
        causes of one attempt are joined by `; `; a finding that the clocks could
        change ends in ` clock_sensitive`.
        """
        return self._answers(f"({statement})")

    def verdicts(self) -> dict[str, str]:
        """Give the verdicts, written like what `fired` gives."""
        self._judge()
        return self._answers("verdicts")

    def found(self, statement: str) -> tuple[str, ...]:
        """Run a condition's statement; gives "cause kind:scope from..to", in order.

        Times are seconds of the case; an open end is left out. Symptoms and conditions
        whose clock is untied say so in a last word.
        """
        self._stages.make_for(statement)
        rows = self.con.execute(
            f"""
            SELECT cause, scope_kind, scope, ts_start, ts_end, role, clock_status
            FROM ({statement})
            ORDER BY ts_start, cause, scope_kind, scope, ts_end
            """
        ).fetchall()
        return tuple(
            f"{cause} {kind}:{scope} {_seconds(first)}..{_seconds(last)}"
            + (" symptom" if role == "symptom" else "")
            + (" untied" if clock == "untied" else "")
            for cause, kind, scope, first, last, role, clock in rows
        )

    def columns(self, statement: str) -> list[tuple[str, str]]:
        """Give names and types of what a statement returns."""
        self._stages.make_for(statement)
        rows = self.con.execute(f"DESCRIBE {statement}").fetchall()
        return [(row[0], row[1]) for row in rows]

    def reasons(self) -> str:
        """Say which rules decided and why, one attempt a line."""
        self._judge()
        rows = self.con.execute(
            "SELECT coalesce(request_id, '-'), rule, because FROM verdicts ORDER BY ALL"
        ).fetchall()
        return "\n".join(f"    {who}: {rule}: {why}" for who, rule, why in rows)

    def rows(self) -> list[tuple[Any, ...]]:
        """Give every row of all that is concluded, in an order of their own."""
        self._judge()
        found: list[tuple[Any, ...]] = []
        names = ("attempts", "conditions", "findings", "verdicts", "incidents")
        for name in (*names, "cascades"):
            got = self.con.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall()
            found.extend((name, *row) for row in got)
        return found

    def _judge(self) -> None:
        if not self._judged:
            self._stages.judge_all()
            self._judged = True

    def _answers(self, relation: str) -> dict[str, str]:
        self._stages.make_for(f"{relation} failures")
        rows = self.con.execute(
            f"""
            SELECT
                coalesce(failures.request_id, '-')
                || CASE WHEN failures.attempt > 1 THEN '#' || failures.attempt ELSE ''
                END,
                string_agg(
                    answers.cause || ' ' || answers.strength
                    || CASE WHEN answers.clock_sensitive THEN ' clock_sensitive'
                    ELSE '' END,
                    '; ' ORDER BY answers.cause, answers.strength
                )
            FROM {relation} AS answers
            INNER JOIN failures ON answers.attempt_id = failures.attempt_id
            GROUP BY 1
            ORDER BY 1
            """
        ).fetchall()
        return dict(rows)


def _seconds(moment: datetime | None) -> str:
    return "" if moment is None else f"{(moment - START).total_seconds():.6g}"


def _tables(con: duckdb.DuckDBPyConnection, case: RuleCase, seed: int | None) -> None:
    ids = {name: number for number, name in enumerate(LOGS, 1)}
    lines = dict.fromkeys(LOGS, 0)
    rows: list[dict[str, Any]] = []
    for record in case.records:
        log = record["log"]
        if log not in LOGS:
            raise DefinitionError(
                f"case {case.name!r}: no log {log!r}",
                at=Location(case.path, case.line),
                hint="one of " + ", ".join(LOGS),
            )
        lines[log] += 1
        rows.append(_row(record, ids[log], lines[log], case))
    if seed is not None:
        random.Random(seed).shuffle(rows)  # noqa: S311 - an order, not a secret
    names = [column.name for column in corrected.EVENTS]
    wanted = pa.schema([(column.name, column.type) for column in corrected.EVENTS])
    try:
        events = pa.Table.from_pylist(rows, schema=wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DefinitionError(
            f"case {case.name!r}: a value has another type than its column: {error}",
            at=Location(case.path, case.line),
        ) from error
    con.register("given", events)
    con.execute(f"CREATE TEMP TABLE events AS SELECT {', '.join(names)} FROM given")
    raw = ", ".join(column.name for column in schema.EVENTS_RAW)
    con.execute(f"CREATE TEMP VIEW events_raw AS SELECT {raw} FROM events")
    sources = [
        {
            "source_id": number,
            "path": LOGS[name][0],
            "layer": LOGS[name][1],
            "component": LOGS[name][2],
            "format": LOGS[name][3],
            "log_set": LOGS[name][0],
            "clock_id": name,
            "events": lines[name],
        }
        for name, number in ids.items()
        if lines[name]
    ]
    clocks = [
        {
            "clock_id": name,
            "segment": 0,
            "status": "untied" if name in case.untied else "tied",
        }
        for name in ids
    ]
    for table, data in (("sources", sources), ("clocks", clocks), ("aliases", [])):
        con.register(
            f"given_{table}",
            pa.Table.from_pylist(data, schema=schema.arrow(schema.TABLES[table])),
        )
        con.execute(f"CREATE TEMP TABLE {table} AS FROM given_{table}")


def _row(
    record: Mapping[str, Any], source_id: int, line: int, case: RuleCase
) -> dict[str, Any]:
    _, layer, component, _ = LOGS[record["log"]]
    known = {column.name for column in corrected.EVENTS}
    unknown = record.keys() - known - _OWN_KEYS
    if unknown:
        raise DefinitionError(
            f"case {case.name!r}: no columns {sorted(unknown)}",
            at=Location(case.path, case.line),
            hint=f"columns of events, or {', '.join(sorted(_OWN_KEYS))}",
        )
    ts = START + timedelta(seconds=record["at"])
    error = round(record.get("error", 0.001) * 1_000_000)
    untied = record["log"] in case.untied
    return {
        "event_id": source_id * 10**10 + line,
        "source_id": source_id,
        "line": line,
        "lines": 1,
        "ts": ts,
        "ts_raw": ts,
        "ts_precision_us": error,
        "ts_error_us": None if untied else error,
        "borrowed": False,
        "clock_id": record["log"],
        "layer": layer,
        "component": component,
        "request_id": record.get("id"),
        "engine": ENGINES.get(record["log"]),
        "duration_ms": record["took"] * 1000 if "took" in record else None,
        "attrs": json.dumps(record["attrs"]) if "attrs" in record else None,
        **{key: value for key, value in record.items() if key not in _OWN_KEYS},
    }
