"""A small invented case, for tests that need one without the pipeline."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from faultlayer import schema
from faultlayer.case import Case, CaseWriter

Rows = list[dict[str, Any]]
Build = Callable[..., Case]

START = datetime(2026, 11, 30, 14, 20)  # noqa: DTZ001 - cases hold UTC without a zone
ID = "7f26411e-1f0a-4c6e-9a51-0d2f6a9be001"
FILES = [("harness_access.log", "harness", "nginx"), ("engine.log", "model", "vllm")]


def table(columns: tuple[schema.Column, ...], rows: Rows) -> pa.Table:
    """Make a table of the schema from rows; what a row lacks is null."""
    names = [column.name for column in columns]
    whole = [{name: row.get(name) for name in names} for row in rows]
    unknown = {name for row in rows for name in row} - set(names)
    assert not unknown
    return pa.Table.from_pylist(whole, schema=schema.arrow(columns))


def default_events() -> Rows:
    """Two attempts: one failed with its engine, one is fine."""
    lines: list[tuple[int, float, dict[str, Any]]] = [
        (1, 5.5, {"kind": "access", "request_id": ID, "status": 502, "engine": "e-0"}),
        (1, 6.0, {"kind": "access", "request_id": "req-fine", "status": 200}),
        (2, 2.0, {"kind": "request_received", "request_id": f"{ID}-0a1b2c3d"}),
        (2, 4.0, {"kind": "engine_dead", "severity": "error"}),
    ]
    events: Rows = []
    counts = {1: 0, 2: 0}
    for source_id, second, extra in lines:
        counts[source_id] += 1
        line = counts[source_id]
        name, layer, component = FILES[source_id - 1]
        events.append(
            {
                "event_id": source_id * 10**10 + line,
                "source_id": source_id,
                "line": line,
                "lines": 1,
                "byte_offset": 100 * (line - 1),
                "byte_length": 100,
                "ts_raw": START + timedelta(seconds=second),
                "ts_precision_us": 1000,
                "borrowed": False,
                "layer": layer,
                "component": component,
                "message": f"record {line} of {name}",
                "attrs": "{}",
                **extra,
            }
        )
    return events


def default_sources() -> Rows:
    """One access log and one engine log, two records each."""
    return [
        {
            "source_id": number,
            "path": f"logs/{name}",
            "sha256": "0" * 64,
            "file_bytes": 200 + (number == 1),
            "bytes": 200 + (number == 1),
            "lines": 2 + (number == 1),
            "records": 2,
            "events": 2,
            "rejects": 0,
            "blank_lines": int(number == 1),
            "blank_bytes": int(number == 1),
            "damaged_lines": 0,
            "format": component,
            "layer": layer,
            "component": component,
            "clock_id": f"clock-{number}",
            "zoned": True,
            "precision_us": 1000,
            "first_ts": START + timedelta(seconds=2),
            "last_ts": START + timedelta(seconds=6),
        }
        for number, (name, layer, component) in enumerate(FILES, 1)
    ]


def default_tables() -> dict[str, Rows]:
    """Give the tables that follow from the events."""
    dead = 2 * 10**10 + 2
    return {
        "clocks": [
            {
                "clock_id": "clock-1",
                "segment": 0,
                "anchor_ts": START,
                "offset_us": 0,
                "drift_ppm": 0.0,
                "lo_us": 0,
                "hi_us": 0,
                "status": "reference",
                "pairs": 0,
                "time_zone_us": 0,
            },
            {
                "clock_id": "clock-2",
                "segment": 0,
                "anchor_ts": START,
                "offset_us": -1_500_000,
                "drift_ppm": 0.0,
                "lo_us": -1_504_000,
                "hi_us": -1_496_000,
                "status": "tied",
                "pairs": 31,
                "time_zone_us": 0,
            },
        ],
        "aliases": [
            {"alias": f"{ID}-0a1b2c3d", "request_id": ID, "reason": "engine suffix"}
        ],
        "attempts": [
            {
                "attempt_id": 10**10 + 1,
                "request_id": ID,
                "attempt": 1,
                "ts_start": START + timedelta(seconds=3),
                "ts_end": START + timedelta(seconds=5.5),
                "status": 502,
                "failed": True,
                "user_id": "u-7",
                "model": "demo-7b",
                "engine": "e-0",
                "forwarded": True,
                "layers_seen": ["harness", "model"],
                "source_id": 1,
            },
            {
                "attempt_id": 10**10 + 2,
                "request_id": "req-fine",
                "attempt": 1,
                "ts_start": START + timedelta(seconds=5),
                "ts_end": START + timedelta(seconds=6),
                "status": 200,
                "failed": False,
                "source_id": 1,
            },
        ],
        "conditions": [
            {
                "condition_id": 1,
                "layer": "model",
                "cause": "model.engine_dead",
                "role": "root",
                "scope_kind": "engine",
                "scope": "e-0",
                "ts_start": START + timedelta(seconds=5.5),
                "because": "the engine reports its own death",
                "evidence": [dead],
            }
        ],
        "findings": [
            {
                "attempt_id": 10**10 + 1,
                "rule": "engine_dead",
                "layer": "model",
                "cause": "model.engine_dead",
                "role": "root",
                "strength": "corroborated",
                "precedence": 20,
                "condition_id": 1,
                "clock_sensitive": False,
                "evidence": [dead, 10**10 + 1],
                "because": "engine e-0 was dead from 14:20:05.500",
            },
            {
                "attempt_id": 10**10 + 1,
                "rule": "bad_gateway",
                "layer": "harness",
                "cause": "harness.upstream_closed",
                "role": "symptom",
                "strength": "inferred",
                "precedence": 80,
                "clock_sensitive": False,
                "evidence": [10**10 + 1],
                "because": "502 after the upstream was reached",
            },
        ],
        "verdicts": [
            {
                "attempt_id": 10**10 + 1,
                "request_id": ID,
                "attempt": 1,
                "layer": "model",
                "cause": "model.engine_dead",
                "strength": "corroborated",
                "rule": "engine_dead",
                "because": "engine e-0 was dead from 14:20:05.500",
                "evidence": [dead, 10**10 + 1],
                "contributing": ["harness.upstream_closed"],
                "cleared": ["quota: balance 0.12 stamped 40 s before"],
                "missing": ["harness: no application log covers 14:20"],
                "clock_sensitive": False,
                "condition_id": 1,
                "incident_id": 1,
            }
        ],
        "incidents": [
            {
                "incident_id": 1,
                "layer": "model",
                "cause": "model.engine_dead",
                "scope": "e-0",
                "ts_start": START + timedelta(seconds=3),
                "ts_end": START + timedelta(seconds=5.5),
                "attempts": 1,
                "users": 1,
                "models": ["demo-7b"],
                "condition_id": 1,
                "condition_ids": [1],
                "requests": 1,
                "retries": 0,
                "some_users": ["u-7"],
                "routes": ["/v1/chat/completions"],
                "ts_trouble": START + timedelta(seconds=5.5),
                "ts_onset": START + timedelta(seconds=5.5),
                "ts_over": START + timedelta(seconds=5.5),
                "ts_error_us": 4000,
                "traffic": 1,
                "share": 1.0,
                "ts_named": START + timedelta(seconds=5.5),
                "named_by": dead,
                "named_s": 0.0,
                "target_s": 300.0,
            }
        ],
    }


def write_tables(writer: CaseWriter, rows: dict[str, Rows]) -> None:
    """Write events and tables into a case under construction."""
    events = rows.pop("events")
    rejects = rows.pop("rejects", [])
    for source in rows["sources"]:
        number = source["source_id"]
        for path, columns, all_rows in (
            (writer.events_path(number), schema.EVENTS_RAW, events),
            (writer.rejects_path(number), schema.REJECTS, rejects),
        ):
            own = [row for row in all_rows if row["source_id"] == number]
            pq.write_table(table(columns, own), path)
    for name, own in rows.items():
        writer.write(name, table(schema.TABLES[name], own))


def written(target: Path, **replaced: Rows) -> Case:
    """Write the small case, with the given tables replaced."""
    rows = {
        "events": default_events(),
        "sources": default_sources(),
        **default_tables(),
        **replaced,
    }
    with CaseWriter(target) as writer:
        write_tables(writer, rows)
        return writer.finish({"command": "invented"})


@pytest.fixture
def build_case(tmp_path: Path) -> Build:
    """Give a function that writes the small case, with the given tables replaced."""

    def build(target: Path | None = None, **replaced: Rows) -> Case:
        return written(target or tmp_path / "case", **replaced)

    return build


@pytest.fixture(scope="session")
def small_case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Give the small case to tests that leave it as it is."""
    return written(tmp_path_factory.mktemp("small") / "case")
