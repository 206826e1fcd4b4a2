"""Assembles lines to the records of a source and records to event rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from faultlayer import (
    detect,
    enclosed,
    frame,
    interleave,
    layers,
    logical_lines,
    rows,
    told,
    unwrap,
)
from faultlayer.detect import Definitions, Detection
from faultlayer.orders import Orders, Trials
from faultlayer.shape import RECORD
from faultlayer.take import Hit, all_rows, take

_REJECT_CHARS: Final = 400
_PLACE: Final = ("line", "lines", "byte_offset", "byte_length", "outer", "stream")


@dataclass(frozen=True, slots=True)
class Pool:
    """What became of a stretch of lines.

    `events` are in order of their lines, with `text` for signatures.
    """

    events: pl.DataFrame
    rejects: pl.DataFrame
    blank_lines: int
    blank_bytes: int


class Assembly:
    """Turns physical lines into event rows and rejects."""

    def __init__(
        self, detection: Detection, definitions: Definitions, year: int
    ) -> None:
        self._detection = detection
        self._definitions = definitions
        self._unwrapper = unwrap.Unwrapper(detection.around, year, detection.local_us)
        self._wrapped = detection.around is not None
        self._rest: pl.DataFrame | None = None
        self._tables = detect.tables_of(detection, definitions)
        self._orders = Orders(detection, definitions)
        self._place = [pl.col(name) for name in _PLACE]
        if self._wrapped:
            self._place += told.columns()
        self.used: dict[str, int] = {}
        self.repeated = 0  # lines that a shipper sent again

    def pool(self, lines: pl.DataFrame, *, last: bool) -> Pool:
        """Assemble lines; without `last`, what may go on after them is held back."""
        logical = self._unwrapper.add(lines, last=last)
        pool = self._pool(logical, last=last)
        again = self._unwrapper.repeats()
        if not len(again):
            return pool
        self.repeated += len(again)
        reason = pl.lit("sent before: the same place of the same file")
        lost = again.with_columns(
            reason.alias("reason"), pl.col("text").str.head(_REJECT_CHARS)
        )
        rejects = pl.concat([pool.rejects, lost], how="diagonal").sort("line")
        return replace(pool, rejects=rejects)

    def _pool(self, logical: pl.DataFrame, *, last: bool) -> Pool:
        if self._rest is not None:
            logical = pl.concat([self._rest, logical])
            self._rest = None
        logical = self._tables.joined(logical, last=last)
        text = logical.get_column("text")
        found, text = self._take(logical, text)
        hits = [hit for hit in found if not hit.pattern.more]
        framed = any(hit.format.framing != "line" for hit in found)
        framed |= self._tables.joins
        if not framed:
            return self._flat(logical, text, hits)
        record, attached = self._records(logical, text, found, last=last)
        cut = None if last else self._cut(logical, record, attached)
        return self._framed(logical, text, hits, record, attached, cut)

    # ------------------------------------------------------------ lines to patterns

    def _take(
        self, logical: pl.DataFrame, text: pl.Series
    ) -> tuple[list[Hit], pl.Series]:
        """Give the hits and the text, cleaned where no exact pattern took it."""
        exact: list[Hit] = []
        left = None
        if not self._wrapped:
            # nginx writes no control characters: what it wrote needs no cleaning.
            first = [one for one in self._orders.of("").first[:1] if one[0].escapes]
            if first:
                exact, left = take(text, first)
                if not len(left):
                    return exact, text
        text = _cleaned(text, left)
        line = logical.get_column("line")
        if not self._wrapped:
            read = self._tables.rows("", line, text, left)
            return exact + _taken(read, self._orders.of(""), left), text
        hits: list[Hit] = []
        apart = frozenset(self._detection.tables)
        for stream, trials, mine in self._orders.groups(logical, apart):
            read = self._tables.rows(stream, line, text, mine)
            hits += _taken(read, trials, mine)
        return hits, text

    # ------------------------------------------------------------ records

    def _flat(
        self,
        logical: pl.DataFrame,
        text: pl.Series,
        hits: Sequence[Hit],
    ) -> Pool:
        """Every line stands for itself: the common case of access logs."""
        events = interleave.in_order([self._rows(hit, logical, text) for hit in hits])
        if sum(len(hit.fields) for hit in hits) == len(logical):
            return Pool(events, pl.DataFrame(), 0, 0)
        free = pl.repeat(True, len(logical), eager=True, dtype=pl.Boolean)
        for hit in hits:
            if hit.rows is not None:
                free = free.scatter(hit.rows, False)
        left = free.arg_true()
        empty = text[left].str.strip_chars() == ""
        blank = left.filter(empty)
        return Pool(
            events=events,
            rejects=self._rejects(logical, text, left.filter(~empty)),
            blank_lines=int(logical.get_column("lines")[blank].sum()),
            blank_bytes=int(logical.get_column("byte_length")[blank].sum()),
        )

    def _records(
        self,
        logical: pl.DataFrame,
        text: pl.Series,
        hits: Sequence[Hit],
        *,
        last: bool,
    ) -> tuple[pl.Series, pl.DataFrame]:
        """Give the record of each logical line, and what framing knew of the lines."""
        size = len(logical)
        known = [_known(hit, size) for hit in hits]
        found = pl.concat([pl.DataFrame(schema=_KNOWN), *known]).sort("row")
        table = pl.DataFrame(
            {
                "row": all_rows(size),
                "line": logical.get_column("line"),
                "stream": logical.get_column("stream"),
                "text": text,
            }
        )
        if len(found) == size:  # each line is taken once: these are all, in order
            table = table.hstack(found.drop("row"))
        else:
            table = table.join(found, on="row", how="left", maintain_order="left")
        table = table.with_columns(
            pl.coalesce("body", "text").alias("body"),
            pl.col("taken", "weak", "single", "more").fill_null(value=False),
        )
        table = enclosed.enclose(table, hits, last=last)
        return frame.records(table), table

    def _cut(
        self, logical: pl.DataFrame, record: pl.Series, table: pl.DataFrame
    ) -> int | None:
        """Give the line from which on the lines have to be seen again."""
        if not len(logical):
            return None
        end = -_lowest(-logical.get_column("line"))
        state = pl.DataFrame(
            {
                "record": record,
                "line": logical.get_column("line"),
                "group": table.select(frame.group_of(table).alias("g")).to_series(),
                "single": table.get_column("single"),
                "whole": logical.get_column("whole"),
            }
        )
        first = []
        torn = state.filter(~pl.col("whole"))
        if len(torn):
            first.append(_lowest(torn.get_column("line")))
        open_ = (
            state.filter(pl.col("record") != frame.BLANK)
            .group_by("group", maintain_order=True)
            .agg(pl.col("record").last(), pl.col("line").last())
            .filter(pl.col("record") >= 0, pl.col("line") > end - frame.REACH)
        )
        heads = state[open_.get_column("record").to_list()]
        heads = heads.filter(~pl.col("single"))
        if len(heads):
            first.append(_lowest(heads.get_column("line")))
        return min(first) if first else None

    def _framed(
        self,
        logical: pl.DataFrame,
        text: pl.Series,
        hits: Sequence[Hit],
        record: pl.Series,
        table: pl.DataFrame,
        cut: int | None,
    ) -> Pool:
        first_line = logical.get_column("line")
        head_line = (
            first_line.gather(
                pl.select(
                    pl.when(record >= 0).then(record).otherwise(all_rows(len(record)))
                ).to_series()
            )
            if len(record)
            else first_line
        )
        kept = (
            head_line < cut
            if cut is not None
            else pl.repeat(True, len(record), eager=True, dtype=pl.Boolean)
        )
        numbers = all_rows(len(record)).cast(pl.Int64)
        is_head = (record == numbers) & kept
        tails = ((record >= 0) & (record != numbers) & kept).arg_true()
        self._rest = logical.filter(~kept) if cut is not None else None
        logical, bodies = frame.join(logical, record, tails, table.get_column("body"))
        parts = []
        for hit in hits:
            at = all_rows(len(record)) if hit.rows is None else hit.rows
            mask = is_head[at]
            if not mask.any():
                continue
            if not mask.all():
                at = at.filter(mask)
                hit = Hit(hit.format, hit.pattern, at, hit.fields.filter(mask))  # noqa: PLW2901
            parts.append(self._rows(hit, logical, text, bodies))
        lost = (record == frame.NOTHING) & kept
        blank = ((record == frame.BLANK) & kept).arg_true()
        return Pool(
            events=interleave.in_order(parts),
            rejects=self._rejects(logical, text, lost.arg_true()),
            blank_lines=int(logical.get_column("lines")[blank].sum()),
            blank_bytes=int(logical.get_column("byte_length")[blank].sum()),
        )

    def _rows(
        self,
        hit: Hit,
        logical: pl.DataFrame,
        text: pl.Series,
        bodies: pl.Series | None = None,
    ) -> pl.DataFrame:
        fields = hit.fields
        if any(one.source == RECORD for one in hit.format.extracts):
            more = None if bodies is None else _at(bodies, hit.rows)
            record = frame.whole(_at(text, hit.rows), more)
            fields = fields.with_columns(record.alias(RECORD))
        built = rows.build(hit.format, hit.pattern, fields)
        name = hit.format.name
        self.used[name] = self.used.get(name, 0) + len(built)
        place = logical.select(self._place)
        if hit.rows is not None:
            place = place[hit.rows]
        if hit.format.general or "*" in hit.pattern.programs:
            streams = place.get_column("stream")
            other = "app" if hit.format.general else hit.format.component
            built = layers.placed(built, streams, self._detection.layers, other)
        if "message" not in built.columns:
            built = built.with_columns(_at(text, hit.rows).alias("message"))
        pieces: list[pl.Expr | pl.Series] = [pl.col("message")]
        trace = None
        if rows.TRACE in built.columns:
            trace = built.get_column(rows.TRACE)
            built = built.drop(rows.TRACE)
        for more in (logical.get_column("rest"), trace, bodies):
            if more is None or more.null_count() == len(more):
                continue
            pieces.append(more if more is trace else _at(more, hit.rows))
        whole: pl.Expr = pl.col("message")
        if len(pieces) > 1:
            whole = pl.concat_str(pieces, separator="\n", ignore_nulls=True)
        # It becomes the message again when signatures have seen it.
        built = built.with_columns(whole.alias("text"), pl.lit(name).alias("_format"))
        built = place.hstack(built.drop("message"))
        return told.merged(built) if self._wrapped else built

    def _rejects(
        self, logical: pl.DataFrame, text: pl.Series, at: pl.Series
    ) -> pl.DataFrame:
        if not len(at):
            return pl.DataFrame()
        names = {
            stream: ", ".join(one.name for one, _ in self._orders.of(stream).first)
            for stream in logical_lines.streams(logical)
        }
        whys = {
            stream: f"no pattern of {known} takes it" if known else "no format takes it"
            for stream, known in names.items()
        }
        part = logical.select("line", "lines", "byte_offset", "byte_length", "stream")[
            at
        ]
        part = part.with_columns(text[at].alias("text"))
        shape = frame.shapes(pl.col("text"))
        return part.select(
            "line",
            "lines",
            "byte_offset",
            "byte_length",
            pl.when(pl.col("text").str.contains("\x00", literal=True))
            .then(pl.lit("NUL bytes"))
            .when(shape.is_in(["I", "X"]))
            .then(pl.lit("goes on with a record that is not here"))
            .otherwise(
                pl.col("stream").replace_strict(
                    list(whys), list(whys.values()), return_dtype=pl.String
                )
            )
            .alias("reason"),
            pl.col("text").str.head(_REJECT_CHARS).alias("text"),
        )


_KNOWN: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "row": pl.UInt32,
    "taken": pl.Boolean,
    "weak": pl.Boolean,
    "single": pl.Boolean,
    "more": pl.Boolean,
    "severity": pl.String,
    "process": pl.String,
    "header": pl.String,
    "body": pl.String,
}


def _known(hit: Hit, size: int) -> pl.DataFrame:
    """Give what framing has to know of the lines of a hit."""
    fields = hit.fields
    none = pl.lit(None, pl.String)
    framed = hit.format.framing != "line"
    exprs = {
        "taken": pl.lit(not hit.pattern.more),
        "weak": pl.lit(hit.pattern.weak),
        "single": pl.lit(hit.pattern.single or not framed),
        "more": pl.lit(hit.pattern.more),
        "severity": rows.severity_of(hit.pattern, fields),
        "process": pl.col("process") if "process" in fields.columns else none,
        "header": pl.col("header") if "header" in fields.columns else none,
        "body": pl.col("message")
        if {"header", "process"} & set(fields.columns)
        else none,
    }
    at = all_rows(size) if hit.rows is None else hit.rows
    return fields.select(
        at.alias("row"), *(expr.alias(name) for name, expr in exprs.items())
    )


def _taken(text: pl.Series, trials: Trials, mine: pl.Series | None) -> list[Hit]:
    """Give the hits of these lines, by detected formats before all others."""
    hits, left = take(text, trials.first, mine)
    if len(left):
        # What no expected format took may be of a program that began to write later.
        rest = text[left].to_frame("b")
        shape = frame.shapes(pl.col("b"))
        plausible = rest.select(~shape.is_in(["B", "I", "X"])).to_series()
        more, unknown = take(text, trials.others, left.filter(plausible))
        hits += more
        if trials.any_program:
            left = pl.concat([left.filter(~plausible), unknown]).sort()
            hits += take(text, trials.any_program, left)[0]
    return hits


def _cleaned(text: pl.Series, left: pl.Series | None) -> pl.Series:
    """Clean the text, of these lines only where they are given."""
    if left is None:
        return detect.clean(text)
    some = text[left]
    cleaned = detect.clean(some)
    return text if cleaned is some else text.clone().scatter(left, cleaned)


def _at(column: pl.Series, rows: pl.Series | None) -> pl.Series:
    return column if rows is None else column[rows]


def _lowest(numbers: pl.Series) -> int:
    return int(numbers.sort()[0])
