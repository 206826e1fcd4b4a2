"""What the first stamps of a file tell: its year, its zone, and whether it runs back."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import polars as pl

from faultlayer import rows, scoring, stamps
from faultlayer.formats import Format
from faultlayer.take import all_rows, take

_BACKWARD: Final = 0.9  # share of the steps between stamps that lead back
_NEAR_US: Final = 60_000_000  # how far stamps of lines beside one another may be apart
_MOST: Final = 0.8  # share of the lines that are as near


def of_wrapper(logical: pl.DataFrame) -> tuple[datetime, bool] | None:
    """Give the first stamp that a wrapper has, and whether it has a year."""
    outer = logical.filter("outer_zoned").get_column("outer")
    if len(outer):
        return outer[0], True
    local = logical.drop_nulls("local")
    if len(local):
        return local.item(0, "local"), not local.item(0, "yearless")
    return None


def is_backward(logical: pl.DataFrame) -> bool:
    """Tell whether the newest line is the first, as queries give them."""
    steps = logical.get_column("outer").drop_nulls().diff().dt.total_microseconds()
    back, forth = int((steps < 0).sum()), int((steps > 0).sum())
    return back > 1 and back > _BACKWARD * (back + forth)


def of_lines(
    scores: Sequence[scoring.Score], text: pl.Series
) -> tuple[datetime, bool] | None:
    """Give the first stamp that has a year, or else the first, and whether it has one.

    What counts from a start tells no year.
    """
    first = counted = None
    for score in scores:
        found = _stamps(score.format, text)
        since = stamps.since_start(pl.col("ts"), pl.col("zoned"))
        whole = found.filter(~since)
        dated = whole.filter(~pl.col("yearless"))
        if len(dated):
            return dated.item(0, "ts"), True
        if len(whole) and first is None:
            first = whole.item(0, "ts"), False
        if len(found) and counted is None:
            counted = found.item(0, "ts"), False
    return first or counted


def _stamps(format_: Format, text: pl.Series) -> pl.DataFrame:
    """Give row, ts, zoned, yearless of the lines of a format that have a stamp."""
    hits, _ = take(text, [(format_, format_.patterns)])
    parts = [
        rows.stamps_of(format_, hit.fields).with_columns(
            (all_rows(len(text)) if hit.rows is None else hit.rows).alias("row")
        )
        for hit in hits
    ]
    if not parts:
        return stamps.nothing(0).with_columns(pl.lit(0, pl.UInt32).alias("row"))
    return pl.concat(parts).drop_nulls("ts").sort("row")


def _pairs(score: scoring.Score, part: pl.DataFrame, text: pl.Series) -> pl.DataFrame:
    """Give the stamps of lines, with year, zone and stamp of their wrapper as `outer`."""
    found = _stamps(score.format, text)
    found = found.filter(~stamps.since_start(pl.col("ts"), pl.col("zoned")))
    around = part.select("outer", "outer_zoned", "local", "yearless")
    around = around[found.get_column("row")].rename({"yearless": "outer_yearless"})
    pairs = found.hstack(around).drop_nulls("outer")
    # Of two stamps the one with a year tells that of the other.
    inner, outer = pl.col("ts"), pl.col("outer")
    bare = pl.col("outer_yearless") & ~pl.col("outer_zoned") & ~pl.col("yearless")
    return pairs.with_columns(
        pl.when("yearless")
        .then(stamps.nearest_year(inner, outer))
        .otherwise(inner)
        .alias("ts"),
        pl.when(bare)
        .then(stamps.nearest_year(pl.col("local"), inner))
        .otherwise(outer)
        .alias("outer"),
    )


def local_zone(
    ranked: Mapping[str, list[scoring.Score]],
    parts: Mapping[str, tuple[pl.DataFrame, pl.Series]],
) -> int | None:
    """Give the zone of a wrapper's stamps from those of the lines inside."""
    found = [
        _pairs(scores[0], *parts[stream])
        for stream, scores in ranked.items()
        if scores and not parts[stream][0].get_column("outer_zoned").all()
    ]
    pairs = pl.concat(found) if found else None
    if pairs is None:
        return None
    pairs = pairs.filter(pl.col("zoned") & ~pl.col("outer_zoned"))
    return stamps.zone_us(pairs.get_column("outer"), pairs.get_column("ts"))


def zone(
    ranked: Mapping[str, Sequence[scoring.Score]],
    parts: Mapping[str, tuple[pl.DataFrame, pl.Series]],
    stream: str,
    local_us: int | None,
) -> int | None:
    """Give what to add to naive stamps of a stream to get those of the wrapper.

    Where that has none, those of the other streams around them that write their zone.
    """
    known = timedelta(microseconds=local_us or 0)
    outer = pl.when("outer_zoned").then("outer").otherwise(pl.col("outer") + known)
    # The lines that most are like need not be those with a stamp.
    for score in ranked[stream]:
        pairs = _pairs(score, *parts[stream]).filter(~pl.col("zoned"))
        outers = pairs.select(outer.alias("outer")).to_series()
        found = stamps.zone_us(pairs.get_column("ts"), outers)
        if found is not None:
            return found
    return _zone_beside(ranked, parts, stream)


def _zone_beside(
    ranked: Mapping[str, Sequence[scoring.Score]],
    parts: Mapping[str, tuple[pl.DataFrame, pl.Series]],
    stream: str,
) -> int | None:
    """Give the zone of a stream by the stamps of others that stand before its own."""
    naive = ~pl.col("zoned")
    mine = _placed(ranked[stream][0], *parts[stream]).filter(naive)
    others = [
        _placed(scores[0], *parts[other]).filter(~naive, ~pl.col("yearless"))
        for other, scores in ranked.items()
        if other != stream and scores
    ]
    if not others or mine.is_empty():
        return None
    beside = pl.concat(others).sort("line").select("line", pl.col("ts").alias("outer"))
    pairs = mine.sort("line").join_asof(beside, on="line").drop_nulls("outer")
    inner, outer = pl.col("ts"), pl.col("outer")
    dated = pl.when("yearless").then(stamps.nearest_year(inner, outer)).otherwise(inner)
    pairs = pairs.with_columns(dated.alias("ts"))
    found = stamps.zone_us(pairs.get_column("ts"), pairs.get_column("outer"))
    if not found:
        return None
    apart = (outer - inner).dt.total_microseconds() - found
    near = pairs.select((apart.abs() <= _NEAR_US).mean()).item()
    return found if near >= _MOST else None


def _placed(score: scoring.Score, part: pl.DataFrame, text: pl.Series) -> pl.DataFrame:
    """Give the stamps of lines with the numbers of these."""
    found = _stamps(score.format, text)
    return found.hstack(part.select("line")[found.get_column("row")])
