"""Says how near a line comes to a format that does not take it, and what is in the way."""

import contextlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import regex

from faultlayer.compile import PatternError, log_regex, tokens
from faultlayer.formats import Format

_TIME_LIMIT = 0.25  # seconds a pattern: a user's own may be slow on a line like this


@dataclass(frozen=True, slots=True)
class Miss:
    """A pattern that fails: it takes `taken` characters and then wants `wanted`."""

    format: str
    pattern: str
    taken: int
    wanted: str
    json: bool


def misses(formats: Sequence[Format], line: str) -> list[Miss]:
    """Give the best failing pattern of each format, the nearest format first."""
    found = []
    for one in formats:
        own = list(_of_format(one, line))
        if own:
            found.append(max(own, key=lambda miss: miss.taken))
    is_json = line.lstrip().startswith("{")
    return sorted(
        found, key=lambda miss: (miss.json != is_json, -miss.taken, miss.format)
    )


def _of_format(one: Format, line: str) -> Iterator[Miss]:
    for number, pattern in enumerate(tomllib.loads(one.text).get("pattern", []), 1):
        name = str(pattern.get("name", number))
        if "json" in pattern:
            miss = _json(pattern["json"], line)
        elif "log_format" in pattern:
            miss = _parts(_log_format_parts(_joined(pattern["log_format"])), line)
        else:
            pieces = pattern["regex"]
            pieces = [pieces] if isinstance(pieces, str) else pieces
            miss = _parts([(piece, piece) for piece in pieces], line)
        if miss is not None:
            yield Miss(one.name, name, *miss, json="json" in pattern)


def _joined(text: str | Sequence[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _log_format_parts(log_format: str) -> list[tuple[str, str]]:
    """Cut a `log_format` into pairs of regex and source text, one a variable."""
    with contextlib.suppress(PatternError):
        found = tokens(log_format)
        ends = [number for number, token in enumerate(found, 1) if token.name]
        ends[-1] = len(found)
        heads = ["".join(token.text for token in found[:end]) for end in (0, *ends)]
        return [
            (log_regex(after)[len(log_regex(before)) if before else 0 :],
             after[len(before):])
            for before, after in pairwise(heads)
        ]  # fmt: skip
    return []


def _parts(parts: Sequence[tuple[str, str]], line: str) -> tuple[int, str] | None:
    """Find how many leading parts match, and where the next one begins."""
    taken = 0
    wanted = parts[0][1] if parts else ""
    for number in range(len(parts), 0, -1):
        end = _matched("".join(part for part, _ in parts[:number]), line)
        if end is not None:
            if number == len(parts):
                return None if end == len(line) else (end, "the end of the line")
            return end, parts[number][1]
    return taken, wanted


def _matched(pattern: str, line: str) -> int | None:
    try:
        match = regex.match(pattern, line, timeout=_TIME_LIMIT)
    except (regex.error, TimeoutError):
        # A prefix may end inside a group.
        return None
    return match.end() if match else None


def _json(  # noqa: PLR0911 - one return a reason
    shape: Mapping[str, Any], line: str
) -> tuple[int, str] | None:
    try:
        whole = json.loads(line)
    except ValueError as error:
        start = len(line) - len(line.lstrip())
        if not line[start:].startswith("{"):
            return 0, "a JSON object"
        return getattr(error, "pos", 0), f"valid JSON: {error}"
    if not isinstance(whole, dict):
        return 0, "a JSON object"
    required = [key for key in shape.get("require", []) if key not in whole]
    if required:
        there = len(shape["require"]) - len(required)
        return there, f"the keys {', '.join(required)}"
    groups = [*shape.get("any_of", []), shape.get("one_of", [])]
    for group in groups:
        if group and not any(key in whole for key in group):
            return 0, f"one of the keys {', '.join(group)}"
    refused = [key for key in shape.get("forbid", []) if key in whole]
    if refused:
        return 0, f"a line without {', '.join(refused)}"
    return None
