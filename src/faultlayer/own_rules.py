"""A user's own rules and conditions from a folder: read, checked, proved by their cases."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import duckdb

from faultlayer import assets, queries, reading_only, rule_cases, stated, wording
from faultlayer.errors import DefinitionError, Location, SourceError
from faultlayer.queries import Group, Query
from faultlayer.rule_bench import Bench
from faultlayer.rule_records import RuleCase

_ROLE: Final = re.compile(r"(?m)^--\s*(?:role|precedence)\s*:")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_LINE: Final = re.compile(r"\bLINE (\d+):")


@dataclass(slots=True)
class Own:
    """Rules and conditions with their cases; `hashes` and `texts` of all their files."""

    folder: Path
    queries: list[Query] = field(default_factory=list)
    cases: dict[str, list[RuleCase]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    @property
    def replaced(self) -> list[str]:
        """Give the names of the built-in ones whose place these take."""
        return sorted({q.header["replaces"] for q in self.queries if _replaces(q)})


def _replaces(query: Query) -> bool:
    return "replaces" in query.header


def read(path: Path) -> Own:
    """Read a file, or all `.sql` of a folder, each with the `.toml` of its name.

    What has a role and a precedence is a rule, the rest are conditions. What is wrong
    with them stands in `problems`. Raises `SourceError` for what cannot be read at all.
    """
    files = sorted(path.rglob("*.sql")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise SourceError(
            f"{path} holds no rule", hint="a rule is a .sql file with a .toml of cases"
        )
    own = Own(path)
    subjects = {}
    for file in files:
        text = _text(own, file)
        group: Group = "rules" if _ROLE.search(text) else "conditions"
        query, wrong = queries.read(group, file.as_posix(), file.name, text)
        own.problems += wrong
        own.queries.append(query)
        own.texts.append(text)
        subject = query.name if group == "rules" else f"conditions/{query.name}"
        subjects[file.with_suffix("").as_posix()] = subject
    cases = (
        sorted(path.rglob("*.toml")) if path.is_dir() else [path.with_suffix(".toml")]
    )
    for file in cases:
        if not file.is_file():
            continue
        name = file.with_suffix("").as_posix()
        subject = subjects.get(name) or f"verdicts/{file.stem}"
        try:
            found = rule_cases.read(subject, file.as_posix(), _text(own, file))
        except DefinitionError as error:
            own.problems.append(str(error))
            continue
        own.cases[subject] = found
        if name not in subjects and any(case.verdicts is None for case in found):
            own.problems.append(
                f"{file.as_posix()}:1: no {file.stem}.sql lies beside it"
            )
    return own


def _text(own: Own, file: Path) -> str:
    try:
        raw = file.read_bytes()
        text = raw.decode("utf-8")
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{file} is no text: {error}") from error
    own.hashes[file.as_posix()] = hashlib.sha256(raw).hexdigest()
    return text


def problems_of(own: Own) -> list[str]:
    """Give all that is wrong with a user's rules: `file:line: what`, in that order."""
    found = list(own.problems)
    found += _headers(own)
    if found:
        return found
    for query in own.queries:
        found += (
            f"{query.path}:{query.line}: {problem}"
            for problem in reading_only.problems(query.statement)
        )
    return found or list(_proved(own))


def prove(own: Own) -> None:
    """Raise `DefinitionError` with everything that is wrong, when something is."""
    found = problems_of(own)
    if found:
        text = "\n".join(found)
        raise DefinitionError(
            f"{wording.count(len(found), 'problem')} in the rules of {own.folder}\n{text}",
            hint=f"faultlayer rules test {own.folder}",
        )


def _headers(own: Own) -> Iterator[str]:
    root = assets.builtin("queries")
    known = {group: queries.load(root, group) for group in _GROUPS}
    names: dict[tuple[str, str], str] = {}
    taken = {
        int(rule.header["precedence"]): rule.name
        for rule in known["rules"]
        if rule.name not in own.replaced
    }
    for query in own.queries:
        at = f"{query.path}:1"
        header = query.header
        there = {one.name for one in known[query.group]}
        replaced = header.get("replaces")
        if replaced is not None and replaced not in there:
            yield f"{at}: replaces {replaced!r}, and no built-in one is called so"
        if query.name in there and replaced != query.name:
            yield (
                f"{at}: a built-in one is called {query.name};"
                f" name yours otherwise, or say: -- replaces: {query.name}"
            )
        other = names.setdefault((query.group, query.name), query.path)
        if other != query.path:
            yield f"{at}: {other} has the same name"
        yield from (f"{at}: {text}" for text in _words(header))
        if query.group == "rules" and header.get("precedence", "").isdigit():
            number = int(header["precedence"])
            if number in taken:
                free = next(n for n in range(number + 1, 10**6) if n not in taken)
                yield (
                    f"{at}: {taken[number]} has precedence {number};"
                    f" the next that is free is {free}"
                )
            taken.setdefault(number, query.name)


_GROUPS: Final[tuple[Group, ...]] = ("rules", "conditions")


def _words(header: Mapping[str, str]) -> Iterator[str]:
    layer, cause = header.get("layer", ""), header.get("cause", "")
    if layer and layer not in stated.LAYERS:
        yield f"no layer is called {layer!r}: one of {', '.join(stated.LAYERS)}"
    head, _, name = cause.partition(".")
    if cause and (head not in stated.LAYERS or not _NAME.fullmatch(name)):
        yield f"cause {cause!r} is none: a layer, a dot, lower_case_words"
    elif cause and layer in stated.LAYERS and head != layer:
        yield f"cause {cause} is not of the layer {layer}"
    if header.get("role", "root") not in {"root", "symptom"}:
        yield f"role {header['role']!r} is none: root or symptom"
    if not header.get("precedence", "1").isdigit():
        yield f"precedence {header['precedence']!r} is no whole number"


def _proved(own: Own) -> Iterator[str]:
    library = queries.library(assets.builtin("queries"))
    bench = Bench(library.with_own(own.queries))
    for query in own.queries:
        rule = query.group == "rules"
        cases = own.cases.get(query.name if rule else f"conditions/{query.name}", [])
        yield from rule_cases.gaps(query, cases)
        first = RuleCase(query.name, query.path, 1, "none")
        wrong = _runs(bench, query, first)
        if wrong:
            yield wrong
            continue
        for case in cases:
            yield from rule_cases.checked(case, query, bench)
    for subject, cases in own.cases.items():
        if subject.startswith("verdicts/"):
            for case in cases:
                yield from rule_cases.checked(case, None, bench)


def _runs(bench: Bench, query: Query, case: RuleCase) -> str:
    """Say why a statement does not run, or that it returns other columns."""
    try:
        prepared = bench.prepared(case)
        queries.check_columns(query, prepared.columns(query.statement))
    except duckdb.Error as error:
        found = _LINE.search(str(error))
        line = query.line + (int(found[1]) - 1 if found else 0)
        return f"{Location(query.path, line)}: {error}"
    except DefinitionError as error:
        at = Location(query.path, query.line)
        return f"{at}: {error.message}"
    return ""
