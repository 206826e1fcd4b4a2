"""Reads the stamps of records: spelling, zone, resolution, and years that are not there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

_SECOND: Final = 1_000_000
_HALF_YEAR_US: Final = 180 * 86_400 * _SECOND
_QUARTER_US: Final = 900 * _SECOND
# A leap year, so that 29 February can be read before the year is known.
BASE_YEAR: Final = 2000
_UNITS: Final = {
    "epoch": _SECOND,
    "epoch_s": _SECOND,
    "uptime_s": _SECOND,
    "epoch_ms": 1000,
    "epoch_us": 1,
}
# llama.cpp: minutes.seconds.milliseconds.microseconds since its start.
_PARTS: Final = r"^(?P<m>\d+)\.(?P<s>\d{2})\.(?P<ms>\d{3})\.(?P<us>\d{3})$"
_PART_NAMES: Final = ("m", "s", "ms", "us")
_UPTIMES: Final = ("uptime_s", "uptime_m_s_ms_us")
_FIRST_YEAR_US: Final = 366 * 86_400 * _SECOND
_ISO: Final = ("%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f")
_FIXED: Final = re.compile(r"%\.?([369])f")


@dataclass(frozen=True, slots=True)
class Spelling:
    """What a time format says about its stamps; `precision_us` 0: each stamp tells."""

    format: str
    zoned: bool
    year: bool
    date: bool
    precision_us: int


def spelling(format_: str) -> Spelling:
    """Read a strptime format or a unit: `epoch` or `uptime_s`, or of one size `epoch_s`...

    The size of an `epoch` number tells whether it counts seconds, ms, us or ns.
    `uptime_m_s_ms_us` is what llama.cpp writes: `0.41.568.358`.
    """
    if format_ == _UPTIMES[1]:
        return Spelling(format_, False, True, True, 1)
    if format_ in _UNITS:
        precision = 0 if _UNITS[format_] == _SECOND else _UNITS[format_]
        return Spelling(format_, format_ != "uptime_s", True, True, precision)
    fixed = _FIXED.search(format_)
    precision = _SECOND
    if fixed:
        precision = max(1, 10 ** (6 - int(fixed.group(1))))
    elif "%.f" in format_:
        precision = 0
    elif "%S" not in format_ and "%T" not in format_:
        precision = 60 * _SECOND
    year = "%Y" in format_ or "%y" in format_
    date = year or "%d" in format_ or "%e" in format_
    zoned = bool(re.search(r"%#?:?z|Z$|GMT|UTC", format_))
    return Spelling(format_, zoned, year, date, precision)


def read(text: pl.Series, formats: Sequence[str]) -> pl.DataFrame:
    """Read stamps: ts (naive, UTC when zoned), precision (us), zoned, yearless.

    The first format that fits counts. A stamp without a date is none.
    """
    if text.dtype != pl.String:
        if text.dtype.is_temporal():
            one = pl.DataFrame({"ts": text})
            return one.with_columns(
                pl.lit(_SECOND, pl.Int64).alias("precision"),
                pl.lit(value=True).alias("zoned"),
                pl.lit(value=False).alias("yearless"),
            )
        text = text.cast(pl.String)
    result: pl.DataFrame | None = None
    for format_ in formats:
        kind = spelling(format_)
        if not kind.date:
            continue
        found = text.to_frame("t").select(
            _parsed(pl.col("t"), kind).alias("ts"),
            _precision(pl.col("t"), kind).alias("precision"),
            pl.lit(kind.zoned).alias("zoned"),
            pl.lit(not kind.year).alias("yearless"),
        )
        if result is None:
            result = found
        else:
            empty = result.get_column("ts").is_null()
            result = result.with_columns(
                pl.when(empty).then(found.get_column(name)).otherwise(name).alias(name)
                for name in result.columns
            )
        if not result.get_column("ts").null_count():
            break
    if result is None:
        return nothing(len(text))
    return result


def span_ms(begin: pl.Series, end: pl.Series) -> pl.Series:
    """Give the time between two stamps in ISO 8601, in milliseconds."""
    times = [read(one, _ISO).get_column("ts") for one in (begin, end)]
    return (times[1] - times[0]).dt.total_microseconds() / 1000


def nothing(size: int) -> pl.DataFrame:
    """Give the answer of `read` for records without a stamp."""
    return pl.DataFrame(
        {
            "ts": pl.repeat(None, size, eager=True, dtype=pl.Datetime("us")),
            "precision": pl.repeat(None, size, eager=True, dtype=pl.Int64),
            "zoned": pl.repeat(False, size, eager=True, dtype=pl.Boolean),
            "yearless": pl.repeat(False, size, eager=True, dtype=pl.Boolean),
        }
    )


def _parsed(text: pl.Expr, kind: Spelling) -> pl.Expr:
    if kind.format == _UPTIMES[1]:
        parts = text.str.extract_groups(_PARTS).struct
        m, s, ms, us = (parts.field(one).cast(pl.Int64) for one in _PART_NAMES)
        return (((m * 60 + s) * 1000 + ms) * 1000 + us).cast(pl.Datetime("us"))
    if kind.format in _UNITS:
        value = text.cast(pl.Float64, strict=False)
        if kind.format == "epoch":
            value = value / _finer(text)
        value = pl.when(value.is_between(0, 4e15)).then(value)
        us = (value * _UNITS[kind.format]).round().cast(pl.Int64, strict=False)
        return us.cast(pl.Datetime("us"))
    format_ = kind.format
    if format_.startswith("%m%d"):
        # PyTorch writes no zero before the month: 219 is the 19th of February.
        text = text.str.replace(r"^(\d{3})\b", "0$1")
    if not kind.year:
        text = pl.concat_str(pl.lit(f"{BASE_YEAR} "), text)
        format_ = f"%Y {format_}"
    parsed = text.str.to_datetime(format_, time_unit="us", strict=False)
    if re.search(r"%#?:?z", format_):
        parsed = parsed.dt.replace_time_zone(None)
    return parsed.cast(pl.Datetime("us"))


def _finer(text: pl.Expr) -> pl.Expr:
    """Give how many units of an epoch number make a second: 1, 1e3, 1e6 or 1e9."""
    value = text.cast(pl.Float64, strict=False)
    return (
        pl.when(value < 1e11)  # noqa: PLR2004 - seconds reach it in the year 5138
        .then(1.0)
        .when(value < 1e14)  # noqa: PLR2004
        .then(1e3)
        .when(value < 1e17)  # noqa: PLR2004
        .then(1e6)
        .otherwise(1e9)
    )


def _precision(text: pl.Expr, kind: Spelling) -> pl.Expr:
    if kind.precision_us:
        return pl.lit(kind.precision_us, pl.Int64)
    digits = text.str.extract(r"[.,](\d{1,6})").str.len_bytes().fill_null(0)
    if kind.format == "epoch":
        whole = _finer(text).log10().round().clip(0, 6).cast(pl.UInt32)
        digits = pl.max_horizontal(digits, whole)
    steps = [_SECOND // 10**count for count in range(7)]
    return digits.replace_strict(
        list(range(7)), steps, return_dtype=pl.Int64, default=1
    )


_ANY_TIME: Final = (
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "epoch",
)


def iso(column: pl.Series) -> pl.Series:
    """Give times as ISO UTC, whatever their spelling: ISO, naive, epoch s or ms."""
    ts = read(column, _ANY_TIME).get_column("ts")
    return ts.dt.to_string("%Y-%m-%dT%H:%M:%S%.6fZ").alias(column.name)


# ---------------------------------------------------------------- years and zones


def since_start(ts: pl.Expr, zoned: pl.Expr) -> pl.Expr:
    """Tell which stamps count from a start: they stand for 1970, and no zone mends them."""
    return ~zoned & (ts.dt.epoch("us") < _FIRST_YEAR_US)


@dataclass(slots=True)
class Year:
    """The running year of a stream whose stamps have none; None until known."""

    year: int
    last_us: int | None = None


def with_year(ts: pl.Series, yearless: pl.Series, state: Year) -> pl.Series:
    """Put the year into stamps without one; a jump of half a year turns the year.

    `state` is carried over blocks.
    """
    rows = (yearless & ts.is_not_null()).arg_true()
    if not len(rows):
        return ts
    us = ts.gather(rows).cast(pl.Int64)
    before = us.shift(1, fill_value=us[0] if state.last_us is None else state.last_us)
    step = us - before
    turns = (step < -_HALF_YEAR_US).cast(pl.Int32) - (step > _HALF_YEAR_US).cast(
        pl.Int32
    )
    years = turns.cum_sum() + (state.year - BASE_YEAR)
    state.last_us = us[-1]
    state.year = int(years[-1]) + BASE_YEAR
    moved = pl.DataFrame({"t": ts.gather(rows), "y": years}).select(
        pl.col("t").dt.offset_by(
            pl.concat_str(pl.col("y").cast(pl.String), pl.lit("y"))
        )
    )
    return ts.clone().scatter(rows, moved.to_series())


def nearest_year(ts: pl.Expr, outer: pl.Expr) -> pl.Expr:
    """Give a stamp of the base year the year that brings it closest to an outer stamp."""
    moved = [
        ts.dt.offset_by(
            pl.concat_str(
                (outer.dt.year() - BASE_YEAR + step).cast(pl.String), pl.lit("y")
            )
        )
        for step in (-1, 0, 1)
    ]
    distances = [(one - outer).dt.total_microseconds().abs() for one in moved]
    nearest = pl.min_horizontal(distances)
    return (
        pl.when(distances[1] == nearest)
        .then(moved[1])
        .when(distances[0] == nearest)
        .then(moved[0])
        .otherwise(moved[2])
    )


def zone_us(naive: pl.Series, outer: pl.Series) -> int | None:
    """Give what to add to naive stamps to get UTC, from outer stamps of the same lines.

    The commonest multiple of 15 minutes; None without a pair.
    """
    pairs = pl.DataFrame({"naive": naive, "outer": outer}).drop_nulls()
    if not len(pairs):
        return None
    quarters = pairs.select(
        ((pl.col("outer") - pl.col("naive")).dt.total_microseconds() / _QUARTER_US)
        .round()
        .cast(pl.Int64)
        .alias("q")
    )
    counts = (
        quarters.group_by("q")
        .len()
        .sort("len", pl.col("q").abs(), "q", descending=[True, False, False])
    )
    return int(counts.item(0, "q")) * _QUARTER_US
