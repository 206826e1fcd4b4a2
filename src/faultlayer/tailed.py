"""Reads what `tail` and `head` print of several files: a header before each one's lines."""

import re
from typing import Final

import numpy as np
import polars as pl

#: Keys of a line of a file, by which the wrapper `tail` knows it.
NAME: Final = "_tail"
LINE: Final = "line"

_HEADER: Final = r"^==> (.+) <==\r?$"
# Someone's prompt and command may stand above.
_BEGINS: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[^\n]*\n){0,3}?==> [^\n]+ <==\r?\n")


def begins(head: bytes) -> bool:
    """Tell whether one of the first lines is the header of a file."""
    return b"==> " in head and _BEGINS.match(head) is not None


def rows(data: bytes, *, whole: bool = True) -> pl.DataFrame:
    """Give the lines, with the columns of `documents.SCHEMA`.

    One of a file is `{"_tail": its name, "line": it}`. A header is blank, for it says
    nothing by itself, and so is the empty line above it. Without `whole` the last line
    may be torn, and is left out.
    """
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    if whole and len(data) and not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    length = np.diff(ends, prepend=0)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    found = pl.DataFrame(
        {
            "byte_offset": ends - length,
            "byte_length": length,
            "text": text[: len(ends)],
        },
        schema={
            "byte_offset": pl.Int64,
            "byte_length": pl.Int64,
            "text": pl.String,
        },
    ).with_columns(pl.col("text").str.strip_suffix("\r"))
    header = pl.col("text").str.extract(_HEADER, 1)
    inside = pl.struct(
        header.forward_fill().alias(NAME), pl.col("text").alias(LINE)
    ).struct.json_encode()
    number = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    blank = header.is_not_null() | (pl.col("text") == "")
    return found.select(
        number.alias("line"),
        pl.lit(1, pl.Int32).alias("lines"),
        "byte_offset",
        "byte_length",
        pl.when(blank)
        .then(pl.lit(""))
        .when(header.forward_fill().is_null())
        .then("text")
        .otherwise(inside)
        .alias("text"),
        pl.col("text").str.contains("\ufffd", literal=True).alias("damaged"),
        number.alias("at"),
    )
