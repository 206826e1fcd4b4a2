"""Reads tables whose columns a header line names: each row becomes a line of JSON."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

SPLITS: Final = ("spaces", "comma")
# Lines that a quoted value may span; a stray quote costs no more than these.
_LONGEST: Final = 500
# Spreadsheets and databases put these between the values of what they call CSV.
_DELIMITERS: Final = (",", "\t", ";")
# Columns that lines of one row add up in; of all others the first counts.
_JOINED: Final = frozenset({"stream", "lines", "byte_length", "text", "whole"})
_UNIT: Final = re.compile(r"\s*[\[(][^\])]*[\])]$")


@dataclass(frozen=True, slots=True)
class Table:
    """How the rows of a table are written.

    `header`: regex of a line that names the columns; `split`: one of `SPLITS`; `field`:
    regex of one value between spaces; `units`: regex of what is taken off a value's end;
    `prefix`: what stands before the names, which then are whole: `cs(Host)` has no unit.
    """

    header: str
    split: str = "spaces"
    field: str = r"\S+"
    units: str = ""
    prefix: str = ""

    def is_header(self, text: pl.Series) -> pl.Series:
        """Tell which lines name the columns."""
        return text.str.contains(f"^(?:{self.header})$").fill_null(value=False)

    def names(self, header: str) -> tuple[str, ...]:
        """Give the columns that a header names: without units, `a.b` as `a_b`."""
        if self.split == "comma":
            parts = header.split(_delimiter(header))
        else:
            parts = header.removeprefix(self.prefix).lstrip(" #").split()
        found: list[str] = []
        for part in parts:
            whole = part if self.prefix else _UNIT.sub("", part.strip(' "'))
            name = re.sub(r"\W+", "_", whole).strip("_")
            name = name or "column"
            found.append(name if name not in found else f"{name}_{len(found) + 1}")
        return tuple(found)


@dataclass(slots=True)
class Reading:
    """The state of a table between blocks: which header is in force from which line."""

    table: Table
    _lines: list[int] = field(default_factory=list)
    _headers: list[str] = field(default_factory=list)

    def joined(self, lines: pl.DataFrame, *, last: bool) -> pl.DataFrame:
        """Join lines (columns of `unwrap.LINES`) whose quoted values span several.

        Lines of a value that has no end yet have `whole` = False, unless these are the
        last.
        """
        if self.table.split != "comma" or not len(lines):
            return lines
        odd = (pl.col("text").str.count_matches('"', literal=True) % 2).cast(pl.Int64)
        before = (odd.cum_sum() - odd).over("stream") % 2
        starts = lines.select(before == 0).to_series()
        if (
            starts.all()
            and not lines.select((odd.sum().over("stream") % 2).sum()).item()
        ):
            return lines
        part = pl.col("start").cast(pl.Int64).cum_sum().over("stream")
        marked = lines.with_columns(starts.alias("start"), odd.alias("odd"))
        marked = marked.with_columns(part.alias("part"))
        size = pl.len().over("stream", "part")
        closed = (pl.col("odd").sum().over("stream", "part") % 2) == 0
        final = pl.col("part") == pl.col("part").max().over("stream")
        # A quote that nothing closes is text: its lines stand for themselves.
        alone = (size > _LONGEST) | (~closed & (~final | pl.lit(last)))
        marked = marked.with_columns(
            pl.when(alone).then("line").otherwise(-pl.col("part")).alias("piece"),
            (closed | alone).alias("done"),
        )
        return (
            marked.group_by("stream", "piece", maintain_order=True)
            .agg(
                pl.col("lines").sum(),
                pl.col("byte_length").sum(),
                pl.col("text").str.join("\n"),
                (pl.col("whole") & pl.col("done")).all().alias("whole"),
                *(
                    pl.col(name).first()
                    for name in lines.columns
                    if name not in _JOINED
                ),
            )
            .select(lines.columns)
            .sort("line")
        )

    def rows(self, line: pl.Series, text: pl.Series) -> pl.Series:
        """Give each row as a JSON object of texts; what is no row stays as it is.

        `line` are the numbers of the lines, ascending; a block may be given again.
        """
        if not len(text):
            return text
        heads = self.table.is_header(text).arg_true()
        for at, header in zip(
            line.gather(heads).to_list(), text.gather(heads).to_list(), strict=True
        ):
            self._note(at, header)
        if not self._headers:
            return text
        first = [at for at in self._lines if at > line[0]]
        edges = [line[0], *first]
        result = text
        for number, start in enumerate(edges):
            index = bisect_left(self._lines, start + 1) - 1
            if index < 0:
                continue
            mask = line >= start
            if number + 1 < len(edges):
                mask &= line < edges[number + 1]
            result = self._of(self._headers[index], result, mask.arg_true())
        return result

    def _note(self, line: int, header: str) -> None:
        """Keep a header that differs from the one in force at its line."""
        at = bisect_left(self._lines, line)
        if at < len(self._lines) and self._lines[at] == line:
            return
        if at and self._headers[at - 1] == header:
            return
        self._lines.insert(at, line)
        self._headers.insert(at, header)

    def _of(self, header: str, text: pl.Series, at: pl.Series) -> pl.Series:
        table = self.table
        names = table.names(header)
        some = text.gather(at)
        values = _values(table, some, len(names), _delimiter(header))
        good = values.is_not_null() & ~table.is_header(some)
        if not good.any():
            return text
        value = values.filter(good)
        columns = [
            _tidy(value.list.get(n), table).alias(name) for n, name in enumerate(names)
        ]
        json = pl.DataFrame(columns).select(pl.struct(pl.all()).struct.json_encode())
        return text.clone().scatter(at.filter(good), json.to_series())


class Tables:
    """The tables of a source's streams, each with its own headers."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._readings = {stream: Reading(table) for stream, table in tables.items()}

    @property
    def joins(self) -> bool:
        """Whether a row may span lines."""
        return any(one.table.split == "comma" for one in self._readings.values())

    def joined(self, lines: pl.DataFrame, *, last: bool) -> pl.DataFrame:
        """Join the lines of each stream (see `Reading.joined`), in their order."""
        if not self.joins:
            return lines
        streams = lines.partition_by("stream", as_dict=True, maintain_order=True)
        parts = [
            self._readings[stream].joined(part, last=last)
            if (stream := str(key[0])) in self._readings
            else part
            for key, part in streams.items()
        ]
        return pl.concat(parts).sort("line") if parts else lines

    def rows(
        self, stream: str, line: pl.Series, text: pl.Series, at: pl.Series | None
    ) -> pl.Series:
        """Give the lines of a stream (positions, None for all) as `Reading.rows` does."""
        reading = self._readings.get(stream)
        if reading is None:
            return text
        if at is None:
            return reading.rows(line, text)
        return text.clone().scatter(at, reading.rows(line.gather(at), text.gather(at)))


