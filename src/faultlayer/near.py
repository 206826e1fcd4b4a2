"""Says how near a line comes to a pattern that does not take it, and what is in the way."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from faultlayer.compile import JsonShape
from faultlayer.formats import Format, Pattern

_TIME_LIMIT = 0.25  # seconds a pattern: a user's own may be slow on a line like this
_END = "the end of the line"


@dataclass(frozen=True, slots=True)
class Miss:
    """A pattern that fails: it takes `taken` characters and then wants `wanted`.

    `sure` is how much of that counts: what whole pieces of the pattern took, and half of
    what a piece took that has no end there. What may hold anything says little.
    """

    format: str
    pattern: str
    taken: int
    wanted: str
    sure: float
    json: bool


def misses(formats: Sequence[Format], line: str) -> list[Miss]:
    """Give the best failing pattern of each format, the nearest format first."""
    found: list[tuple[bool, Miss]] = []
    for one in formats:
        own = list(of_format(one, line))
        if own:
            found.append((one.weak, nearest(own)))
    is_json = line.lstrip().startswith("{")
    found.sort(
        key=lambda one: (
            one[1].json != is_json,
            one[0],
            -one[1].sure,
            -one[1].taken,
            one[1].format,
        )
    )
    return [miss for _, miss in found]


def nearest(misses: Sequence[Miss]) -> Miss:
    """Give the pattern that comes nearest."""
    return max(misses, key=lambda miss: (miss.sure, miss.taken))


def of_format(one: Format, line: str) -> Iterator[Miss]:
    """Give how far each pattern of a format gets that does not take the line."""
    for pattern in one.patterns:
        miss = _miss(pattern, line)
        if miss is not None:
            is_json = pattern.json is not None
            yield Miss(one.name, pattern.name, *miss, json=is_json)


_Stop = tuple[int, str, float]  # taken, wanted, sure


def _miss(pattern: Pattern, line: str) -> _Stop | None:
    if pattern.json is not None:
        found = _json(pattern.json, line)
        return None if found is None else (*found, found[0])
    pieces = list(pattern.pieces())
    first = pattern.hint.first
    if first and not re.match(first, line):
        return 0, pieces[0][0], 0
    return _stop(pieces, line)


def _stop(pieces: Sequence[tuple[str, str]], line: str) -> _Stop | None:
    """Find where a line stops to fit, and the piece that wants something else there."""
    try:
        whole = regex.compile("".join(part for _, part in pieces))
        taken_by_all = whole.fullmatch(line, timeout=_TIME_LIMIT)
        return None if taken_by_all else _place(pieces, line)
    except regex.error:
        return 0, pieces[0][0], 0
    except TimeoutError:
        return 0, f"more time: after {_TIME_LIMIT} s it has come to no end", 0


def _place(pieces: Sequence[tuple[str, str]], line: str) -> _Stop:
    number, taken = _taken(pieces, line)
    if number == len(pieces):
        return taken, _END, taken
    source, part = pieces[number]
    # Pieces before it may have taken less, for this one to take more.
    before = "".join(part for _, part in pieces[: number + 1])
    reach = _fitting(regex.compile(before), line)
    if reach == len(line):
        reach = taken + _fitting(regex.compile(part), line[taken:])
    counts = taken if reach == len(line) else (taken + reach) / 2
    return reach, source, counts


def _taken(pieces: Sequence[tuple[str, str]], line: str) -> tuple[int, int]:
    """Give how many pieces match the line's beginning, and how much of it."""
    low, high, end = 0, len(pieces), 0
    while low < high:
        middle = (low + high + 1) // 2
        part = "".join(part for _, part in pieces[:middle])
        found = regex.match(part, line, timeout=_TIME_LIMIT)
        if found:
            low, end = middle, found.end()
        else:
            high = middle - 1
    return low, end


def _fitting(piece: regex.Pattern[str], rest: str) -> int:
    """Give how much of the rest a match of a piece can begin with."""
    low, high = 0, len(rest)
    while low < high:
        middle = (low + high + 1) // 2
        if piece.fullmatch(rest[:middle], partial=True, timeout=_TIME_LIMIT):
            low = middle
        else:
            high = middle - 1
    return low


def _json(shape: JsonShape, line: str) -> tuple[int, str] | None:
    try:
        whole = json.loads(line)
    except ValueError as error:
        start = len(line) - len(line.lstrip())
        if not line[start:].startswith("{"):
            return 0, "a JSON object"
        return getattr(error, "pos", 0), f"valid JSON: {error}"
    if shape.list_key and isinstance(whole, list):
        return None
    if not isinstance(whole, dict):
        return 0, "a JSON object"
    return next(_lacking(shape, whole), None)


def _lacking(
    shape: JsonShape, whole: Mapping[str, object]
) -> Iterator[tuple[int, str]]:
    lacks = [key for key in shape.require if key not in whole]
    if lacks:
        yield len(shape.require) - len(lacks), f"the keys {', '.join(lacks)}"
    for group in (*shape.any_of, shape.one_of):
        if group and not any(key in whole for key in group):
            yield 0, f"one of the keys {', '.join(group)}"
    refused = [key for key in shape.forbid if key in whole]
    if refused:
        yield 0, f"a line without {', '.join(refused)}"
    for key, values in shape.values.items():
        value = str(whole.get(key))
        if not any(
            value.startswith(one[:-1]) if one.endswith("*") else value == one
            for one in values
        ):
            yield 0, f"{key} to be one of {', '.join(values)}"
