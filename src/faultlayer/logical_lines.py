"""The columns of logical lines: one row per line of the program inside any wrapper."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

#: Columns of all lines, wrapped or not.
LINES: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "line": pl.Int64,
    "lines": pl.Int32,
    "byte_offset": pl.Int64,
    "byte_length": pl.Int64,
    "text": pl.String,
    "rest": pl.String,
    "outer": pl.Datetime("us"),
    "stream": pl.String,
    "whole": pl.Boolean,
}
#: Further columns of wrapped lines: `family` is the stream without stdout and stderr,
#: `outer_us` the precision of `outer` and `outer_zoned` whether it is UTC; `local` a
#: stamp of which zone or year is not known.
TOLD: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "family": pl.String,
    "output": pl.String,
    "host": pl.String,
    "origin": pl.String,
    "program": pl.String,
    "pid": pl.String,
    "severity": pl.String,
    "request_id": pl.String,
    "outer_us": pl.Int64,
    "outer_zoned": pl.Boolean,
    "local": pl.Datetime("us"),
    "yearless": pl.Boolean,
}


def plain(lines: pl.DataFrame) -> pl.DataFrame:
    """Give physical lines the columns of `LINES`: nothing is around them."""
    one = pl.col("lines") if "lines" in lines.columns else pl.lit(1, pl.Int32)
    return lines.select(
        "line",
        one.alias("lines"),
        "byte_offset",
        "byte_length",
        "text",
        pl.lit(None, pl.String).alias("rest"),
        pl.lit(None, pl.Datetime("us")).alias("outer"),
        pl.lit("", pl.String).alias("stream"),
        pl.lit(value=True).alias("whole"),
    )


def untold(lines: pl.DataFrame) -> pl.DataFrame:
    """Give physical lines the columns of `LINES` and `TOLD`: nothing is known yet."""
    told = [pl.lit(None, dtype).alias(name) for name, dtype in TOLD.items()]
    return plain(lines).with_columns(told)


def streams(lines: pl.DataFrame) -> Sequence[str]:
    """Give the streams of lines, sorted."""
    return sorted(lines.get_column("stream").unique().to_list())
