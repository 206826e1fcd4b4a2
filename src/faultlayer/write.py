"""Writes tables to Parquet in row groups of one size."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from faultlayer.schema import Column

#: Rows of a group: enough for compression, few enough that memory stays small.
GROUP: Final = 131_072
# Values that hardly repeat: a dictionary of them costs time and saves nothing. Each has
# the encoding that costs least, which is also the smallest.
_RISING: Final = "DELTA_BINARY_PACKED"  # they rise, or nearly repeat
_ENCODINGS: Final = {
    "event_id": _RISING,
    "line": _RISING,
    "byte_offset": _RISING,
    "byte_length": _RISING,
    "bytes_sent": _RISING,
    "request_id": "DELTA_LENGTH_BYTE_ARRAY",
    "raw_request_id": "DELTA_LENGTH_BYTE_ARRAY",
    "duration_ms": "BYTE_STREAM_SPLIT",
    "upstream_header_ms": "BYTE_STREAM_SPLIT",
    "upstream_response_ms": "BYTE_STREAM_SPLIT",
    "text": "PLAIN",
}
# Nobody asks for a range of them: the least and the greatest cost more than they help.
_UNSORTED: Final = frozenset(
    {
        "byte_length",
        "byte_offset",
        "ts_precision_us",
        "duration_ms",
        "upstream_connect_ms",
        "upstream_header_ms",
        "upstream_response_ms",
        "upstream_hops",
        "quota_amount",
        "client",
        "bytes_sent",
        "user_agent",
        "message",
        "attrs",
        "text",
        # Look-ups have the bloom filter; most ids have no order.
        "request_id",
    }
)
# Never null: nothing is said of that row by row.
_CERTAIN: Final = frozenset(
    {"event_id", "source_id", "line", "lines", "byte_offset", "byte_length"}
)
# Mostly one value, or few: their pages are tiny, and a compressor for each costs more
# than it saves.
_REPEATED: Final = frozenset(
    {
        "source_id",
        "lines",
        "ts_precision_us",
        "borrowed",
        "ts_outer",
        "host",
        "origin",
        "output",
        "layer",
        "component",
        "kind",
        "kinds",
        "severity",
        "raw_request_id",
        "id_parts",
        "engine",
        "plugin",
        "pool",
        "project_id",
        "tenant_id",
        "model",
        "status",
        "upstream_connect_ms",
        "upstream_hops",
        "forwarded",
        "upstream_addr",
        "reason",
    }
)
_LEVEL: Final = 1  # of zstd
_POLARS: Final[Mapping[pa.DataType, pl.DataType | type[pl.DataType]]] = {
    pa.string(): pl.String,
    pa.int32(): pl.Int32,
    pa.int64(): pl.Int64,
    pa.float64(): pl.Float64,
    pa.bool_(): pl.Boolean,
    pa.timestamp("us"): pl.Datetime("us"),
    pa.list_(pa.string()): pl.List(pl.String),
}


class Writer:
    """One Parquet file of a table of `schema`; missing columns are null.

    The bytes depend on the rows alone, not on the handfuls that they come in.
    """

    def __init__(
        self, path: Path, columns: tuple[Column, ...], bloom: str | None = None
    ) -> None:
        self._schema = {column.name: _POLARS[column.type] for column in columns}
        empty = self._arrow(pl.DataFrame(schema=self._schema)).schema
        self._arrow_schema = pa.schema(
            [one.with_nullable(one.name not in _CERTAIN) for one in empty]
        )
        names = list(self._schema)
        paths = {one.name: leaf(one) for one in self._arrow_schema}
        # The types of memory (string views) are not those of the file: not stored.
        self._writer = pq.ParquetWriter(
            path,
            self._arrow_schema,
            compression={
                path: "none" if n in _REPEATED else "zstd" for n, path in paths.items()
            },
            compression_level={
                path: _LEVEL for n, path in paths.items() if n not in _REPEATED
            },
            # The stubs know a flag only; a list of columns is as good.
            use_dictionary=[path for n, path in paths.items() if n not in _ENCODINGS],  # type: ignore[arg-type]
            column_encoding={n: _ENCODINGS[n] for n in names if n in _ENCODINGS},
            write_statistics=[n for n in names if n not in _UNSORTED],
            bloom_filter_options={bloom: {"ndv": GROUP, "fpp": 0.01}}
            if bloom
            else None,
            store_schema=False,
        )
        self._given: list[
            str
        ] = []  # columns of the last rows, and what is made of them
        self._wanted: list[pl.Expr] = []
        self._rows: list[pl.DataFrame] = []
        self._held = 0
        self.count = 0

    @staticmethod
    def _arrow(frame: pl.DataFrame) -> pa.Table:
        return frame.to_arrow(compat_level=pl.CompatLevel.newest())

    def add(self, rows: pl.DataFrame) -> None:
        """Add rows; whole groups are written at once."""
        if not len(rows):
            return
        if rows.columns != self._given:
            self._given = rows.columns
            self._wanted = [
                pl.col(name) if name in self._given else pl.lit(None, dtype).alias(name)
                for name, dtype in self._schema.items()
            ]
        rows = rows.select(self._wanted)
        self._rows.append(rows)
        self._held += len(rows)
        self.count += len(rows)
        if self._held >= GROUP:
            self._write(self._held // GROUP * GROUP)

    def _write(self, size: int) -> None:
        table = pl.concat(self._rows)
        for start in range(0, size, GROUP):
            # One piece of each column: the bytes must not depend on how the rows came.
            part = table.slice(start, min(GROUP, size - start)).rechunk()
            columns = self._arrow(part).columns
            self._writer.write_table(
                pa.Table.from_arrays(columns, schema=self._arrow_schema),
                row_group_size=GROUP,
            )
        rest = table.slice(size)
        self._rows = [rest] if len(rest) else []
        self._held = len(rest)

    def close(self) -> None:
        """Write what is held and the footer."""
        if self._held:
            self._write(self._held)
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._writer.close()


def leaf(column: "pa.Field[pa.DataType]") -> str:
    """Give the name under which Parquet has the values of a column."""
    return (
        f"{column.name}.list.element" if pa.types.is_list(column.type) else column.name
    )


def regrouped(reader: pa.RecordBatchReader, size: int) -> Iterator[pa.Table]:
    """Cut a stream of batches into tables of `size` rows and a rest."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in reader:
        held.append(batch)
        rows += batch.num_rows
        while rows >= size:
            table = pa.Table.from_batches(held)
            yield table.slice(0, size)
            rest = table.slice(size)
            held, rows = rest.to_batches(), rest.num_rows
    if rows:
        yield pa.Table.from_batches(held)
