"""Peels what containers, shippers and syslog put around lines, level by level."""

from datetime import timedelta

import polars as pl

from faultlayer import stamps
from faultlayer.level import Level, Peel, Repeats
from faultlayer.logical_lines import plain, untold
from faultlayer.stamps import BASE_YEAR, Year
from faultlayer.wrappers import Wrapper


def inside(rows: pl.DataFrame, wrapper: Wrapper) -> pl.DataFrame:
    """Give all rows inside a wrapper, those that it is not around as they are."""
    end = int(rows.get_column("line")[-1]) if len(rows) else 0
    return Level(Peel(wrapper)).add(rows, end, last=True)


class Unwrapper:
    """Turns physical lines into the lines inside, in their order.

    What may still be joined with later lines is held back. Whatever the blocks, the same
    lines come out. `year` and `zone_us` are those of the stamps that have none.
    """

    def __init__(
        self, around: Peel | None, year: int = BASE_YEAR, zone_us: int | None = None
    ) -> None:
        self._year = Year(year)
        self._zone_us = zone_us
        self._repeats = Repeats()
        self._top = Level(around, self._repeats) if around is not None else None
        self._ready: pl.DataFrame | None = None
        self._end = 0

    def add(self, lines: pl.DataFrame, *, last: bool) -> pl.DataFrame:
        """Give the lines inside these (columns of `lines_of`); `last` gives all."""
        if self._top is None:
            return plain(lines)
        if len(lines):
            self._end = int(lines.get_column("line")[-1])
        rows = self._top.add(untold(lines), self._end, last=last)
        if self._ready is not None:
            rows = pl.concat([self._ready, rows])
            self._ready = None
        if not rows.get_column("line").is_sorted():
            rows = rows.sort("line")
        low = self._top.low()
        if low is not None:
            self._ready = rows.filter(pl.col("line") >= low)
            rows = rows.filter(pl.col("line") < low)
        return self._dated(rows)

    def repeats(self) -> pl.DataFrame:
        """Give the lines that a shipper had sent before, once: they are not among the rows."""
        return self._repeats.take()

    def _dated(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Make outer stamps of those of which zone or year is not told."""
        known = rows.get_column("outer").is_not_null()
        rows = rows.with_columns(known.alias("outer_zoned"))
        local = rows.get_column("local")
        if local.null_count() == len(local):
            return rows
        bare = ~known & local.is_not_null()
        yearless = bare & rows.get_column("yearless").fill_null(value=False)
        dated = stamps.with_year(local, yearless, self._year)
        moved = pl.Series("moved", dated) + timedelta(microseconds=self._zone_us or 0)
        return rows.with_columns(
            pl.when(bare).then(moved).otherwise("outer").alias("outer"),
            (pl.col("outer_zoned") | (bare & (self._zone_us is not None))).alias(
                "outer_zoned"
            ),
        )
