"""Cases that prove conditions and rules: a handful of records, and what must fire."""

import json
import random
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
START = datetime(2026, 6, 15, 12, 0, 0)  # noqa: DTZ001 - cases hold UTC without a zone

#: The logs that a record of a case can stand in: path, layer, component, format.
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
    "edge-b": ("logs/nginx-b/error.log", "harness", "nginx", "nginx_error"),
    "app-b": ("logs/harness-b/harness.log", "harness", "harness", "harness_app"),
}

#: Which engine writes a log, where its records do not say otherwise.
ENGINES = {"engine": "engine-0", "engine-1": "engine-1"}

#: Keys of a record that are not columns: name, log, at and took in seconds,
#: id, error in seconds.
_OWN_KEYS = {"name", "log", "at", "took", "id", "error", "attrs"}

_CASE_KEYS = {"name", "without", "with", "set", "untied", "fires", "finds", "verdicts"}

_HINT = "queries/README.md describes the cases"


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


def load(root: Traversable) -> dict[str, list[RuleCase]]:
    """Read all cases below `cases/`, by what they prove.

    That is the name of a rule, `conditions/NAME`, or `verdicts/NAME` for cases about
    which of several findings decides. Raises DefinitionError with every problem.
    """
    found: dict[str, list[RuleCase]] = {}
    problems: list[str] = []
    for path, entry in _files(root.joinpath("cases"), "queries/cases"):
        folder, subject = path.removesuffix(".toml").split("/")[-2:]
        if folder in {"conditions", "verdicts"}:
            subject = f"{folder}/{subject}"
        try:
            found.setdefault(subject, []).extend(_read(subject, path, entry))
        except tomllib.TOMLDecodeError as error:
            problems.append(f"{path}: {error}")
        except KeyError as error:
            problems.append(f"{path}: {error} is missing")
        except (TypeError, ValueError, AttributeError) as error:
            problems.append(f"{path}: {error}")
    if problems:
        raise DefinitionError("\n".join(problems), hint=_HINT)
    return found


class _Stages(Classifier):
    """A classifier that can stop after the conditions: most cases ask no further."""

    def find_conditions(self) -> None:
        self._find_conditions()


class Prepared:
    """A case on a connection of its own, correlated; judged when verdicts are asked.

    With a `seed` the records are in another order. Raises DefinitionError for records
    that no table can hold, duckdb.Error for a view or condition that does not run.
    """

    def __init__(
        self, case: RuleCase, definitions: Traversable, *, seed: int | None = None
    ) -> None:
        self.case = case
        self.con = database.connect(threads=1)
        _tables(self.con, case, seed)
        self._stages = _Stages(self.con, Path(), definitions, None)
        self._stages.correlate(in_memory=True)
        self._stages.find_conditions()
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
        for name in ("attempts", "conditions", "findings", "verdicts", "incidents"):
            got = self.con.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall()
            found.extend((name, *row) for row in got)
        return found

    def _judge(self) -> None:
        if not self._judged:
            self.con.execute("DROP TABLE conditions")  # found anew, from the start
            self._stages.judge()
            self._judged = True

    def _answers(self, relation: str) -> dict[str, str]:
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


def problems(definitions: Traversable) -> Iterator[str]:
    """Say of every rule and condition what its cases or its contract lack."""
    cases = load(definitions)
    subjects = {
        **{query.name: query for query in queries.load(definitions, "rules")},
        **{
            f"conditions/{query.name}": query
            for query in queries.load(definitions, "conditions")
        },
    }
    for subject in sorted(cases.keys() - subjects.keys()):
        if not subject.startswith("verdicts/"):
            yield (
                f"{cases[subject][0].path}: no rule or condition is called so;"
                " a case file has the name of what it proves"
            )
    for subject, query in subjects.items():
        yield from gaps(query, cases.get(subject, []))
    for subject, mine in cases.items():
        for case in mine:
            try:
                prepared = Prepared(case, definitions)
            except (duckdb.Error, DefinitionError) as error:
                yield f"{case}: cannot be run: {error}"
            else:
                yield from wrong(prepared, subjects.get(subject))


