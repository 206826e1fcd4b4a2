"""Reads the blocks of a source as lines, or as the records of a document."""

from collections.abc import Iterator

import polars as pl

from faultlayer import documents, encodings
from faultlayer.blocks import Block
from faultlayer.documents import Document
from faultlayer.lines import lines_of

_AT_ONCE = 100_000  # records


class Reading:
    """Gives the lines of one block after another; those of a document when it ends."""

    def __init__(self, document: Document | None) -> None:
        self._document = document
        self._held: list[bytes] = []
        self._size = 0
        self._offset = 0
        self._records = 0
        self._encoding = encodings.UTF8
        self._lines = 0

    def of(self, block: Block) -> Iterator[pl.DataFrame]:
        """Give the lines of a block, as `lines_of` or `documents.rows`."""
        if self._document is None:
            yield lines_of(block)
            return
        self._held.append(block.data)
        self._encoding = block.encoding
        self._size += len(block.data)
        if block.last or self._size >= documents.LARGEST:
            yield from self._given(self._document)

    def _given(self, document: Document) -> Iterator[pl.DataFrame]:
        data = b"".join(self._held)
        if document.kind == documents.LINES:
            rows = _records(
                lines_of(Block(data, 0, 1, last=True, encoding=self._encoding))
            )
        else:
            rows = documents.rows(data, document)
        if document.backward:
            rows = rows.with_columns(pl.exclude("line").reverse())
        rows = rows.with_columns(
            pl.col("line") + self._records,
            pl.col("byte_offset") + self._offset,
            pl.col("at") + self._lines,
        )
        self._offset += len(data)
        self._records += len(rows)
        self._lines += data.count(b"\n")
        self._held, self._size = [], 0
        yield from rows.iter_slices(_AT_ONCE)


def _records(lines: pl.DataFrame) -> pl.DataFrame:
    """Give lines the columns of `documents.SCHEMA`."""
    return lines.with_columns(
        pl.lit(1, pl.Int32).alias("lines"), pl.col("line").alias("at")
    ).select(*documents.SCHEMA)
