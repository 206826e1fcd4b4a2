"""Reads durations as programs print them for people: `1m2.5s`, `345.6ms`, `12.3µs`."""

from typing import Final

import polars as pl

_SPELLING: Final = (
    r"^(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?"
    r"(?:(?P<number>\d+(?:\.\d+)?)(?P<unit>s|ms|[µμu]s|ns)?)?$"
)
_UNITS: Final = {
    "s": 1000.0,
    "ms": 1.0,
    "µs": 1e-3,
    "μs": 1e-3,
    "us": 1e-3,
    "ns": 1e-6,
}


def milliseconds(text: pl.Expr, bare: float | None = None) -> pl.Expr:
    """Give a duration of Go or Rust in ms, null for what is none.

    `bare`: the ms of a number without a unit, None: it is no duration.
    """
    parts = text.str.strip_chars().str.extract_groups(_SPELLING).struct

    def number(name: str) -> pl.Expr:
        return parts.field(name).cast(pl.Float64, strict=False)

    unit = parts.field("unit").replace_strict(
        _UNITS, default=None, return_dtype=pl.Float64
    )
    if bare is not None:
        unit = unit.fill_null(bare)
    named = (number("hours") * 3_600_000, number("minutes") * 60_000)
    all_parts = [*named, number("number") * unit]
    some = pl.any_horizontal(one.is_not_null() for one in all_parts)
    return pl.when(some).then(pl.sum_horizontal(all_parts).round(6))
