"""Gives each line to the first pattern that takes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from faultlayer import normalise
from faultlayer.formats import Format, Pattern


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
    for format_, pattern in _each(order):
        for plan in pattern.plans:
            if left is not None and not len(left):
                return hits, left
            part = text if left is None else text.gather(left)
            match = plan.match(part)
            fields = match.fields
            if not len(fields):
                continue
            if format_.escapes:
                lines = part if match.rows is None else part.gather(match.rows)
                fields = normalise.undo_hex(lines, fields)
            if match.rows is None:
                hits.append(Hit(format_, pattern, left, fields))
                left = _none()
                continue
            at = match.rows.cast(pl.UInt32)
            taken = at if left is None else left.gather(at)
            hits.append(Hit(format_, pattern, taken, fields))
            left = _without(size if left is None else len(left), at, left)
    return hits, all_rows(size) if left is None else left


def all_rows(size: int) -> pl.Series:
    """Give all positions of a column."""
    return pl.int_range(size, dtype=pl.UInt32, eager=True)


def _each(order: Order) -> Iterable[tuple[Format, Pattern]]:
    return ((format_, one) for format_, patterns in order for one in patterns)


def _none() -> pl.Series:
    return pl.Series([], dtype=pl.UInt32)


def _without(size: int, taken: pl.Series, left: pl.Series | None) -> pl.Series:
    keep = pl.repeat(True, size, eager=True, dtype=pl.Boolean)  # noqa: FBT003
    keep = keep.clone().scatter(taken, False)  # noqa: FBT003
    return keep.arg_true() if left is None else left.filter(keep)
