"""Puts the records of a source on a time line: years, zones, borrowed stamps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from faultlayer import stamps
from faultlayer.stamps import Year

# Records that wait for the next stamp; beyond, their distance to it is not told.
_PATIENCE: Final = 65_536
_SECOND: Final = 1_000_000
_REFINE_US: Final = 1_500_000
_CUT_US: Final = 1_000
_HOUR: Final = 3_600 * _SECOND
# How much later than the program's own its line may be stamped by what writes it down.
_LATE_US: Final = 5 * _SECOND


@dataclass(slots=True)
class Timeline:
    """Carries years and stamps over blocks.

    `year`: of stamps without one, where no wrapper tells; `zones`: us to add to naive
    stamps, by stream.
    """

    year: int
    zones: Mapping[str, int]
    zoned: bool = False
    years: dict[str, Year] = field(default_factory=dict)
    last: pl.Series | None = None  # the last stamp, one value
    waiting: pl.DataFrame | None = None
    impatient: bool = False

    def add(self, rows: pl.DataFrame, *, last: bool) -> pl.DataFrame:
        """Give rows with ts_raw, ts_precision_us and borrowed, in their order.

        `rows` have stream, outer, ts, precision, zoned, yearless and are in the order of
        the source. Rows that wait for the next stamp come with a later call; `last` gives
        all.
        """
        rows = self._stamped(rows)
        if self.waiting is not None:
            parts = [self.waiting, rows] if len(rows) else [self.waiting]
            rows = pl.concat(parts, how="diagonal_relaxed")
            self.waiting = None
        if not len(rows):
            return rows
        if last or not rows.get_column("ts").null_count():
            return self._borrow(rows)
        stamped = rows.get_column("ts").is_not_null().arg_true()
        cut = int(stamped[-1]) + 1 if len(stamped) else 0
        ready, wait = rows.head(cut), rows.slice(cut)
        if self.impatient and not cut:
            return self._borrow(rows)
        done = self._borrow(ready)
        if len(wait) > _PATIENCE:
            self.impatient = True
            return pl.concat([done, self._borrow(wait)])
        self.waiting = wait if len(wait) else None
        return done

    def _stamped(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Settle year and zone of the stamps that there are."""
        if not len(rows):
            return rows
        yearless = rows.get_column("yearless") & rows.get_column("ts").is_not_null()
        if rows.get_column("outer").null_count() < len(rows):
            rows = self._repaired(rows)
            yearless &= rows.get_column("outer").is_null()
        if yearless.any():
            rows = rows.with_columns(self._with_years(rows, yearless).alias("ts"))
        if self.zones and rows.get_column("outer").null_count() == len(rows):
            rows = self._beside(rows)
        if not self.zoned:
            self.zoned = bool(
                (rows.get_column("zoned") & rows.get_column("ts").is_not_null()).any()
            )
        return rows

    def _with_years(self, rows: pl.DataFrame, yearless: pl.Series) -> pl.Series:
        ts = rows.get_column("ts")
        # The years of one wrapper's stamps are one: a program may begin to write late.
        wrapped = "outer_us" in rows.columns
        names = (
            [""] if wrapped else rows.get_column("stream").unique(maintain_order=True)
        )
        for stream in names:
            state = self.years.setdefault(stream, Year(self.year))
            mine = (
                yearless & (rows.get_column("stream") == stream)
                if len(names) > 1
                else yearless
            )
            ts = stamps.with_year(ts, mine, state)
        return ts

    def _zone(self) -> pl.Expr:
        if not self.zones:
            return pl.lit(None, pl.Int64)
        return pl.col("stream").replace_strict(
            list(self.zones),
            list(self.zones.values()),
            default=None,
            return_dtype=pl.Int64,
        )

    def _beside(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Repair naive stamps that no wrapper tells of by what other streams told."""
        zone = self._zone()
        naive = ~pl.col("zoned") & zone.is_not_null()
        moved = pl.col("ts") + pl.duration(microseconds=zone)
        return rows.with_columns(
            pl.when(naive).then(moved).otherwise("ts").alias("ts"),
            (pl.col("zoned") | naive).alias("zoned"),
        )

    def _repaired(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Repair naive stamps by those of the wrapper; without one take the wrapper's."""
        outer, ts = pl.col("outer"), pl.col("ts")
        counted = outer.is_not_null() & stamps.since_start(ts, pl.col("zoned"))
        rows = rows.with_columns(pl.when(~counted.fill_null(value=False)).then("ts"))
        zone = self._zone()
        naive = outer.is_not_null() & ~pl.col("zoned") & ts.is_not_null()
        dated = (
            pl.when(pl.col("yearless") & outer.is_not_null())
            .then(stamps.nearest_year(ts, outer))
            .otherwise(ts)
        )
        rows = rows.with_columns(dated.alias("ts"))
        moved = _summered(ts + pl.duration(microseconds=zone))
        rows = rows.with_columns(
            pl.when(naive & zone.is_not_null()).then(moved).otherwise(ts).alias("ts"),
            pl.when(naive & zone.is_not_null())
            .then("outer_zoned")
            .otherwise("zoned")
            .alias("zoned"),
        )
        ahead = (outer - ts).dt.total_microseconds()
        # Some write a fraction and cut off what is below a second.
        cut = outer.dt.microsecond() < _CUT_US
        outer_us = pl.when(cut).then(pl.max_horizontal("outer_us", _SECOND))
        refine = (
            (pl.col("outer_us") < _SECOND)
            & ~cut
            & (pl.col("precision") >= _SECOND)
            & ahead.is_between(0, _REFINE_US, closed="left")
        )
        bare = ts.is_null() & outer.is_not_null()
        use = (bare | refine).fill_null(value=False)
        return rows.with_columns(
            pl.when(use).then(outer).otherwise(ts).alias("ts"),
            pl.when(use)
            .then(outer_us.otherwise("outer_us"))
            .otherwise("precision")
            .alias("precision"),
            pl.when(use).then("outer_zoned").otherwise("zoned").alias("zoned"),
        )

    def _borrow(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Give records without a stamp that of the record before, or else after."""
        ts = rows.get_column("ts")
        if not len(rows) or not ts.null_count():
            if len(rows):
                self.last = ts.tail(1)
                self.impatient = False
            return rows.with_columns(
                ts.alias("ts_raw"),
                pl.col("precision").alias("ts_precision_us"),
                pl.lit(value=False).alias("borrowed"),
            )
        stamped = ts.is_not_null()
        known = (
            self.last
            if self.last is not None
            else pl.Series([None], dtype=pl.Datetime("us"))
        )
        before = pl.concat([known, ts]).forward_fill()
        after = ts.backward_fill()
        frame = pl.DataFrame({"ts": ts, "before": before.slice(1), "after": after})
        distance = (pl.col("after") - pl.col("before")).dt.total_microseconds().abs()
        settled = frame.select(
            pl.coalesce("before", "after").alias("ts_raw"),
            distance.alias("distance"),
        )
        if self.impatient:
            # The end of a run whose beginning was given without a distance.
            run = stamped.cum_sum() == 0
            settled = settled.with_columns(
                pl.when(run).then(None).otherwise("distance").alias("distance")
            )
        if stamped.any():
            self.last = ts.filter(stamped).tail(1)
            self.impatient = False
        return rows.with_columns(
            settled.get_column("ts_raw"),
            pl.when(stamped)
            .then("precision")
            .otherwise(settled.get_column("distance"))
            .alias("ts_precision_us"),
            (~stamped & settled.get_column("ts_raw").is_not_null()).alias("borrowed"),
        )


def _summered(ts: pl.Expr) -> pl.Expr:
    """Give stamps of the other side of a change of summer time the zone of that side.

    They are just an hour from the stamp of what wrote the line down at once.
    """
    ahead = (pl.col("outer") - ts).dt.total_microseconds()
    at_once = pl.col("outer_zoned") & (pl.col("outer_us") <= _SECOND)
    other = at_once & ((ahead.abs() - _HOUR).abs() <= _LATE_US)
    return (
        pl.when(other)
        .then(ts + pl.duration(microseconds=ahead.sign() * _HOUR))
        .otherwise(ts)
    )
