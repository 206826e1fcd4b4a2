"""Proves format and wrapper files by the samples and look-alikes that they hold."""

import difflib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from math import isclose
from typing import Any, Final

import polars as pl

from faultlayer import blowup, near, parse, rivals
from faultlayer.blocks import Block
from faultlayer.definitions import Reader, in_order
from faultlayer.detect import Definitions, Detection
from faultlayer.errors import DefinitionError
from faultlayer.find import Source
from faultlayer.formats import Format, Sample
from faultlayer.lines import lines_of
from faultlayer.peel import peel
from faultlayer.rivals import Fault
from faultlayer.toml_places import Path, places
from faultlayer.wrappers import Wrapper

_YEAR: Final = 2026
_OTHER_KINDS: Final = {"other", "config_comment"}


def events(
    text: str,
    format_: Format,
    definitions: Definitions,
    header: str = "",
    *,
    named: bool = False,
) -> pl.DataFrame:
    """Parse text by one format alone; columns of `schema.EVENTS_RAW`, plus `_rejects`.

    Stamps without a year get 2026. `header` stands before the text and gives no rows.
    `named`: by its patterns for programs that a wrapper names.
    """
    order = tuple(
        number
        for number, pattern in enumerate(format_.patterns)
        if bool(pattern.programs) == named
    )
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


def problems_of(
    format_: Format, definitions: Definitions, *, own: bool = False
) -> list[DefinitionError]:
    """Give what is wrong with one format among the others.

    An `own` one is a user's: it must not take the samples of the others either, which
    otherwise is found with them.
    """
    reader = Reader(format_.path, format_.text)
    faults = [
        *(
            fault
            for sample in format_.samples
            for fault in _sample_faults(format_, sample, definitions)
        ),
        *rivals.thieves(format_, definitions),
        *(rivals.thefts(format_, definitions) if own else ()),
        *_taken_rejects(format_),
        *_untried(format_),
        *_unknown_kinds(format_, definitions),
        *_endless(format_),
    ]
    return in_order(
        [
            reader.problem(one.message, at=one.at, index=one.index, hint=one.hint)
            for one in faults
        ]
    )


def _taken_rejects(format_: Format) -> Iterator[Fault]:
    for sample in format_.rejects:
        taken_by = rivals.taker(format_, rivals.first_line(sample), sample.header)
        if taken_by is not None:
            yield Fault(
                f"pattern {taken_by!r} takes a line that it must not",
                ("reject", sample.number, "line"),
                0,
            )


def _untried(format_: Format) -> Iterator[Fault]:
    tried = {sample.pattern or format_.patterns[0].name for sample in format_.samples}
    for number, pattern in enumerate(format_.patterns):
        if pattern.name not in tried and not pattern.more:
            yield Fault(
                f"pattern {pattern.name!r} has no [[sample]]",
                ("pattern", number),
                hint=f'give it one, with pattern = "{pattern.name}"',
            )


def _unknown_kinds(format_: Format, definitions: Definitions) -> Iterator[Fault]:
    if definitions.signatures is None:
        return
    known = {kind["name"] for kind in definitions.signatures.kinds} | _OTHER_KINDS
    for number, pattern in enumerate(format_.patterns):
        if pattern.kind is not None and pattern.kind not in known:
            near_by = difflib.get_close_matches(pattern.kind, sorted(known), 1)
            yield Fault(
                f"no kind is called {pattern.kind!r}",
                _kind_path(format_, number),
                0,
                hint=f"did you mean {near_by[0]}?"
                if near_by
                else "kinds are in parsers/signatures/kinds.toml",
            )


def _kind_path(format_: Format, number: int) -> Path:
    """Give where a pattern's kind stands: with it, or for all of the file."""
    path: Path = ("pattern", number, "kind")
    return path if path in places(format_.text).values else ("format", "kind")


def _endless(format_: Format) -> Iterator[Fault]:
    """Find patterns on which a line that almost fits costs seconds."""
    lines = [rivals.first_line(sample) for sample in format_.samples]
    for number, pattern in enumerate(format_.patterns):
        regex = "".join(part for _, part in pattern.pieces())
        line = blowup.endless(regex, lines) if regex else None
        if line is not None:
            yield Fault(
                f"pattern {pattern.name!r} tries endless ways to fit a line: {line!r}",
                ("pattern", number),
                hint="a repeated group must not hold what repeats, as in (a+)+",
            )
        for plan in pattern.plans:
            took = blowup.slow(plan, lines)
            if took is not None:
                yield Fault(
                    f"pattern {pattern.name!r} takes {took:.1f} s for a few long lines",
                    ("pattern", number),
                    hint="use fewer and smaller counts such as {1,500}",
                )


