"""Cases that prove conditions and rules: a handful of records, and what must fire."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from faultlayer import database, queries, schema
from faultlayer.classify import Classifier
from faultlayer.errors import DefinitionError, Location
from faultlayer.queries import Query

#: Second 0 of every case.
START = datetime(2026, 6, 15, 12, 0, 0)

#: The logs that a record of a case can stand in: path, layer, component.
LOGS: dict[str, tuple[str, str, str, str]] = {
    "access": ("logs/nginx/access.log", "harness", "nginx", "nginx_access"),
    "edge": ("logs/nginx/error.log", "harness", "nginx", "nginx_error"),
    "app": ("logs/harness/harness.log", "harness", "harness", "harness_app"),
    "engine": ("logs/model/engine-0/model.log", "model", "vllm", "vllm"),
    "engine-1": ("logs/model/engine-1/model.log", "model", "vllm", "vllm"),
    "kernel": ("logs/host/dmesg", "model", "kernel", "dmesg"),
    "ledger": ("logs/quota/ledger.jsonl", "quota", "quota", "quota_ledger"),
    "balance": ("logs/quota/balance.jsonl", "quota", "quota", "quota_balance"),
    "config": ("logs/config/harness.yaml", "harness", "config", "yaml_config"),
}

#: Keys of a record that are not columns: name, log, at and took in seconds,
#: id, error in seconds.
_OWN_KEYS = {"name", "log", "at", "took", "id", "error", "attrs"}

_CASE_KEYS = {"name", "without", "with", "set", "untied", "fires", "finds", "verdicts"}


@dataclass(frozen=True, slots=True)
class RuleCase:
    """One case: records, and the answers, `{request id: "cause strength"}`.

    `fires` is what the rule of the file must find; `finds` (condition files) what
    conditions must come out, "cause scope"; `verdicts` what the verdicts must be.
    """

    subject: str
    path: str
    name: str
    records: tuple[Mapping[str, Any], ...]
    untied: frozenset[str]
    fires: Mapping[str, str] | None
    finds: tuple[str, ...] | None
    verdicts: Mapping[str, str] | None


def load(root: Traversable) -> dict[str, list[RuleCase]]:
    """Read all cases below `cases/`, by the name of the rule or condition they prove.

    Raises DefinitionError with every problem.
    """
    found: dict[str, list[RuleCase]] = {}
    problems: list[str] = []
    for path, entry in _files(root.joinpath("cases"), "queries/cases"):
        subject = entry.name.removesuffix(".toml")
        try:
            found.setdefault(subject, []).extend(_read(subject, path, entry))
        except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
            problems.append(f"{path}: {error}")
    if problems:
        raise DefinitionError(
            "\n".join(problems), hint="queries/README.md describes the cases"
        )
    return found


class Prepared:
    """A case on a connection of its own, correlated and judged."""

    def __init__(self, case: RuleCase, definitions: Traversable) -> None:
        self.case = case
        self.con = database.connect(threads=1)
        _tables(self.con, case)
        classifier = Classifier(self.con, Path(), definitions, None)
        classifier.correlate(in_memory=True)
        classifier.judge()

    def fired(self, statement: str) -> dict[str, str]:
        """Run a rule's statement; gives `{request id: "cause strength"}`."""
        rows = self.con.execute(
            f"""
            SELECT coalesce(failures.request_id, '-'), rule.cause, rule.strength
            FROM ({statement}) AS rule
            INNER JOIN failures ON rule.attempt_id = failures.attempt_id
            ORDER BY 1, 2, 3
            """
        ).fetchall()
        return {row[0]: f"{row[1]} {row[2]}" for row in rows}

    def conditions(self) -> tuple[str, ...]:
        """Give the root conditions as "cause scope"."""
        rows = self.con.execute(
            "SELECT cause, scope FROM conditions WHERE role = 'root' ORDER BY 1, 2"
        ).fetchall()
        return tuple(f"{cause} {scope}" for cause, scope in rows)

    def verdicts(self) -> dict[str, str]:
        """Give the verdicts as `{request id: "cause strength"}`."""
        rows = self.con.execute(
            """
            SELECT coalesce(request_id, '-'), cause, strength
            FROM verdicts
            ORDER BY 1, attempt
            """
        ).fetchall()
        return {row[0]: f"{row[1]} {row[2]}" for row in rows}


def problems(definitions: Traversable) -> Iterator[str]:
    """Say of every rule and condition what its cases or its contract lack."""
    cases = load(definitions)
    rules = queries.load(definitions, "rules")
    conditions = queries.load(definitions, "conditions")
    known = {query.name for query in (*rules, *conditions)}
    for subject in sorted(cases.keys() - known):
        yield f"queries/cases/{subject}.toml: no rule or condition has this name"
    for query in rules:
        mine = [case for case in cases.get(query.name, []) if case.fires is not None]
        if not any(case.fires for case in mine):
            yield f"{query.path}: no case in which it fires"
        if not any(not case.fires for case in mine):
            yield f"{query.path}: no case in which it stays silent"
        for case in mine:
            yield from _wrong(query, case, definitions)
    for query in conditions:
        for case in cases.get(query.name, []):
            prepared = Prepared(case, definitions)
            if case.finds is not None and prepared.conditions() != case.finds:
                yield (
                    f"{case.path}: {case.name}: conditions {prepared.conditions()}"
                    f" instead of {case.finds}"
                )
            yield from _wrong_verdicts(prepared)


