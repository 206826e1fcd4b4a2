"""Takes records out of the files of a source, and leaves one reject in their place."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow.parquet as pq

from faultlayer import schema
from faultlayer.parse import SourceResult
from faultlayer.wording import TWICE
from faultlayer.write import Writer

_TEXT_CHARS: Final = 400


def parts(
    path: Path,
    columns: Sequence[str],
    within: str = "",
    span: tuple[Any, Any] | None = None,
) -> Iterator[pl.DataFrame]:
    """Give the rows of a Parquet file in parts, at least one.

    With `span` only those in which the column `within` is in it.
    """
    file = pq.ParquetFile(path)
    empty = pl.DataFrame(file.schema_arrow.empty_table()).select(columns)
    yield empty
    index = file.schema_arrow.get_field_index(within)
    for number in range(file.num_row_groups):
        if span is not None:
            known: Any = file.metadata.row_group(number).column(index).statistics
            if known and (known.min > span[1] or known.max < span[0]):
                continue
        part = pl.DataFrame(file.read_row_group(number, list(columns)))
        part = part.cast(empty.schema)
        if span is not None:
            part = part.filter(pl.col(within).is_between(*span))
        yield part


def take(
    source: SourceResult, last: int, where: str, events: Path, rejects: Path
) -> None:
    """Put one reject that says where they are counted in the place of records.

    Taken are those that begin up to the byte `last`; files and row of the source change.
    """
    found = _placed(events, "message", last), _placed(rejects, "text", last)
    gone = pl.concat(chain.from_iterable(found)).sort("byte_offset")
    instead = gone.select(
        pl.lit(source.source_id, pl.Int64).alias("source_id"),
        pl.col("line").first(),
        pl.col("lines").sum().cast(pl.Int32),
        pl.col("byte_offset").min(),
        pl.col("byte_length").sum(),
        pl.lit(f"counted {where}").alias("reason"),
        pl.col("text").first().str.head(_TEXT_CHARS),
    )
    before = source.records
    share = "all" if len(gone) == before else f"{len(gone)} of"
    source.events = _without(events, schema.EVENTS_RAW, last)
    source.rejects = _without(rejects, schema.REJECTS, last, instead)
    source.records = source.events + source.rejects
    source.problems.append(f"{TWICE}: {share} its {before} records are counted {where}")


def _placed(path: Path, text: str, last: int) -> Iterator[pl.DataFrame]:
    columns = ("line", "lines", "byte_offset", "byte_length", text)
    for part in parts(path, columns, "byte_offset", (0, last)):
        yield part.with_columns(pl.col(text).str.head(_TEXT_CHARS)).rename(
            {text: "text"}
        )


def _without(
    path: Path,
    columns: tuple[schema.Column, ...],
    last: int,
    instead: pl.DataFrame | None = None,
) -> int:
    """Write a file anew without records up to a byte; give how many it has now."""
    bloom = "request_id" if instead is None else None
    spare = path.with_suffix(".new")
    with Writer(spare, columns, bloom) as writer:
        if instead is not None:
            writer.add(instead)
        for part in parts(path, [column.name for column in columns]):
            writer.add(part.filter(pl.col("byte_offset") > last))
    spare.replace(path)
    return writer.count
