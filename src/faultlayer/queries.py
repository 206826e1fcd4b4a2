"""The SQL definitions: one file each, a header of `-- key: value` lines and a SELECT."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from faultlayer.errors import DefinitionError, Location, UsageError

Group = Literal[
    "macros",
    "views",
    "conditions",
    "rules",
    "verdicts",
    "checks",
    "tables",
    "functions",
    "investigations",
    "diffs",
    "report",
]

_RULE = frozenset({"title", "layer", "cause", "role", "precedence", "known gaps"})

#: Keys that a header may have, and those that it must have.
KEYS: dict[Group, tuple[frozenset[str], frozenset[str]]] = {
    "macros": (frozenset({"title"}), frozenset({"title"})),
    "views": (frozenset({"title", "store", "keep"}), frozenset({"title"})),
    "conditions": (
        frozenset({"title", "layer", "cause", "known gaps", "needs", "replaces"}),
        frozenset({"title", "layer", "cause"}),
    ),
    "rules": (
        _RULE | {"needs", "replaces"},
        _RULE,
    ),
    "verdicts": (frozenset({"title", "store"}), frozenset({"title"})),
    "checks": (frozenset({"title"}), frozenset({"title"})),
    "tables": (frozenset({"title"}), frozenset({"title"})),
    "functions": (frozenset({"title", "param", "column"}), frozenset({"title"})),
    "diffs": (frozenset({"title"}), frozenset({"title"})),
    "report": (frozenset({"title", "title zh"}), frozenset({"title"})),
    "investigations": (
        frozenset({"title", "title zh", "topic", "answers", "param", "column"}),
        frozenset({"title"}),
    ),
}

#: Keys that a header may have several times, each with a name: `-- param top: ...`.
_NAMED = {"param", "column"}

#: What a condition and a rule must return: name and type as DuckDB prints it.
CONTRACT: dict[str, tuple[tuple[str, str], ...]] = {
    "conditions": (
        ("cause", "VARCHAR"),
        ("role", "VARCHAR"),
        ("scope_kind", "VARCHAR"),
        ("scope", "VARCHAR"),
        ("ts_start", "TIMESTAMP"),
        ("ts_end", "TIMESTAMP"),
        ("ts_error_us", "BIGINT"),
        ("clock_status", "VARCHAR"),
        ("because", "VARCHAR"),
        ("evidence", "BIGINT[]"),
    ),
    "rules": (
        ("attempt_id", "BIGINT"),
        ("cause", "VARCHAR"),
        ("strength", "VARCHAR"),
        ("ts", "TIMESTAMP"),
        ("condition_id", "BIGINT"),
        ("clock_sensitive", "BOOLEAN"),
        ("evidence", "BIGINT[]"),
        ("because", "VARCHAR"),
    ),
}

_HEADER = re.compile(r"--\s*([a-z][a-z ]*?|[a-z]+ [a-z_][a-z0-9_]*)\s*:\s*(.*)")
_FILE = re.compile(r"(?:(\d+)_)?([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Query:
    """One definition; `order` is the number in front of its file name, or 0.

    `line` is where the statement begins in its file.
    """

    group: Group
    name: str
    order: int
    path: str
    statement: str
    header: dict[str, str] = field(default_factory=dict)
    line: int = 1

    @property
    def title(self) -> str:
        """The first header line."""
        return self.header["title"]

    @property
    def needs(self) -> tuple[str, ...]:
        """The tables of which each must have a row, or there is nothing to find."""
        return tuple(self.header.get("needs", "").replace(",", " ").split())


@dataclass(frozen=True, slots=True)
class Library:
    """The definitions that lead from events to verdicts, each group in build order."""

    macros: tuple[Query, ...]
    views: tuple[Query, ...]
    conditions: tuple[Query, ...]
    rules: tuple[Query, ...]
    verdicts: tuple[Query, ...]

    def with_own(self, own: Sequence[Query]) -> "Library":
        """Put a user's conditions and rules behind those that are here."""
        return replace(
            self,
            conditions=_among(self.conditions, own, "conditions"),
            rules=_among(self.rules, own, "rules"),
        )


def library(root: Traversable) -> Library:
    """Load the definitions below a folder; raises DefinitionError as `load` does."""
    return Library(
        macros=tuple(load(root, "macros")),
        views=tuple(load(root, "views")),
        conditions=tuple(load(root, "conditions")),
        rules=tuple(load(root, "rules")),
        verdicts=tuple(load(root, "verdicts")),
    )


