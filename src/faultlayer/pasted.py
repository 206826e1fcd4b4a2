"""Reads what came from a screen: files that tail shows, wrapped lines, a page's HTML."""

import re
from collections import Counter
from typing import Final

import numpy as np
import polars as pl

#: Keys of a line of a file that `tail` showed, by which its wrapper knows it.
NAME: Final = "_tail"
LINE: Final = "line"

_HEADER: Final = r"^==> (.+) <==$"
# Someone's prompt and command may stand above.
_BEGINS: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[^\n]*\n){0,3}?==> [^\n]+ <==\r?\n")
_ANSI: Final = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_NARROWEST: Final = 60
_WIDEST: Final = 400
_SHARE: Final = 0.2  # of the lines that have to end at the edge
_FEW: Final = 3
_START: Final = 8  # characters by which the beginnings of lines are known, runs as one

# What word processors, mail and chat programs make of quotes, spaces and dashes.
_TYPESET: Final = {
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2018\u2019\u201a", "'"),
    **dict.fromkeys("\u00a0\u202f\u2009", " "),
    **dict.fromkeys("\u2013\u2014", "-"),
}
_TYPESET_AT: Final = re.compile("[" + "".join(_TYPESET) + "]")
_TAG: Final = (
    r"(?i)</?(?:!doctype|html|head|body|meta|title|pre|code|samp|div|span|p|br|b|i|em"
    r"|strong|font|a|ul|ol|li|table|tbody|thead|tr|td|th|mark|section)\b[^<>]*>"
)
_ENTITY: Final = re.compile(
    rb"&(?:quot|lt|gt|amp|apos|nbsp|#\d{2,3}|#x[0-9a-fA-F]{2});"
)
_BARE: Final = re.compile(r"[<>\"]")
_NAMED: Final = {
    "&quot;": '"',
    "&lt;": "<",
    "&gt;": ">",
    "&apos;": "'",
    "&nbsp;": " ",
    **{f"&#{code};": chr(code) for code in range(32, 127)},
    **{f"&#0{code};": chr(code) for code in range(32, 100)},
    **{f"&#x{code:x};": chr(code) for code in range(32, 127)},
    **{f"&#x{code:X};": chr(code) for code in range(32, 127)},
}


def is_tail(head: bytes) -> bool:
    """Tell whether one of the first lines is the header of a file, as `tail` prints it."""
    return b"==> " in head and _BEGINS.match(head) is not None


def is_html(head: bytes) -> bool:
    """Tell whether these bytes are text as HTML has it: what has a meaning is escaped."""
    if len(_ENTITY.findall(head)) < _FEW:
        return False
    # The last line may be torn, and so may a tag in it.
    text = head.decode("utf-8", "replace")
    return _BARE.search(re.sub(_TAG, "", text[: text.rfind("\n") + 1 or None])) is None


def width(head: bytes) -> int:
    """Give at how many characters a terminal wrapped these lines, 0 where none did."""
    text = head.decode("utf-8", "replace").rpartition("\n")[0].replace("\r\n", "\n")
    if "\x1b" in text:
        text = re.sub(_ANSI, "", text)
    sizes = Counter(map(len, text.split("\n")))
    longest = max(sizes)
    at_edge = sizes[longest]
    if not _NARROWEST <= longest <= _WIDEST or at_edge < _FEW:
        return 0
    return longest if at_edge > _SHARE * sizes.total() else 0


def is_typeset(head: bytes) -> bool:
    """Tell whether most of these lines have quotes or spaces that no program writes."""
    text = head.decode("utf-8", "replace")
    return 2 * len(_TYPESET_AT.findall(text)) > text.count("\n") + 1


def has_returns(head: bytes) -> bool:
    """Tell whether lines end in a carriage return alone."""
    alone = head.count(b"\r") - head.count(b"\r\n")
    return alone >= _FEW and alone > 4 * head.count(b"\n")


