"""Puts rows that were read apart back into the order of their lines."""

from collections.abc import Sequence
from typing import Final

import polars as pl

_FEW_ROWS: Final = 64


def in_order(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Give the rows of all parts in the order of their lines."""
    if not parts:
        return pl.DataFrame()
    if len(parts) == 1:
        return (
            parts[0].sort("line")
            if not parts[0].get_column("line").is_sorted()
            else parts[0]
        )
    table = pl.concat(parts, how="diagonal_relaxed")
    most = max(len(part) for part in parts)
    # A few lines among many of another pattern: cutting costs less than sorting.
    if len(parts[0]) == most and len(table) - most <= _FEW_ROWS:
        return _inserted(table.head(most), table.slice(most).sort("line"))
    return _sorted(table)


def _sorted(table: pl.DataFrame) -> pl.DataFrame:
    """Sort by line; columns without any value need not be moved."""
    empty = [one for one in table.get_columns() if one.null_count() == len(table)]
    moved = table.drop(one.name for one in empty).sort("line")
    return moved.hstack(empty).select(table.columns)


def replaced(table: pl.DataFrame, at: pl.Series, by: pl.DataFrame) -> pl.DataFrame:
    """Put rows in the places of others, with what columns they have; `at` ascends."""
    if len(at) > _FEW_ROWS:
        kept = pl.repeat(True, len(table), eager=True, dtype=pl.Boolean)
        kept = kept.clone().scatter(at, False)
        return pl.concat([table.filter(kept), by], how="diagonal").sort("line")
    pieces = []
    start = 0
    # Slices share the memory of the table: all other rows are not touched.
    for number, place in enumerate(at.to_list()):
        pieces += [table.slice(start, place - start), by.slice(number, 1)]
        start = place + 1
    return pl.concat([*pieces, table.slice(start)], how="diagonal")


def _inserted(many: pl.DataFrame, few: pl.DataFrame) -> pl.DataFrame:
    """Put a few rows where they belong; all `many` are in order of their lines."""
    if not many.get_column("line").is_sorted():
        return pl.concat([many, few]).sort("line")
    pieces = []
    start = 0
    places = many.get_column("line").search_sorted(few.get_column("line"))
    for number, place in enumerate(places.to_list()):
        pieces += [many.slice(start, place - start), few.slice(number, 1)]
        start = place
    return pl.concat([*pieces, many.slice(start)])
