"""The records of a rule's case, and the tables of a case that they fill."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa

from faultlayer import corrected, database, schema
from faultlayer.errors import DefinitionError, Location

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
    "kubelet": ("logs/k8s/pods.txt", "host", "kubernetes", "kubernetes_objects"),
    "gpu": ("logs/host/gpu_dmon.txt", "model", "gpu", "nvidia_dmon"),
    "metrics": ("logs/metrics/gateway.prom", "harness", "metrics", "prometheus"),
    "ledger": ("logs/quota/ledger.jsonl", "quota", "quota", "quota_ledger"),
    "balance": ("logs/quota/balance.jsonl", "quota", "quota", "quota_balance"),
    "config": ("logs/config/harness.yaml", "harness", "config", "yaml_config"),
    "edge-b": ("logs/nginx-b/error.log", "harness", "nginx", "nginx_error"),
    "mesh": ("logs/istio/istio-proxy.log", "harness", "envoy", "envoy"),
    "mesh-b": ("logs/istio-b/istio-proxy.log", "harness", "envoy", "envoy"),
    "app-b": ("logs/harness-b/harness.log", "harness", "harness", "harness_app"),
    "config-b": ("logs/nginx/gateway.yaml", "harness", "config", "yaml_config"),
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


_GIVEN = {
    "events": schema.arrow(corrected.EVENTS),
    **{
        name: schema.arrow(schema.TABLES[name])
        for name in ("sources", "clocks", "aliases")
    },
}


def make_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Make what `fill` fills, and the views that read it."""
    for name, wanted in _GIVEN.items():
        columns = (f"{one.name} {database.sql_type(one.type)}" for one in wanted)
        con.execute(f"CREATE TEMP TABLE {name} ({', '.join(columns)})")
    raw = ", ".join(column.name for column in schema.EVENTS_RAW)
    con.execute(f"CREATE TEMP VIEW events_raw AS SELECT {raw} FROM events")


def fill(con: duckdb.DuckDBPyConnection, case: RuleCase, seed: int | None) -> None:
    """Put the records of a case in the place of those that are there."""
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
    given = {"events": rows, "sources": sources, "clocks": clocks, "aliases": []}
    try:
        tables = {
            name: pa.Table.from_pylist(given[name], schema=wanted)
            for name, wanted in _GIVEN.items()
        }
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DefinitionError(
            f"case {case.name!r}: a value has another type than its column: {error}",
            at=Location(case.path, case.line),
        ) from error
    for name, filled in tables.items():
        con.execute(f"TRUNCATE {name}")
        # Not registered by a name: that would make every plan anew.
        con.from_arrow(filled).insert_into(name)


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
