"""Split a block into lines with exact byte positions, whatever the bytes are."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from faultlayer import encodings
from faultlayer.blocks import Block

SCHEMA = {
    "line": pl.Int64,  # from 1
    "byte_offset": pl.Int64,  # in the decoded stream
    "byte_length": pl.Int64,  # with its newline, carriage return and byte order mark
    "text": pl.String,  # without them; a bad byte reads "?"
    "damaged": pl.Boolean,  # it had bytes that are not of the encoding
}

_BOM = "\ufeff"
_NEWLINE = 0x0A
# First bytes of what polars would take for compressed and unpack: x^ and x\x01 are
# zlib headers, so a log line that begins with them would vanish.
_PACKED_STARTS = frozenset(b"\x04\x1f\x28\x42\x50\x78\xfd")


def lines_of(block: Block) -> pl.DataFrame:
    """Give the lines of a block, one row each, with the columns of `SCHEMA`.

    Only a newline ends a line. Lengths always add up to the block, and offsets count
    its bytes as they are: repair of a damaged line never changes its length.
    """
    data = block.data
    if not data:
        return pl.DataFrame(schema=SCHEMA)
    damaged = None
    try:
        text = _split(data)
    except pl.exceptions.ComputeError:  # invalid UTF-8, of which polars reads nothing
        text, damaged, length = _foreign(data, block.encoding, _bom(block))
    else:
        length = _lengths(data, text)
    end = length.cum_sum() + block.offset
    if _bom(block):
        text = pl.concat([text.head(1).str.strip_prefix(_BOM), text.slice(1)])
    return pl.DataFrame(
        {
            "line": pl.int_range(
                block.first_line, block.first_line + len(text), eager=True
            ),
            "byte_offset": end - length,
            "byte_length": length,
            "text": text,
            "damaged": pl.repeat(False, len(text), eager=True, dtype=pl.Boolean)
            if damaged is None
            else damaged,
        }
    )


def _split(data: bytes) -> pl.Series:
    if data[0] in _PACKED_STARTS:
        return pl.read_lines(b"\n" + data, name="text").to_series().slice(1)
    return pl.read_lines(data, name="text").to_series()


def _lengths(data: bytes, text: pl.Series) -> pl.Series:
    """Give the bytes of each line, from the text where this is safe.

    polars drops one carriage return before a newline without a trace. Lengths that add
    up to the block show that there was none, or one in every line.
    """
    if data[-1] == _NEWLINE:
        length = text.str.len_bytes().cast(pl.Int64) + 1
        dropped = len(data) - int(length.sum())
        if dropped == 0:
            return length
        if dropped == len(text):
            return length + 1
    return pl.Series(np.diff(_ends(data), prepend=0))


def _bom(block: Block) -> int:
    """Give how many bytes a byte order mark takes at the start of the stream."""
    mark = _BOM.encode()
    return len(mark) if block.offset == 0 and block.data.startswith(mark) else 0


def _foreign(
    data: bytes, encoding: str, bom: int
) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Give text, damage and bytes of lines of which not all are UTF-8.

    Lines in Chinese are decoded; elsewhere a bad byte reads "?". The first `bom` bytes
    are no text.
    """
    repaired = _repair(data)
    text = _split(repaired)
    damaged = _changed(data, repaired)
    ends = _ends(data)
    length = np.diff(ends, prepend=0)
    rows = damaged.arg_true()
    starts = (ends - length)[rows.to_numpy()].tolist()
    bad = [
        data[max(start, bom) : end].removesuffix(b"\n").removesuffix(b"\r")
        for start, end in zip(starts, ends[rows.to_numpy()].tolist(), strict=True)
    ]
    if encoding == encodings.GB18030:
        whole = encodings.decoded(b"\n".join(bad))
        found = whole.split("\n") if whole else [*map(encodings.decoded, bad)]
    else:
        found = [*map(encodings.in_line, bad)]
    read = pl.Series(found, dtype=pl.String)
    good = read.is_not_null()
    if good.any():
        text = text.scatter(rows.filter(good), read.filter(good))
        if encoding == encodings.GB18030:
            damaged = damaged.scatter(rows.filter(good), False)
    return text, damaged, pl.Series(length)


def _ends(data: bytes) -> NDArray[np.int64]:
    """Give the offset after each line."""
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE) + 1
    if data[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    return ends.astype(np.int64, copy=False)


def _repair(data: bytes) -> bytes:
    """Make a question mark of each byte that is not part of valid UTF-8."""
    return data.decode("utf-8", "surrogateescape").encode("utf-8", "replace")


def _changed(data: bytes, repaired: bytes) -> pl.Series:
    """Tell which lines differ."""
    bad = np.flatnonzero(
        np.frombuffer(data, np.uint8) != np.frombuffer(repaired, np.uint8)
    )
    ends = _ends(data)
    changed = np.zeros(len(ends), dtype=np.bool_)
    changed[np.searchsorted(ends, bad, side="right")] = True
    return pl.Series(changed)
