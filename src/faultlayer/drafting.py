"""Drafts a format file from what people have: a configured notation, or lines of a log."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from faultlayer import draft_text, formats, guess, invented, prove
from faultlayer.definitions import Reader
from faultlayer.detect import Definitions
from faultlayer.draft_text import Draft, Head, Shape
from faultlayer.errors import DefinitionError
from faultlayer.formats import Field, Format
from faultlayer.take import take

_WIDE: Final = 78  # characters of an attribute that is shown
_SAMPLES: Final = 3  # lines of the log that become samples of one pattern
_TRIES: Final = 40  # lines that are looked at for them
_LONGEST: Final = 1200  # characters of a sample
_ROUNDS: Final = 8  # each finds some of the formats that take a sample too
_TAKEN: Final = re.compile(
    r"^(?P<one>[\w:.-]+) takes this sample too|samples of (?P<more>.*?)(?: and \d+ further.*)?$"
)
# Of an event, what stands in `expect`, in this order.
_EXPECTED: Final = (
    "kind", "severity", "ts_raw", "request_id", "status", "duration_ms",
    "upstream_connect_ms", "upstream_header_ms", "upstream_response_ms",
    "upstream_hops", "forwarded", "upstream_addr", "client", "bytes_sent", "user_id",
    "project_id", "tenant_id", "model", "quota_amount", "user_agent", "message",
)  # fmt: skip
_IDS: Final = ("request_id", "user_id", "project_id", "tenant_id")
# Fields whose values are of a person or a place, whatever their shape.
_PRIVATE: Final = re.compile(
    r"(?:^|_)(?:user|remote_user|logname|authority|host|hostname|server_name|referer"
    r"|authorization|cookie|forwarded_for|email)$"
)


def draft(
    head: Head, shapes: Sequence[Shape], lines: Sequence[str], definitions: Definitions
) -> tuple[str, list[DefinitionError]]:
    """Give a format file, and what it is not proved for.

    Samples are lines of the log that a pattern takes, else examples of its notation.
    Raises `DefinitionError` for a notation that cannot be read.
    """
    work = Draft(head, shapes)
    work.samples = [(one.name, one.example or _first(lines)) for one in shapes]
    format_ = _read(work)
    work.samples = list(_samples(format_, shapes, lines))
    shown = {name for name, _ in work.samples}
    # What the patterns before it take leaves a guessed one without any line.
    work.shapes = [one for one in shapes if one.name in shown]
    format_ = _read(work)
    work.rejects = [one for one in _look_alikes(format_) if one][:1]
    format_ = _read(work)
    problems: list[DefinitionError] = []
    for _ in range(_ROUNDS):
        whole = _among(definitions, format_)
        work.expects = [_expected(format_, record, whole) for _, record in work.samples]
        format_ = _read(work)
        whole = _among(definitions, format_)
        problems = prove.problems_of(format_, whole, own=True)
        known = {name for problem in problems for name in _rivals(problem.message)}
        if not known - set(work.shares):
            break
        work.shares = sorted({*work.shares, *known})
        format_ = _read(work)
    return draft_text.text(work), problems


def _first(lines: Sequence[str]) -> str:
    return next(guess.records(lines), "-")


def _among(definitions: Definitions, format_: Format) -> Definitions:
    rest = [one for one in definitions.formats if one.name != format_.name]
    return replace(definitions, formats=(*rest, format_))


def _rivals(message: str) -> Iterator[str]:
    found = _TAKEN.search(message)
    if found and found.group("one"):
        yield found.group("one")
    elif found and found.group("more"):
        yield from re.findall(r"([\w.-]+) \([^)]*\)", found.group("more"))


def _read(work: Draft) -> Format:
    path = f"{work.head.name}.toml"
    loaded, problems = formats.read_all(Reader(path, draft_text.text(work)), "host")
    if loaded is None:
        raise problems[0]
    return loaded


# ---------------------------------------------------------------- samples


def _samples(
    format_: Format, shapes: Sequence[Shape], lines: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Choose lines of each pattern that differ, and put invented values into them."""
    text = pl.Series([one for one in lines if len(one) <= _LONGEST], dtype=pl.String)
    left = text
    for shape, pattern in zip(shapes, format_.patterns, strict=True):
        chosen: list[str] = []
        if len(left):
            hits, rest = take(left, [(format_, [pattern])])
            taken = left.filter(~pl.int_range(len(left), eager=True).is_in(rest))
            left = left.gather(rest)
            for hit in hits:
                for row in _different(hit.fields):
                    line = _private(format_, hit.fields, row, taken[row])
                    chosen += _sound(format_, shape.name, invented.line(line))
        seen = list(dict.fromkeys(chosen))[:_SAMPLES]
        if not seen and shape.example:
            seen = [shape.example]
        yield from ((shape.name, line) for line in seen)


def _different(fields: pl.DataFrame) -> list[int]:
    """Give rows that differ in status, level and in which fields have a value."""
    rows: dict[object, int] = {}
    for row, values in enumerate(fields.head(2000).iter_rows(named=True)):
        kind = (
            str(values.get("status", ""))[:1],
            str(values.get("level", "")).upper(),
            tuple(name for name, value in values.items() if value in {None, "-", ""}),
        )
        rows.setdefault(kind, row)
    return sorted(rows.values())[:_TRIES]


def _private(format_: Format, fields: pl.DataFrame, row: int, line: str) -> str:
    """Put other values in the place of ids, and of the names of people and hosts."""
    named = {
        source
        for column in _IDS
        for source in format_.fields.get(column, Field(())).sources
    }
    for name, value in fields.row(row, named=True).items():
        text = str(value or "")
        if not (name in named or name in _IDS or _PRIVATE.search(name)):
            continue
        if len(text) > 1 and text.strip("-") and line.count(text) == 1:
            # Of a certain field, and only there: the same word may stand elsewhere.
            line = line.replace(text, invented.shaped(text, 1))
    return line


def _sound(format_: Format, name: str, line: str) -> list[str]:
    """Give a line if the pattern still takes it."""
    hits, _ = take(pl.Series([line]), [(format_, format_.patterns)])
    return [line] if hits and hits[0].pattern.name == name else []


def _look_alikes(format_: Format) -> Iterator[str]:
    """Give lines that resemble the first sample, and that no pattern takes."""
    line = format_.samples[0].line.split("\n", maxsplit=1)[0]
    body = line.removeprefix("{")
    for candidate in (
        line[: len(line) * 2 // 3],
        line[: len(line) // 2],
        line[: len(line) // 4],
        f'{{"other": 1, {body}' if body != line else f"-- {line}",
        '{"level": "info", "text": "another object"}',
        f"# {line}",
    ):
        hits, _ = take(pl.Series([candidate]), [(format_, format_.patterns)])
        if not hits and candidate.strip():
            yield candidate


def _expected(
    format_: Format, record: str, definitions: Definitions
) -> Mapping[str, Any]:
    found = prove.events(record, format_, definitions)
    if len(found) != 1:
        return {}
    event = found.row(0, named=True)
    expected = {
        name: event[name]
        for name in _EXPECTED
        if event.get(name) is not None and event[name] != "other"
    }
    attrs = json.loads(event.get("attrs") or "{}")
    plain = {
        key: value
        for key, value in attrs.items()
        if isinstance(value, str) and len(value) < _WIDE
    }
    if plain:
        expected["attrs"] = dict(sorted(plain.items())[:6])
    return expected