def _sample_faults(
    format_: Format, sample: Sample, definitions: Definitions
) -> Iterator[Fault]:
    line = rivals.first_line(sample)
    here: Path = ("sample", sample.number, "line")
    named = rivals.is_named(format_, sample)
    taker = rivals.taker(format_, line, sample.header, named=named)
    if taker is None:
        yield _nearest(format_, sample, line)
        return
    if sample.pattern is not None and taker != sample.pattern:
        yield Fault(
            f"pattern {taker!r} takes this sample, not {sample.pattern!r}",
            ("sample", sample.number, "pattern"),
            0,
            hint="a line goes to the first pattern that takes it",
        )
    found = events(sample.line, format_, definitions, sample.header, named=named)
    if len(found) != 1:
        yield Fault(f"the sample becomes {len(found)} events, not one", here, 0)
        return
    if found.item(0, "_rejects"):
        lost = found.item(0, "_rejects")
        yield Fault(f"{lost} lines of the sample are rejects", here, 0)
    for message, path in _differences(found.row(0, named=True), sample.expect):
        yield Fault(message, ("sample", sample.number, "expect", *path), 0)


def _nearest(format_: Format, sample: Sample, line: str) -> Fault:
    """Say how far the pattern got that gets furthest."""
    here: Path = ("sample", sample.number, "line")
    message = "no pattern takes this sample"
    misses = [
        miss
        for miss in near.of_format(format_, line)
        if sample.pattern in {None, miss.pattern}
    ]
    if not misses:
        return Fault(message, here, 0)
    best = near.nearest(misses)
    if best.json:
        wants = f"{message}: pattern {best.pattern!r} wants {best.wanted}"
        return Fault(wants, here, 0)
    there = (
        "the line ends" if best.taken >= len(line) else f"{line[best.taken :][:20]!r}"
    )
    return Fault(
        f"{message}: pattern {best.pattern!r} takes {best.taken} characters of it",
        here,
        best.taken,
        hint=f"here it wants {best.wanted}, and there is {there}",
    )


def _differences(
    event: Mapping[str, Any], expect: Mapping[str, Any]
) -> Iterator[tuple[str, Path]]:
    for name, wanted in expect.items():
        if name == "attrs":
            attrs = json.loads(event.get("attrs") or "{}")
            for key, value in wanted.items():
                if not _same(attrs.get(key), value):
                    got = f"attrs.{key} is {attrs.get(key)!r}, not {value!r}"
                    yield got, ("attrs", key)
        elif name not in event:
            yield f"{name} is null, not {wanted!r}", (name,)
        elif not _same(event[name], wanted):
            yield f"{name} is {event[name]!r}, not {wanted!r}", (name,)


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
    reader = Reader(wrapper.path, wrapper.text)
    return in_order(
        [
            reader.problem(one.message, at=one.at, index=one.index, hint=one.hint)
            for one in _wrapper_faults(wrapper, definitions)
        ]
    )


def _wrapper_faults(wrapper: Wrapper, definitions: Definitions) -> Iterator[Fault]:
    for number, sample in enumerate(wrapper.samples):
        here: Path = ("sample", number)
        line = pl.Series([str(sample.get("line", ""))])
        for other in definitions.wrappers:
            if other.name != wrapper.name and other.sure and len(peel(line, other)):
                yield Fault(f"{other.name} takes its sample too", (*here, "line"), 0)
        peeled = peel(line, wrapper)
        if not len(peeled):
            yield Fault("it does not take its own sample", (*here, "line"), 0)
            continue
        row = peeled.row(0, named=True)
        expect: Mapping[str, object] = sample.get("expect", {})
        for key, value in expect.items():
            if row.get(key) != value:
                message = f"{key} is {row.get(key)!r}, not {value!r}"
                yield Fault(message, (*here, "expect", key), 0)
    for number, reject in enumerate(wrapper.rejects):
        if len(peel(pl.Series([reject]), wrapper)):
            message = f"it takes a line that it must not: {reject[:60]}"
            yield Fault(message, ("reject", number, "line"), 0)