def of_typeset(data: bytes) -> pl.DataFrame:
    """Give the lines with the quotes and spaces of a program, see `documents.SCHEMA`."""
    plain = pl.col("text").str.replace_many(list(_TYPESET), list(_TYPESET.values()))
    return _numbered(_lines(data).with_columns(plain))


def of_returns(data: bytes) -> pl.DataFrame:
    """Give the lines that end in a carriage return, see `documents.SCHEMA`."""
    lines = _lines(data.replace(b"\r", b"\n"))
    ends = lines.get_column("byte_offset") + lines.get_column("byte_length")
    codes = np.frombuffer(data, np.uint8)
    physical = codes[ends.to_numpy() - 1] == ord("\n")
    if len(data) and not data.endswith(b"\n"):
        physical[-1] = True
    count = pl.Series(physical).cast(pl.Int32)
    at = 1 + (count.cum_sum() - count).cast(pl.Int64)
    return _numbered(lines.with_columns(count.alias("lines"), at.alias("at")))


def of_tail(data: bytes) -> pl.DataFrame:
    """Give the lines that `tail` or `head` print of several files.

    One of a file is `{"_tail": its name, "line": it}`. A header is blank, for it says
    nothing by itself, and so is the empty line above it. Columns: `documents.SCHEMA`.
    """
    lines = _lines(data)
    header = pl.col("text").str.extract(_HEADER, 1)
    inside = pl.struct(
        header.forward_fill().alias(NAME), pl.col("text").alias(LINE)
    ).struct.json_encode()
    text = (
        pl.when(header.is_not_null() | (pl.col("text") == ""))
        .then(pl.lit(""))
        .when(header.forward_fill().is_null())
        .then("text")
        .otherwise(inside)
    )
    return _numbered(lines.with_columns(text.alias("text")))


def of_html(data: bytes) -> pl.DataFrame:
    """Give the lines as they were before they became HTML, see `documents.SCHEMA`."""
    text = pl.col("text").str.replace_all(_TAG, "")
    text = text.str.replace_many(list(_NAMED), list(_NAMED.values()))
    text = text.str.replace_all("&amp;", "&", literal=True)
    return _numbered(_lines(data).with_columns(text))


def unwrapped(data: bytes, width: int) -> pl.DataFrame:
    """Give the lines that a terminal of this width had shown, see `documents.SCHEMA`."""
    bare = pl.col("text").str.replace_all(_ANSI, "")
    looks = bare.str.replace_all(r"\d+", "0").str.replace_all(r"\p{L}+", "a")
    lines = _lines(data).with_columns(
        (bare.str.len_chars() != width).shift(fill_value=True).alias("begins"),
        looks.str.head(_START).alias("look"),
    )
    # A line may end at the edge: then the next one looks as others do that begin one.
    known = lines.filter("begins").get_column("look").value_counts()
    usual = known.filter(pl.col("count") > 1).get_column("look")
    # Rows of a table may all be that wide: most lines begin alike, and none goes on.
    alike = lines.get_column("look").value_counts()
    usual = usual.append(
        alike.filter(2 * pl.col("count") > len(lines)).get_column("look")
    )
    begins = pl.col("begins") | pl.col("look").is_in(usual.implode())
    whole = lines.group_by(begins.cum_sum().alias("whole"), maintain_order=True).agg(
        pl.col("lines").sum(),
        pl.col("byte_offset").first(),
        pl.col("byte_length").sum(),
        pl.col("text").str.join(""),
        pl.col("damaged").any(),
        pl.col("at").first(),
    )
    return _numbered(whole)


def _lines(data: bytes) -> pl.DataFrame:
    """Give the lines, one a row, with the columns of `documents.SCHEMA` but `line`."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    if len(data) and not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    length = np.diff(ends, prepend=0)
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
    )
    return found.with_columns(
        pl.col("text").str.strip_suffix("\r"),
        pl.col("text").str.contains("\ufffd", literal=True).alias("damaged"),
        pl.lit(1, pl.Int32).alias("lines"),
        pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("at"),
    )


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("line"),
        *("lines", "byte_offset", "byte_length", "text", "damaged", "at"),
    )
