"""Columns of ids, durations and stamps, made without a Python object a row."""

import numpy as np
import polars as pl
import pyarrow as pa

_DASHES = frozenset({8, 13, 18, 23})


def uuids(dice: np.random.Generator, count: int) -> pl.Series:
    """Give `count` random uuids as text."""
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    text = np.full((count, 36), ord("-"), dtype=np.uint8)
    columns = [i for i in range(36) if i not in _DASHES]
    text[:, columns] = digits[dice.integers(0, 16, (count, 32), dtype=np.uint8)]
    text[:, 14] = ord("4")
    text[:, 19] = digits[dice.integers(8, 12, count, dtype=np.uint8)]
    offsets = np.arange(0, 36 * count + 1, 36, dtype=np.int64)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(text.tobytes())]
    return pl.Series(pa.Array.from_buffers(pa.large_string(), count, buffers))


def seconds(ms: pl.Expr) -> pl.Expr:
    """Write whole milliseconds as seconds with three decimals."""
    fraction = (ms % 1000).cast(pl.String).str.zfill(3)
    return (ms // 1000).cast(pl.String) + "." + fraction


def stamp(us: pl.Expr, form: str) -> pl.Expr:
    """Format microseconds since 1970; `%3f` cuts to milliseconds."""
    return us.cast(pl.Datetime("us")).dt.strftime(form)
