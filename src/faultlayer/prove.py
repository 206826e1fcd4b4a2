"""Proves format and wrapper files by the samples and look-alikes that they hold."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isclose
from typing import Any, Final

import polars as pl

from faultlayer import parse, unwrap
from faultlayer.blocks import Block
from faultlayer.detect import Definitions, Detection
from faultlayer.errors import DefinitionError, Location
from faultlayer.find import Source
from faultlayer.formats import Format, Sample
from faultlayer.lines import lines_of
from faultlayer.tables import Reading
from faultlayer.take import take
from faultlayer.wrappers import Wrapper

_YEAR: Final = 2026


def events(
    text: str, format_: Format, definitions: Definitions, header: str = ""
) -> pl.DataFrame:
    """Parse text by one format alone; columns of `schema.EVENTS_RAW`, plus `_rejects`.

    Stamps without a year get 2026. `header` stands before the text and gives no rows.
    """
    order = tuple(range(len(format_.patterns)))
    detection = Detection(
        wrapper=None,
        streams={"": ((format_.name, order),)},
        zones={},
        reason="",
        first_ts=None,
        dated=False,
        forced=True,
        tables={"": format_.name} if format_.table else {},
        layers={"": format_.layer},
    )
    above = header.count("\n") + 1 if header else 0
    text = f"{header}\n{text}" if header else text
    source = Source(1, "sample", None, None, "", "sample", "")
    found, lost = _Sink(), _Sink()
    run = parse.Run(
        source, detection, definitions, parse.ParseOptions(_YEAR), found, lost
    )
    run.add(lines_of(Block(text.encode(), 0, 1, last=True)))
    run.finish()
    frame = found.frame()
    if above:
        frame = frame.filter(pl.col("line") > above)
    return frame.with_columns(pl.lit(len(lost.frame())).alias("_rejects"))


class _Sink:
    """Keeps rows in memory, as `write.Writer` keeps them in a file."""

    def __init__(self) -> None:
        self._rows: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        self._rows.append(rows)

    def frame(self) -> pl.DataFrame:
        if not self._rows:
            return pl.DataFrame()
        return pl.concat(self._rows, how="diagonal_relaxed")


def problems(definitions: Definitions) -> list[DefinitionError]:
    """Give all that is wrong with the formats and wrappers, none when all is proved."""
    found: list[DefinitionError] = []
    for format_ in definitions.formats:
        found += problems_of(format_, definitions)
    for wrapper in definitions.wrappers:
        found += wrapper_problems(wrapper, definitions)
    return found


def problems_of(format_: Format, definitions: Definitions) -> list[DefinitionError]:
    """Give what is wrong with one format among the others."""
    found = [
        DefinitionError(message, at=Location(format_.path, sample.at))
        for sample in format_.samples
        for message in _sample_problems(format_, sample, definitions)
    ]
    for sample in format_.rejects:
        taker = _taker(format_, _first_line(sample), sample.header)
        if taker is not None:
            message = f"pattern {taker!r} takes a line that it must not"
            found.append(DefinitionError(message, at=Location(format_.path, sample.at)))
    tried = {sample.pattern or format_.patterns[0].name for sample in format_.samples}
    for pattern in format_.patterns:
        if pattern.name not in tried and not pattern.more:
            message = f"pattern {pattern.name!r} has no [[sample]]"
            hint = f'give it one, with pattern = "{pattern.name}"'
            found.append(DefinitionError(message, at=Location(format_.path), hint=hint))
    return found


def _first_line(sample: Sample) -> str:
    return sample.line.split("\n", maxsplit=1)[0]


def _taker(
    format_: Format, line: str, header: str = "", *, named: bool = False
) -> str | None:
    """Give the pattern that takes a line below a header, None when none does.

    `named`: the line is of a program that the pattern names.
    """
    text = pl.Series([*header.split("\n"), line])
    if format_.table:
        number = pl.int_range(1, len(text) + 1, eager=True)
        text = Reading(format_.table).rows(number, text)
    patterns = [one for one in format_.patterns if bool(one.programs) == named]
    hits, _ = take(text.tail(1), [(format_, patterns)])
    return hits[0].pattern.name if hits else None


def _sample_problems(
    format_: Format, sample: Sample, definitions: Definitions
) -> Iterator[str]:
    line = _first_line(sample)
    named = any(
        one.name == sample.pattern and one.programs for one in format_.patterns
    )
    taker = _taker(format_, line, sample.header, named=named)
    if taker is None:
        yield "no pattern takes this sample"
        return
    if sample.pattern is not None and taker != sample.pattern:
        yield f"pattern {taker!r} takes this sample, not {sample.pattern!r}"
    own = next(one for one in format_.patterns if one.name == taker)
    for other in definitions.formats:
        # A weak format is only asked where no other one fits, a general one after all
        # others, and a line that tells nothing about its program belongs to whoever
        # else writes the file.
        if other.weak or own.weak or own.shared or named:
            continue
        if other.general > format_.general:
            continue
        if (
            other.name in {format_.name, *format_.shares}
            or format_.name in other.shares
        ):
            continue
        thief = _taker(other, line)
        if thief is not None:
            yield f"{other.name} takes this sample too (pattern {thief!r})"
    found = events(sample.line, format_, definitions, sample.header)
    if len(found) != 1:
        yield f"the sample becomes {len(found)} events, not one"
        return
    if found.item(0, "_rejects"):
        yield f"{found.item(0, '_rejects')} lines of the sample are rejects"
    yield from _differences(found.row(0, named=True), sample.expect)


def _differences(event: Mapping[str, Any], expect: Mapping[str, Any]) -> Iterator[str]:
    for name, wanted in expect.items():
        if name == "attrs":
            attrs = json.loads(event.get("attrs") or "{}")
            for key, value in wanted.items():
                if not _same(attrs.get(key), value):
                    yield f"attrs.{key} is {attrs.get(key)!r}, not {value!r}"
        elif name not in event:
            yield f"{name} is null, not {wanted!r}"
        elif not _same(event[name], wanted):
            yield f"{name} is {event[name]!r}, not {wanted!r}"


def _same(actual: object, wanted: object) -> bool:
    if isinstance(wanted, datetime) and isinstance(actual, datetime):
        return actual.replace(tzinfo=UTC) == wanted.astimezone(UTC)
    if isinstance(wanted, float | int) and not isinstance(wanted, bool):
        try:
            return isclose(float(str(actual)), wanted, rel_tol=1e-12)
        except ValueError:
            return False
    return actual == wanted


def wrapper_problems(
    wrapper: Wrapper, definitions: Definitions
) -> list[DefinitionError]:
    """Give what is wrong with a wrapper's samples and look-alikes."""
    found: list[str] = []
    for sample in wrapper.samples:
        line = str(sample.get("line", ""))
        for other in definitions.wrappers:
            takes = bool(len(unwrap.peel(pl.Series([line]), other)))
            if other.name == wrapper.name and not takes:
                found.append("it does not take its own sample")
            elif other.name != wrapper.name and takes:
                found.append(f"{other.name} takes its sample too")
        expect: Mapping[str, object] = sample.get("expect", {})
        peeled = unwrap.peel(pl.Series([line]), wrapper)
        if len(peeled):
            row = peeled.row(0, named=True)
            found += [
                f"{key} is {row.get(key)!r}, not {value!r}"
                for key, value in expect.items()
                if row.get(key) != value
            ]
    found += [
        f"it takes a line that it must not: {line[:60]}"
        for line in _takes(wrapper, wrapper.rejects)
    ]
    return [DefinitionError(message, at=Location(wrapper.path)) for message in found]


def _takes(wrapper: Wrapper, lines: Sequence[str]) -> list[str]:
    return [line for line in lines if len(unwrap.peel(pl.Series([line]), wrapper))]
