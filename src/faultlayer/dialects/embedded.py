"""Finds the configurations that stand as texts in YAML or JSON: ConfigMaps, values."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

_ENTRY: Final = re.compile(
    r"(?P<indent> *)(?:- +)*(?:\"[^\"]*\"|'[^']*'|[^\s\"'#:][^\"'#:]*):[ \t]+"
    r"(?P<value>(?P<block>[|>][-+0-9]*[ \t]*(?:#.*)?$)|\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*')"
)


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts that hold several words, each with the line before it.

    Blocks of YAML lose their indentation, quoted texts their quotes.
    """
    if source.lstrip().startswith(("{", "[")):
        try:
            whole = json.loads(source)
        except ValueError:
            return
        for text in _strings(whole):
            yield 0, text
        return
    lines = source.split("\n")
    passed = 0  # a block is a text, whatever entries it may have
    for number, line in enumerate(lines):
        entry = _ENTRY.match(line) if number >= passed else None
        if entry is None:
            continue
        if entry.group("block") is None:
            yield number, _unquoted(entry.group("value"))
            continue
        inside = list(_below(lines[number + 1 :], len(entry.group("indent"))))
        passed = number + 1 + len(inside)
        least = min((_indent(one) for one in inside if one.strip()), default=0)
        yield number + 1, "\n".join(one[least:] for one in inside)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _below(lines: Sequence[str], indent: int) -> Iterator[str]:
    for line in lines:
        if line.strip() and _indent(line) <= indent:
            return
        yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _unquoted(value: str) -> str:
    if value.startswith("'"):
        return value[1:-1].replace("''", "'")
    try:
        return str(json.loads(value))
    except ValueError:
        return value[1:-1]
