"""What a person who wrote a wrong name into a statement may have meant."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from faultlayer import lexicon, statements, wording

_CLOSE: Final = 3
_ENOUGH: Final = 0.6
_SHOWN: Final = 5


def hint(message: str, statement: str) -> str:
    """Give a next step for what DuckDB says of a statement, or an empty text."""
    read = statements.tables(statement, lexicon.tables())
    for pattern, say in _KINDS.items():
        if found := pattern.search(message):
            name = next(group for group in found.groups() if group)
            bare = name.strip("\"'!").rpartition(".")[2].lower()
            return say(bare, statement, read)
    return ""


def _of_table(name: str, _statement: str, _read: Mapping[str, str]) -> str:
    close = _close(name, lexicon.tables()) or _with_column(name)
    return f"perhaps {close}" if close else "SHOW TABLES lists the tables"


def _of_column(name: str, statement: str, read: Mapping[str, str]) -> str:
    known = lexicon.tables()
    tables = list(dict.fromkeys(read.values()))
    quoted = rf'(?:=|<>|!=|[(,]|\blike)\s*"{re.escape(name)}"'
    if re.search(quoted, statement, re.IGNORECASE):
        return f"a text stands in single quotes: '{name}'"
    own = [column for table in tables for column in known[table].columns]
    if close := _close(name, own):
        return f"perhaps {close}"
    if other := _with_column(name):
        return f"{name} is a column of {other}"
    return f"DESCRIBE {tables[0]} lists its columns" if tables else ""


def _without_from(name: str, _statement: str, _read: Mapping[str, str]) -> str:
    other = _with_column(name)
    return f"{name} is a column of {other}" if other else "add FROM and a table"


def _of_function(name: str, _statement: str, _read: Mapping[str, str]) -> str:
    tables = lexicon.tables().values()
    close = _close(name, [one.name for one in tables if one.is_function])
    return f"perhaps {close}" if close else ""


def _as_value(name: str, _statement: str, _read: Mapping[str, str]) -> str:
    one = lexicon.tables().get(name)
    return f"it gives a table: write FROM {one.call}" if one else ""


def _of_alias(name: str, _statement: str, read: Mapping[str, str]) -> str:
    if name in lexicon.tables() and not read:
        return f"the statement lacks FROM {name}"
    if close := _close(name, read):
        return f"perhaps {close}"
    return f"the statement reads {', '.join(read)}" if read else ""


def _of_moment(_name: str, _statement: str, read: Mapping[str, str]) -> str:
    if "around" not in read.values():
        return ""
    return "a moment is '2026-11-30 14:20:05' or '14:20:05', a span '10s' or '2m'"


_KINDS: Final[
    Mapping[re.Pattern[str], Callable[[str, str, Mapping[str, str]], str]]
] = {
    re.compile(pattern): say
    for pattern, say in (
        (r"Table with name (\S+) does not exist", _of_table),
        (r'"([^"]+)" was not found because the FROM clause is miss', _without_from),
        (r'column "([^"]+)" not found|have a column named "([^"]+)"', _of_column),
        (r"Table Function with name (\S+) does not exist", _of_function),
        (r'Function "([^"]+)" is a table function', _as_value),
        (r'Referenced table "([^"]+)" not found', _of_alias),
        (r"^(Conversion) Error", _of_moment),
    )
}


def _close(name: str, names: Iterable[str]) -> str:
    """Give the nearest names: misspelled ones, then such that hold it as a word."""
    known = list(dict.fromkeys(names))
    close = difflib.get_close_matches(name, known, _CLOSE, _ENOUGH)
    close += [one for one in known if name in one.split("_") and one not in close]
    return ", ".join(close[:_CLOSE])


def _with_column(name: str) -> str:
    tables = lexicon.tables().values()
    found = [one.name for one in tables if name in one.columns]
    return wording.listed(found, _SHOWN)
