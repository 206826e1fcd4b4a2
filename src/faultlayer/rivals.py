"""Finds the lines that two formats claim, by the samples of both."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from faultlayer.detect import Definitions
from faultlayer.formats import Format, Sample
from faultlayer.literals import Sight
from faultlayer.tables import Reading
from faultlayer.take import take
from faultlayer.toml_places import Path

_FEW: Final = 3  # formats that are named; more than these is almost any


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and where in the file: a path, and a character of the text there."""

    message: str
    at: Path
    index: int | None = None
    hint: str = ""


def first_line(sample: Sample) -> str:
    """Give the first line of a record."""
    return sample.line.split("\n", maxsplit=1)[0]


def taker(
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


def is_named(format_: Format, sample: Sample) -> bool:
    """Tell whether a sample is of a pattern for programs that a wrapper names."""
    return any(one.name == sample.pattern and one.programs for one in format_.patterns)


def _apart(one: Format, other: Format) -> bool:
    """Tell whether two formats must not take the same line.

    A weak format is only asked where no other one fits, a general one after all others.
    """
    shared = one.name in other.shares or other.name in one.shares
    return one.name != other.name and not (
        shared or other.weak or other.general > one.general
    )


def thieves(format_: Format, definitions: Definitions) -> Iterator[Fault]:
    """Find the other formats that take samples of this one."""
    samples = [one for one in format_.samples if _takes_alone(format_, one)]
    lines = [first_line(one) for one in samples]
    sight = Sight(lines)
    for other in definitions.formats:
        if not _apart(format_, other):
            continue
        likely = [one for one in other.patterns if sight.may_hold(one.hint)]
        if not likely:
            continue
        for sample, line in zip(samples, lines, strict=True):
            thief = taker(other, line)
            if thief is not None:
                yield Fault(
                    f"{other.name} takes this sample too (pattern {thief!r})",
                    ("sample", sample.number, "line"),
                    0,
                    hint="make one of them stricter; or say "
                    f'shares = ["{other.name}"], if both write to one file',
                )


def _takes_alone(format_: Format, sample: Sample) -> bool:
    """Tell whether a sample's pattern claims its lines for its program alone."""
    named = is_named(format_, sample)
    name = taker(format_, first_line(sample), sample.header, named=named)
    own = next((one for one in format_.patterns if one.name == name), None)
    # A line that tells nothing about its program belongs to whoever writes the file.
    return own is not None and not (own.weak or own.shared or named)


def thefts(format_: Format, definitions: Definitions) -> Iterator[Fault]:
    """Find the samples of other formats that patterns of this one take."""
    patterns = [one for one in format_.patterns if one.telling]
    taken: dict[str, list[tuple[str, str]]] = {}
    for other in definitions.formats:
        if other.table or format_.weak or not _apart(other, format_):
            continue
        samples = [one for one in other.samples if not one.header]
        lines = pl.Series([first_line(one) for one in samples], dtype=pl.String)
        hits, _ = take(lines, [(format_, patterns)])
        for hit in hits:
            row = 0 if hit.rows is None else hit.rows[0]
            place = f"{other.path}:{samples[row].at}"
            taken.setdefault(hit.pattern.name, []).append((other.name, place))
    for number, pattern in enumerate(format_.patterns):
        found = taken.get(pattern.name, [])
        if not found:
            continue
        shown = ", ".join(f"{name} ({place})" for name, place in found[:_FEW])
        more = f" and {len(found) - _FEW} further formats" if found[_FEW:] else ""
        names = ", ".join(f'"{name}"' for name, _ in found)
        yield Fault(
            f"pattern {pattern.name!r} takes samples of {shown}{more}",
            ("pattern", number),
            hint="it takes lines of almost any program: begin it with what only yours "
            "writes, or say weak = true in [format]"
            if more
            else f"make it stricter; or say shares = [{names}], if both write to one "
            "file",
        )
