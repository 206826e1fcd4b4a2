"""Finds the lines of records that a line of their own closes, whatever stands between."""

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from faultlayer.frame import REACH
from faultlayer.take import Hit

#: What framing knows of an enclosed line: it goes on, and its text is as it stands.
_PLAIN: Final = {
    "taken": pl.lit(value=False),
    "weak": pl.lit(value=False),
    "single": pl.lit(value=False),
    "more": pl.lit(value=True),
    "severity": pl.lit(None, pl.String),
    "process": pl.lit(None, pl.String),
    "header": pl.lit(None, pl.String),
    "body": pl.col("text"),
}


def enclose(table: pl.DataFrame, hits: Sequence[Hit], *, last: bool) -> pl.DataFrame:
    """Give the table of `frame.records` with `enclosed`, and such lines made to go on.

    Without `last`, a record whose closing line may still come encloses all after it.
    """
    closing = [hit for hit in hits if hit.pattern.until]
    enclosed = pl.repeat(False, len(table), eager=True, dtype=pl.Boolean)
    for hit in closing:
        found = list(_inside(table, hits, hit, last=last))
        if found:
            enclosed = enclosed.scatter(pl.concat(found), True)
    table = table.with_columns(enclosed.alias("enclosed"))
    if not enclosed.any():
        return table
    return table.with_columns(
        pl.when("enclosed").then(value).otherwise(name).alias(name)
        for name, value in _PLAIN.items()
    )


def _inside(
    table: pl.DataFrame, hits: Sequence[Hit], closed: Hit, *, last: bool
) -> Iterator[pl.Series]:
    """Give the positions that each record of a hit encloses, its closing line included."""
    until = f"^(?:{closed.pattern.until})$"
    ends = table.select(pl.col("text").str.contains(until)).to_series()
    # A record of the same program begins outside of it.
    begins = [
        _rows(hit, len(table))
        for hit in hits
        if hit.format is closed.format and hit.pattern.telling
    ]
    heads = pl.concat(begins).unique().sort()
    frame = table.select("row", "line", "stream").with_columns(ends.alias("ends"))
    for row in _rows(closed, len(table)).to_list():
        line, stream = table.item(row, "line"), table.item(row, "stream")
        after = frame.slice(row + 1).filter(
            (pl.col("stream") == stream) & (pl.col("line") <= line + REACH)
        )
        next_head = after.filter(pl.col("row").is_in(heads.implode())).head(1)
        if len(next_head):
            after = after.filter(pl.col("row") < next_head.item(0, "row"))
        end = after.filter("ends").head(1)
        if len(end):
            yield after.filter(pl.col("row") <= end.item(0, "row")).get_column("row")
        elif not last and not len(next_head) and _waits(frame, line):
            yield after.get_column("row")


def _waits(frame: pl.DataFrame, line: int) -> bool:
    return int(frame.item(-1, "line")) <= line + REACH


def _rows(hit: Hit, size: int) -> pl.Series:
    if hit.rows is not None:
        return hit.rows
    return pl.int_range(size, dtype=pl.UInt32, eager=True)
