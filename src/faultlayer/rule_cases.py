"""Cases that prove conditions and rules: a handful of records, and what must fire."""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable

import duckdb

from faultlayer import queries
from faultlayer.errors import DefinitionError
from faultlayer.queries import Query
from faultlayer.rule_bench import Bench, Prepared
from faultlayer.rule_records import RuleCase

_CASE_KEYS = {"name", "without", "with", "set", "untied", "fires", "finds", "verdicts"}

_HINT = "queries/README.md describes the cases"


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
            cases = read(subject, path, entry.read_text(encoding="utf-8"))
            found.setdefault(subject, []).extend(cases)
        except DefinitionError as error:
            problems.append(str(error))
    if problems:
        raise DefinitionError("\n".join(problems), hint=_HINT)
    return found


def problems(definitions: Traversable) -> Iterator[str]:
    """Say of every rule and condition what its cases or its contract lack."""
    cases = load(definitions)
    known = subjects(definitions)
    bench = Bench(queries.library(definitions))
    yield from strays(cases, known)
    for subject, query in known.items():
        yield from gaps(query, cases.get(subject, []))
        for case in cases.get(subject, []):
            yield from checked(case, query, bench)
    for subject in cases.keys() - known.keys():
        for case in cases[subject]:
            yield from checked(case, None, bench)


def subjects(definitions: Traversable) -> dict[str, Query]:
    """Give the rules and conditions by the names that `load` has for them."""
    rules = queries.load(definitions, "rules")
    conditions = queries.load(definitions, "conditions")
    return {
        **{query.name: query for query in rules},
        **{f"conditions/{query.name}": query for query in conditions},
    }


def strays(
    cases: Mapping[str, list[RuleCase]], known: Mapping[str, Query]
) -> Iterator[str]:
    """Say which case files prove nothing that is there, or lie in another folder."""
    for subject, mine in sorted(cases.items()):
        if subject.startswith("verdicts/"):
            continue
        if subject not in known:
            yield (
                f"{mine[0].path}: no rule or condition is called so;"
                " a case file has the name of what it proves"
            )
        elif known[subject].group == "rules":
            folder = f"queries/cases/{known[subject].path.split('/')[-2]}"
            for path in sorted({case.path for case in mine}):
                if path.rpartition("/")[0] != folder:
                    yield f"{path}: belongs in {folder}"


def checked(case: RuleCase, query: Query | None, bench: Bench) -> Iterator[str]:
    """Say what a case gives that it should not, or why it gives nothing."""
    try:
        prepared = bench.prepared(case)
    except DefinitionError as error:
        yield str(error)
    else:
        yield from wrong(prepared, query)


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
            queries.check_columns(query, prepared.columns(query.statement))
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
        yield from _not_needed(prepared, query)
        if case.verdicts is not None:
            judged = prepared.verdicts()
            if judged != case.verdicts:
                yield (
                    f"{case}: the verdicts must be{_compared(case.verdicts, judged)}"
                    f"\n  decided by\n{prepared.reasons()}"
                )
    except duckdb.Error as error:
        yield f"{case}: {query.path if query else 'queries'}: {error}"
    except DefinitionError as error:
        yield f"{case}: {error}"


def _not_needed(prepared: Prepared, query: Query | None) -> Iterator[str]:
    """Say which tables of its header a query does without, in a case that it answers."""
    if query is None or not (prepared.case.fires or prepared.case.finds):
        return
    for table in query.needs:
        if prepared.without(table, query):
            yield (
                f"{prepared.case}: {query.path} does not need {table}:"
                " it answers when that has no rows"
            )


def _compared(wanted: Mapping[str, str], got: Mapping[str, str]) -> str:
    lines = [
        f"\n    {key} = {wanted.get(key, 'nothing')!r}, not {got.get(key, 'nothing')!r}"
        for key in sorted(wanted.keys() | got.keys())
        if wanted.get(key) != got.get(key)
    ]
    return "".join(lines)


def _numbered(found: tuple[str, ...]) -> dict[str, str]:
    return {str(number): text for number, text in enumerate(found, 1)}


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    if folder.is_dir():
        for entry in sorted(folder.iterdir(), key=lambda item: item.name):
            path = f"{prefix}/{entry.name}"
            if entry.is_dir():
                yield from _files(entry, path)
            elif entry.name.endswith(".toml"):
                yield path, entry


def read(subject: str, path: str, text: str) -> list[RuleCase]:
    """Read the cases of one file; raises DefinitionError."""
    try:
        return list(_read(subject, path, text))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(f"{path}: {error}") from error
    except KeyError as error:
        raise DefinitionError(f"{path}: {error} is missing") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DefinitionError(f"{path}: {error}") from error


def _read(subject: str, path: str, text: str) -> Iterator[RuleCase]:
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
        whole = (*records.values(), *case.get("with", []))
        if not all({"log", "at"} <= record.keys() for record in whole):
            raise ValueError(f"{case['name']}: a record lacks its log or at")
        yield RuleCase(
            subject,
            path,
            lines[number] if number < len(lines) else 1,
            case["name"],
            whole,
            frozenset(case.get("untied", [])),
            case.get("fires"),
            tuple(case["finds"]) if "finds" in case else None,
            case.get("verdicts"),
        )