def gaps(query: Query, cases: list[RuleCase]) -> Iterator[str]:
    """Say which kinds of cases a rule or condition lacks."""
    answers = [
        case.fires if query.group == "rules" else case.finds
        for case in cases
        if (case.fires if query.group == "rules" else case.finds) is not None
    ]
    word = "fires" if query.group == "rules" else "finds"
    if not any(answers):
        yield f"{query.path}: no case in which it {word} something; {_HINT}"
    if all(answers):
        yield f"{query.path}: no case in which it {word} nothing; {_HINT}"


def wrong(prepared: Prepared, query: Query | None) -> Iterator[str]:
    """Say what a case gives that it should not, with the reasons that were found."""
    case = prepared.case
    try:
        if query is not None:
            described = prepared.con.execute(f"DESCRIBE {query.statement}").fetchall()
            queries.check_columns(query, [(row[0], row[1]) for row in described])
        if query is not None and case.fires is not None:
            got = prepared.fired(query.statement)
            if got != case.fires:
                yield f"{case}: {query.path} must fire{_compared(case.fires, got)}"
        if query is not None and case.finds is not None:
            found = prepared.found(query.statement)
            if found != case.finds:
                yield (
                    f"{case}: {query.path} must find"
                    f"{_compared(_numbered(case.finds), _numbered(found))}"
                )
        if case.verdicts is not None:
            judged = prepared.verdicts()
            if judged != case.verdicts:
                yield (
                    f"{case}: the verdicts must be{_compared(case.verdicts, judged)}"
                    f"\n  decided by\n{prepared.reasons()}"
                )
    except (duckdb.Error, DefinitionError) as error:
        yield f"{case}: {query.path if query else 'verdicts'}: {error}"


def _compared(wanted: Mapping[str, str], got: Mapping[str, str]) -> str:
    lines = [
        f"\n    {key} = {wanted.get(key, 'nothing')!r}, not {got.get(key, 'nothing')!r}"
        for key in sorted(wanted.keys() | got.keys())
        if wanted.get(key) != got.get(key)
    ]
    return "".join(lines)


def _numbered(found: tuple[str, ...]) -> dict[str, str]:
    return {str(number): text for number, text in enumerate(found, 1)}


def _seconds(moment: datetime | None) -> str:
    return "" if moment is None else f"{(moment - START).total_seconds():.6g}"


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    if folder.is_dir():
        for entry in sorted(folder.iterdir(), key=lambda item: item.name):
            path = f"{prefix}/{entry.name}"
            if entry.is_dir():
                yield from _files(entry, path)
            elif entry.name.endswith(".toml"):
                yield path, entry


def _read(subject: str, path: str, entry: Traversable) -> Iterator[RuleCase]:
    text = entry.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    lines = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() == "[[case]]"
    ]
    shared = {str(record["name"]): record for record in data.get("event", [])}
    for number, case in enumerate(data["case"]):
        unknown = case.keys() - _CASE_KEYS
        if unknown:
            raise ValueError(f"{case.get('name')}: unknown keys {sorted(unknown)}")
        if not case.keys() & {"fires", "finds", "verdicts"}:
            raise ValueError(f"{case.get('name')}: expects nothing")
        strange = {*case.get("without", []), *case.get("set", {})} - shared.keys()
        if strange:
            raise ValueError(f"{case['name']}: no shared records {sorted(strange)}")
        records = {**shared}
        for name, changes in case.get("set", {}).items():
            records[name] = {**records[name], **changes}
        for name in case.get("without", []):
            del records[name]
        yield RuleCase(
            subject,
            path,
            lines[number] if number < len(lines) else 1,
            case["name"],
            (*records.values(), *case.get("with", [])),
            frozenset(case.get("untied", [])),
            case.get("fires"),
            tuple(case["finds"]) if "finds" in case else None,
            case.get("verdicts"),
        )


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