def load(root: Traversable, group: Group) -> list[Query]:
    """Read all definitions of a group, in build order.

    Raises DefinitionError that lists every problem, not only the first.
    """
    place = f"queries/{group}"
    return _loaded(_files(root.joinpath(group), place), group, place)


def load_own(place: Path, group: Group) -> list[Query]:
    """Read the definitions of a user: a folder of them, or one file.

    Raises UsageError when there is no such thing, DefinitionError as `load` does.
    """
    if place.is_dir():
        files: list[tuple[str, Traversable]] = _files(place, str(place))
    elif place.is_file():
        files = [(str(place), place)]
    else:
        raise UsageError(f"{place} is no folder and no file")
    if not files:
        raise UsageError(f"{place} holds no file that ends in .sql")
    return _loaded(files, group, str(place))


def _loaded(
    files: list[tuple[str, Traversable]], group: Group, place: str
) -> list[Query]:
    found: list[Query] = []
    problems: list[str] = []
    for path, entry in files:
        try:
            query, wrong = read(
                group, path, entry.name, entry.read_text(encoding="utf-8")
            )
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"{path}: cannot be read: {error}")
            continue
        problems.extend(wrong)
        found.append(query)
    names = [query.name for query in found]
    problems.extend(
        f"{place}: two definitions are called {name}"
        for name in sorted({name for name in names if names.count(name) > 1})
    )
    if problems:
        raise DefinitionError(
            "\n".join(problems), hint="queries/README.md describes the header"
        )
    return sorted(found, key=lambda query: (query.order, query.path))


@functools.cache
def words(statement: str) -> frozenset[str]:
    """Give every word of a statement; the views that it reads are among them."""
    return frozenset(re.findall(r"\w+", statement))


def check_columns(query: Query, described: Iterable[tuple[str, str]]) -> None:
    """Demand that a condition or rule returns exactly the columns of its contract."""
    wanted = CONTRACT[query.group]
    got = tuple(described)
    if got != wanted:
        raise DefinitionError(
            f"returns {_row(got)} instead of {_row(wanted)}",
            at=Location(query.path),
            hint="select exactly these columns, in this order, with casts if needed",
        )


def _row(columns: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns)


def _files(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    if not folder.is_dir():
        return found
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        path = f"{prefix}/{entry.name}"
        if entry.is_dir():
            found.extend(_files(entry, path))
        elif entry.name.endswith(".sql"):
            found.append((path, entry))
    return found


def read(group: Group, path: str, file: str, text: str) -> tuple[Query, list[str]]:
    """Read one definition: `path` is what messages call it, `file` its file name.

    Gives it with all that is wrong with it, `path:line: what`.
    """
    problems: list[str] = []
    header: dict[str, str] = {}
    lines = text.splitlines()
    used = 0
    key = ""
    for number, line in enumerate(lines, 1):
        if not line.startswith("--"):
            break
        used = number
        match = _HEADER.fullmatch(line)
        if match and _is_key(match[1], group):
            key = match[1]
            if key in header:
                problems.append(f"{path}:{number}: {key} is there twice")
            header[key] = match[2]
        elif match and not key:
            problems.append(f"{path}:{number}: unknown header key {match[1]!r}")
        elif key:
            header[key] += " " + line.removeprefix("--").strip()
    problems.extend(
        f"{path}:1: header lacks {missing}"
        for missing in sorted(KEYS[group][1] - header.keys())
    )
    match = _FILE.fullmatch(file)
    if not match:
        problems.append(f"{path}:1: a file name is [NN_]lower_case_words.sql")
    name = match[2] if match else file
    order = int(match[1] or 0) if match else 0
    while used < len(lines) and not lines[used].strip():
        used += 1
    statement = "\n".join(lines[used:]).strip().removesuffix(";")
    if not statement:
        problems.append(f"{path}:{used + 1}: no statement")
    return Query(group, name, order, path, statement, header, used + 1), problems


def _is_key(key: str, group: Group) -> bool:
    word, _, name = key.partition(" ")
    if word in _NAMED:
        return word in KEYS[group][0] and bool(name)
    return key in KEYS[group][0]


def _among(
    builtin: Iterable[Query], own: Iterable[Query], group: Group
) -> tuple[Query, ...]:
    """Put a user's definitions of one group last; what they replace is left out."""
    mine = [query for query in own if query.group == group]
    gone = {query.header.get("replaces") for query in mine}
    kept = (query for query in builtin if query.name not in gone)
    return (*kept, *sorted(mine, key=lambda query: (query.order, query.path)))
