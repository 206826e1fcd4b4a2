"""The SQL definitions: one file each, a header of `-- key: value` lines and a SELECT."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Literal

from faultlayer.errors import DefinitionError, Location

Group = Literal["macros", "views", "conditions", "rules", "verdicts", "checks"]

#: Keys that a header may have, and those that it must have.
KEYS: dict[Group, tuple[frozenset[str], frozenset[str]]] = {
    "macros": (frozenset({"title"}), frozenset({"title"})),
    "views": (frozenset({"title", "store", "keep"}), frozenset({"title"})),
    "conditions": (
        frozenset({"title", "layer", "cause", "known gaps"}),
        frozenset({"title", "layer", "cause"}),
    ),
    "rules": (
        frozenset({"title", "layer", "cause", "role", "precedence", "known gaps"}),
        frozenset({"title", "layer", "cause", "role", "precedence", "known gaps"}),
    ),
    "verdicts": (frozenset({"title", "store"}), frozenset({"title"})),
    "checks": (frozenset({"title"}), frozenset({"title"})),
}

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

_HEADER = re.compile(r"--\s*([a-z][a-z ]*?)\s*:\s*(.*)")
_FILE = re.compile(r"(?:(\d+)_)?([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Query:
    """One definition; `order` is the number in front of its file name, or 0."""

    group: Group
    name: str
    order: int
    path: str
    statement: str
    header: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The first header line."""
        return self.header["title"]


def load(root: Traversable, group: Group) -> list[Query]:
    """Read all definitions of a group, in build order.

    Raises DefinitionError that lists every problem, not only the first.
    """
    found: list[Query] = []
    problems: list[str] = []
    for path, entry in _files(root.joinpath(group), f"queries/{group}"):
        query, wrong = _read(group, path, entry)
        problems.extend(wrong)
        found.append(query)
    names = [query.name for query in found]
    problems.extend(
        f"queries/{group}: two definitions are called {name}"
        for name in sorted({name for name in names if names.count(name) > 1})
    )
    if problems:
        raise DefinitionError(
            "\n".join(problems), hint="queries/README.md describes the header"
        )
    return sorted(found, key=lambda query: (query.order, query.path))


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


def _read(group: Group, path: str, entry: Traversable) -> tuple[Query, list[str]]:
    problems: list[str] = []
    text = entry.read_text(encoding="utf-8")
    header: dict[str, str] = {}
    lines = text.splitlines()
    used = 0
    key = ""
    for number, line in enumerate(lines, 1):
        if not line.startswith("--"):
            break
        used = number
        match = _HEADER.fullmatch(line)
        if match and match[1] in KEYS[group][0]:
            key = match[1]
            header[key] = match[2]
        elif match and not key:
            problems.append(f"{path}:{number}: unknown header key {match[1]!r}")
        elif key:
            header[key] += " " + line.removeprefix("--").strip()
    problems.extend(
        f"{path}:1: header lacks {missing}"
        for missing in sorted(KEYS[group][1] - header.keys())
    )
    match = _FILE.fullmatch(entry.name)
    if not match:
        problems.append(f"{path}:1: a file name is [NN_]lower_case_words.sql")
    name = match[2] if match else entry.name
    order = int(match[1] or 0) if match else 0
    statement = "\n".join(lines[used:]).strip().removesuffix(";")
    if not statement:
        problems.append(f"{path}:{used + 1}: no statement")
    return Query(group, name, order, path, statement, header), problems
