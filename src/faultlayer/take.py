"""Gives each line to the first pattern that takes it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from faultlayer import normalise
from faultlayer.formats import Format, Pattern
from faultlayer.literals import Sight

_FEW: Final = 400
_SHORT: Final = 2000
_CHARS: Final = 128_000  # of all of the few
# Patterns that are tried without a look at the text: those of the file's own format.
_SOON: Final = 8
_PLAIN: Final = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class Hit:
    """Lines that one pattern took: their positions, or None for all of them."""

    format: Format
    pattern: Pattern
    rows: pl.Series | None
    fields: pl.DataFrame


Order = Sequence[tuple[Format, Sequence[Pattern]]]


def take(
    text: pl.Series, order: Order, rows: pl.Series | None = None
) -> tuple[list[Hit], pl.Series]:
    """Give the hits, and the positions of the lines that no pattern took.

    `rows` restricts the search to these positions (UInt32, ascending).
    """
    hits: list[Hit] = []
    size = len(text)
    left = rows
    few = _few(text if left is None else text[left])
    sight = None if few is None else Sight(few)
    for number, (format_, pattern) in enumerate(_each(order)):
        if number == _SOON and sight is None:
            sight = Sight((text if left is None else text[left]).to_list())
        if sight is not None and not sight.may_hold(pattern.hint):
            continue
        plans = pattern.plans
        if few is not None:
            # Of a few lines the slower plan, which takes all that the others take.
            plans = plans[-1:] if any(map(plans[-1].may_take, few)) else ()
        for plan in plans:
            if left is not None and not len(left):
                return hits, left
            part = text if left is None else text[left]
            match = plan.match(part)
            fields = match.fields
            if not len(fields):
                continue
            if format_.escapes:
                fields = normalise.undo_hex(part, fields, match.rows)
            if match.rows is None:
                hits.append(Hit(format_, pattern, left, fields))
                left = _none()
                continue
            at = match.rows.cast(pl.UInt32)
            taken = at if left is None else left[at]
            hits.append(Hit(format_, pattern, taken, fields))
            left = _without(size if left is None else len(left), at, left)
            few = _few(text[left])
    return hits, all_rows(size) if left is None else left


def _few(text: pl.Series) -> list[str] | None:
    """Give the lines when they are few, short and plain: asking each costs less then.

    On ASCII the regexes of Python and of polars agree about digits, words and spaces.
    """
    if len(text) > _FEW:
        return None
    lines = text.to_list()
    if sum(map(len, lines)) > _CHARS:
        return None
    if all(len(line) <= _SHORT and _PLAIN.fullmatch(line) for line in lines):
        return lines
    return None


def all_rows(size: int) -> pl.Series:
    """Give all positions of a column."""
    return pl.int_range(size, dtype=pl.UInt32, eager=True)


def _each(order: Order) -> Iterable[tuple[Format, Pattern]]:
    return ((format_, one) for format_, patterns in order for one in patterns)


def _none() -> pl.Series:
    return pl.Series([], dtype=pl.UInt32)


def _without(size: int, taken: pl.Series, left: pl.Series | None) -> pl.Series:
    keep = pl.repeat(True, size, eager=True, dtype=pl.Boolean)
    keep = keep.clone().scatter(taken, False)
    return keep.arg_true() if left is None else left.filter(keep)