def _delimiter(header: str) -> str:
    """Give what stands between the names of a header, most often."""
    return max(_DELIMITERS, key=header.count)


def _values(table: Table, text: pl.Series, count: int, mark: str) -> pl.Series:
    """Give the values of each row, null where they are not as many as the columns."""
    if table.split == "comma":
        whole = pl.concat_str(pl.lit(mark), "text")
        value = rf'{mark} *(?:"(?:[^"]|"")*"|[^"{mark}][^{mark}]*|)'
        found = whole.str.extract_all(value)
        exact = found.list.join("") == whole
    else:
        found = pl.col("text").str.extract_all(table.field)
        left = pl.col("text").str.replace_all(table.field, "").str.strip_chars()
        exact = (left == "") & ~pl.col("text").str.contains(r"^\s*#")
    good = exact & (found.list.len() == count)
    return text.to_frame("text").select(pl.when(good).then(found)).to_series()


def _tidy(value: pl.Series, table: Table) -> pl.Series:
    one = pl.col("v")
    if table.split == "comma":
        one = one.str.slice(1).str.strip_chars(" ")
        quoted = one.str.starts_with('"')
        inner = one.str.slice(1).str.head(-1).str.replace_all('""', '"', literal=True)
        one = pl.when(quoted).then(inner).otherwise(one)
    if table.units:
        one = one.str.replace(f"(?:{table.units})$", "")
    return value.to_frame("v").select(one).to_series()


def _whole(text: pl.Series, table: Table) -> int:
    """Count the lines that are not part of a value that spans several."""
    if table.split != "comma":
        return len(text)
    odd = text.str.count_matches('"', literal=True) % 2
    before = (odd.cum_sum() - odd) % 2
    return int(((odd == 0) & (before == 0)).sum())


def matching(text: pl.Series, tables: Sequence[tuple[str, Table]]) -> str | None:
    """Give the name of the first table that most of these lines are rows of."""
    line = pl.int_range(1, len(text) + 1, eager=True)
    for name, table in tables:
        heads = int(table.is_header(text).sum())
        if heads:
            rows = Reading(table).rows(line, text)
            changed = int((rows != text).sum())
            if changed and 2 * (changed + heads) > _whole(text, table):
                return name
    return None