def _wrong(query: Query, case: RuleCase, definitions: Traversable) -> Iterator[str]:
    prepared = Prepared(case, definitions)
    described = prepared.con.execute(f"DESCRIBE {query.statement}").fetchall()
    queries.check_columns(query, [(row[0], row[1]) for row in described])
    got = prepared.fired(query.statement)
    if got != case.fires:
        yield f"{case.path}: {case.name}: {query.name} gives {got}, not {case.fires}"
    yield from _wrong_verdicts(prepared)


def _wrong_verdicts(prepared: Prepared) -> Iterator[str]:
    case = prepared.case
    if case.verdicts is not None and prepared.verdicts() != case.verdicts:
        yield (
            f"{case.path}: {case.name}: verdicts {prepared.verdicts()},"
            f" not {case.verdicts}"
        )


def without_conditions(statement: str) -> Iterator[tuple[str, str]]:
    """Give the statement with each part of an AND left out in turn, and that part.

    A lone WHERE is left out as well. Works on DuckDB's own parse tree.
    """
    con = duckdb.connect()
    try:
        text = con.execute("SELECT json_serialize_sql(?)", [statement]).fetchone()
        tree = json.loads(text[0]) if text else {}
        if tree.get("error"):
            raise DefinitionError(str(tree.get("error_message")))
        for holder, key in list(_droppable(tree)):
            part = holder[key]
            restored = holder[:] if isinstance(holder, list) else None
            if isinstance(holder, list):
                del holder[key]
            else:
                holder[key] = None
            row = con.execute(
                "SELECT json_deserialize_sql(?)", [json.dumps(tree)]
            ).fetchone()
            if isinstance(holder, list) and restored is not None:
                holder[:] = restored
            else:
                holder[key] = part
            yield (row[0] if row else ""), json.dumps(part)[:200]
    finally:
        con.close()


def _droppable(node: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, dict):
        where = node.get("where_clause")
        if isinstance(where, dict) and where.get("type") != "CONJUNCTION_AND":
            yield node, "where_clause"
        if node.get("type") == "CONJUNCTION_AND":
            children = node["children"]
            for index in range(len(children)):
                yield children, index
        for value in node.values():
            yield from _droppable(value)
    elif isinstance(node, list):
        for value in node:
            yield from _droppable(value)


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    if folder.is_dir():
        for entry in sorted(folder.iterdir(), key=lambda item: item.name):
            path = f"{prefix}/{entry.name}"
            if entry.is_dir():
                yield from _files(entry, path)
            elif entry.name.endswith(".toml"):
                yield path, entry


def _read(subject: str, path: str, entry: Traversable) -> Iterator[RuleCase]:
    data = tomllib.loads(entry.read_text(encoding="utf-8"))
    shared = {str(record["name"]): record for record in data.get("event", [])}
    for case in data["case"]:
        unknown = case.keys() - _CASE_KEYS
        if unknown:
            raise ValueError(f"{case.get('name')}: unknown keys {sorted(unknown)}")
        records = {**shared}
        for name in case.get("without", []):
            del records[name]
        for name, changes in case.get("set", {}).items():
            records[name] = {**records[name], **changes}
        yield RuleCase(
            subject,
            path,
            case["name"],
            (*records.values(), *case.get("with", [])),
            frozenset(case.get("untied", [])),
            case.get("fires"),
            tuple(case["finds"]) if "finds" in case else None,
            case.get("verdicts"),
        )


def _tables(con: duckdb.DuckDBPyConnection, case: RuleCase) -> None:
    ids = {name: number for number, name in enumerate(LOGS, 1)}
    lines = dict.fromkeys(LOGS, 0)
    rows: list[dict[str, Any]] = []
    for record in case.records:
        log = record["log"]
        if log not in LOGS:
            raise DefinitionError(
                f"{case.name}: no log {log!r}",
                at=Location(case.path),
                hint="one of " + ", ".join(LOGS),
            )
        lines[log] += 1
        rows.append(_row(record, ids[log], lines[log], case))
    names = [column.name for column in database.EVENTS]
    wanted = pa.schema([(column.name, column.type) for column in database.EVENTS])
    events = pa.Table.from_pylist(rows, schema=wanted)
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
    known = {column.name for column in database.EVENTS}
    unknown = record.keys() - known - _OWN_KEYS
    if unknown:
        raise DefinitionError(
            f"{case.name}: no columns {sorted(unknown)}", at=Location(case.path)
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
        "duration_ms": record["took"] * 1000 if "took" in record else None,
        "attrs": json.dumps(record["attrs"]) if "attrs" in record else None,
        **{key: value for key, value in record.items() if key not in _OWN_KEYS},
    }
