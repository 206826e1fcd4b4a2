"""Takes one wrapper off lines: settles what it tells, joins the parts that were cut."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from faultlayer import stamps
from faultlayer.jsonl import ROW
from faultlayer.logical_lines import LINES, TOLD
from faultlayer.peel import peel
from faultlayer.wrappers import Wrapper

#: Parts of one line stand at most this many lines apart: what is never ended holds
#: nothing back.
REACH: Final = 1000
# Parts of one line that are joined; Docker cuts at 16 KiB, so this is 64 MiB.
_MOST_PARTS: Final = 4096
# Shippers stamp when they read, and that is so much later, us.
_LATE_US: Final = 3_000_000
# Lines within which a shipper is noticed to read the same again.
_MEMORY: Final = 200_000
_ODD: Final = 0x9E3779B97F4A7C15  # so that the parts of a key do not cancel out
_SECOND: Final = 1_000_000
_QUARTER_US: Final = 900 * _SECOND
_SAID: Final = {
    "output": "stream",
    **{name: name for name in ("host", "pid", "program", "request_id")},
}
_SEVERITIES: Final = (
    *("critical", "critical", "critical", "error"),
    *("warning", "info", "info", "debug"),
)

# As rsyslog writes them.
_BOM: Final = "\ufeff"
_CONTROLS: Final = (("#015", ""), ("#012", "\n"), ("#011", "\t"))


@dataclass(frozen=True, slots=True)
class Peel:
    """A wrapper, and what is around the lines inside it, by stream."""

    wrapper: Wrapper
    inside: Mapping[str, "Peel | None"] = field(default_factory=dict)

    def of(self, stream: str) -> "Peel | None":
        """Give what is around a stream; one that came later is like all the others."""
        if stream in self.inside:
            return self.inside[stream]
        found = {one.name if one else "": one for one in self.inside.values()}
        return next(iter(found.values())) if len(found) == 1 else None

    @property
    def name(self) -> str:
        """Name the wrappers from the outside in."""
        inner = dict.fromkeys(one.name for one in self.inside.values() if one)
        return " > ".join((self.wrapper.name, *(["/".join(inner)] if inner else [])))


class Repeats:
    """What a shipper read again after a restart: the same place of the same file."""

    def __init__(self) -> None:
        self._seen: pl.DataFrame | None = None
        self._found: list[pl.DataFrame] = []

    def of(self, rows: pl.DataFrame, raw: pl.Series) -> pl.Series:
        """Tell which rows (with `_offset`) came before, and keep these as they were."""
        place = pl.col("_offset").is_not_null()
        parts = [pl.col(name).hash(1) for name in ("stream", "_offset", "text")]
        key = parts[0] ^ (parts[1] * _ODD) ^ parts[2]
        known = rows.select(pl.when(place).then(key).alias("key"), "line")
        size = len(known)
        if self._seen is not None:
            known = pl.concat([self._seen, known])
        keys = known.get_column("key").drop_nulls()
        again = pl.repeat(False, size, eager=True, dtype=pl.Boolean)
        if keys.n_unique() < len(keys):
            before = pl.col("line") - pl.col("line").shift().over("key")
            near = pl.col("key").is_not_null() & (before <= _MEMORY)
            again = known.select(near.fill_null(value=False)).to_series().tail(size)
        if size:
            end = known.get_column("line")[-1]
            self._seen = known.filter(pl.col("line") > end - _MEMORY)
        if again.any():
            place_of = rows.select("line", "lines", "byte_offset", "byte_length")
            self._found.append(place_of.with_columns(raw.alias("text")).filter(again))
        return again

    def take(self) -> pl.DataFrame:
        """Give the lines that came before, once."""
        found = pl.concat(self._found) if self._found else pl.DataFrame()
        self._found = []
        return found


class Level:
    """One wrapper of one stream, and the levels inside."""

    def __init__(self, around: Peel, repeats: Repeats | None = None) -> None:
        self._around = around
        self._repeats = Repeats() if repeats is None else repeats
        self._wrapper = around.wrapper
        self._held: pl.DataFrame | None = None
        self._before: pl.DataFrame | None = None
        self._inside: dict[str, Level | None] = {}

    def low(self) -> int | None:
        """Give the first line that is held back."""
        lows = [one.low() for one in self._inside.values() if one is not None]
        if self._held is not None:
            lows.append(int(self._held.get_column("line")[0]))
        return min((low for low in lows if low is not None), default=None)

    def add(self, rows: pl.DataFrame, end: int, *, last: bool) -> pl.DataFrame:
        """Give the rows inside these; `end` is the line up to which all came."""
        rows = self._whole(self._peeled(rows), end, last=last)
        rows = self._ended(rows)
        if not self._around.inside:
            return rows
        parts = []
        names = rows.get_column("stream").unique(maintain_order=True).to_list()
        for stream in dict.fromkeys([*names, *self._inside]):
            if stream not in self._inside:
                inner = self._around.of(stream)
                self._inside[stream] = (
                    Level(inner, self._repeats) if inner is not None else None
                )
            part = rows.filter(pl.col("stream") == stream)
            level = self._inside[stream]
            parts.append(part if level is None else level.add(part, end, last=last))
        return pl.concat(parts) if parts else rows

    # ------------------------------------------------------------ one line

    def _peeled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Put what is inside in the place of each row's text."""
        found = peel(rows.get_column("text"), self._wrapper)
        told = self._told(found)
        if len(found) < len(rows):
            index = pl.int_range(len(rows), dtype=pl.Int64, eager=True).alias(ROW)
            told = index.to_frame().join(
                told, on=ROW, how="left", maintain_order="left"
            )
        told = told.drop(ROW).rename(lambda name: f"_{name}")
        both = rows.hstack(told)
        if self._wrapper.carry:
            both = self._carried(both, told.columns)
        if len(found) < len(rows):
            both = both.with_columns(
                pl.coalesce("_text", "text").alias("_text"),
                pl.when(pl.col("_text").is_null() & pl.lit(not self._wrapper.carry))
                .then(pl.lit("?"))
                .otherwise(pl.col("_family") if "_family" in told.columns else None)
                .alias("_family"),
                _flag(told, "_whole").fill_null(value=True).alias("_whole"),
            )
        both = self._settled(both)
        if "_offset" in told.columns:
            both = both.filter(~self._repeats.of(both, rows.get_column("text")))
        return both.select(*LINES, *TOLD)

    def _carried(self, both: pl.DataFrame, told: list[str]) -> pl.DataFrame:
        """Give lines that it is not around what it told of the line before."""
        bare = both.get_column("_text").is_null()
        width = pl.col("text").str.len_chars() - pl.col("_text").str.len_chars()
        known = both.select(*told, width.cast(pl.Int64).alias("_width"))
        if self._before is not None:
            known = pl.concat([self._before, known])
            bare = pl.concat([pl.Series([False]), bare])
        index = pl.int_range(len(known), dtype=pl.Int64, eager=True)
        last = pl.select(pl.when(~bare).then(index)).to_series().forward_fill()
        known = known.select(pl.all().gather(last))
        self._before = known.tail(1)
        if not bare.any():
            return both
        bare, known = bare.tail(len(both)), known.tail(len(both))
        line = both.get_column("text")
        known = known.with_columns(line.alias("_line"))
        # journalctl puts further lines of a message below its first.
        head = pl.col("_line").str.head(pl.col("_width").fill_null(0))
        inner = pl.when(head.str.strip_chars(" ") == "")
        inner_text = inner.then(pl.col("_line").str.slice(head.str.len_chars()))
        known = known.with_columns(inner_text.otherwise("_line").alias("_text"))
        carried = [
            pl.when(bare).then(known.get_column(name)).otherwise(name).alias(name)
            for name in told
            if name != "_whole"
        ]
        return both.with_columns(carried)

    def _told(self, found: pl.DataFrame) -> pl.DataFrame:
        """Give `_row`, text, and what the wrapper tells, with types of `TOLD`."""
        there = found.columns
        exprs: dict[str, pl.Expr] = {ROW: pl.col(ROW), "text": pl.col("text")}
        exprs |= {name: _said(part) for name, part in _SAID.items() if part in there}
        origin = [_said(name) for name in ("program", "path") if name in there]
        if "offset" in there:
            exprs["offset"] = pl.col("offset")
        if origin:
            exprs["origin"] = pl.coalesce(origin)
        if "priority" in there:
            level = pl.col("priority").cast(pl.Int32, strict=False) % 8
            exprs["severity"] = level.replace_strict(
                list(range(8)), list(_SEVERITIES), return_dtype=pl.String, default=None
            )
        names = [_said(name) for name in ("host", "path", "program") if name in there]
        if names:
            family = pl.concat_str(names, separator="|", ignore_nulls=True)
            exprs["family"] = family.replace("", None)
        if self._wrapper.partial != "none":
            exprs["whole"] = self._is_whole()
        told = found.select(**exprs)
        return told.hstack(self._stamps(found)) if "time" in there else told

    def _is_whole(self) -> pl.Expr:
        """Tell whether a part is the last one of its line."""
        if self._wrapper.partial == "no_newline":
            return pl.col("text").str.ends_with("\n")
        open_ = pl.col("tag").str.head(1).str.to_uppercase().is_in(["P", "T"])
        return ~open_.fill_null(value=False)

    def _stamps(self, found: pl.DataFrame) -> list[pl.Series]:
        times = stamps.read(found.get_column("time"), self._wrapper.times)
        full = pl.col("zoned") & ~pl.col("yearless")
        precision = pl.col("precision")
        if not self._wrapper.finer:
            precision = pl.max_horizontal(precision, pl.lit(_LATE_US, pl.Int64))
        return times.select(
            pl.when(full).then("ts").alias("outer"),
            precision.alias("outer_us"),
            pl.when(~full).then("ts").alias("local"),
            "yearless",
        ).get_columns()

    def _settled(self, both: pl.DataFrame) -> pl.DataFrame:
        """Join what this level tells with what those around it told."""
        there = set(both.columns)
        exprs: dict[str, pl.Expr] = {"text": pl.col("_text")}
        for name in (
            "output",
            "host",
            "origin",
            "program",
            "pid",
            "severity",
            "request_id",
        ):
            if f"_{name}" in there:
                exprs[name] = pl.coalesce(f"_{name}", name)
        if "_family" in there:
            exprs["family"] = pl.concat_str(
                "family", "_family", separator="|", ignore_nulls=True
            ).replace("", None)
        if "_whole" in there:
            exprs["whole"] = pl.col("_whole")
        both = both.with_columns(**exprs)
        stream = pl.concat_str("family", "output", separator="|", ignore_nulls=True)
        both = both.with_columns(stream.alias("stream"))
        return self._timed(both) if "_outer" in there else both

    def _timed(self, both: pl.DataFrame) -> pl.DataFrame:
        """Settle the stamps: the inner one counts, the outer one repairs it."""
        if both.get_column("outer").null_count() < len(both):
            both = _repaired(both)
        own = pl.col("_outer").is_not_null() | pl.col("_local").is_not_null()
        return both.with_columns(
            pl.coalesce("_outer", "outer").alias("outer"),
            pl.when(own).then("_outer_us").otherwise("outer_us").alias("outer_us"),
            pl.coalesce("_local", "local").alias("local"),
            pl.when(pl.col("_local").is_not_null())
            .then("_yearless")
            .otherwise("yearless")
            .alias("yearless"),
        )

    # ------------------------------------------------------------ parts

    def _whole(self, rows: pl.DataFrame, end: int, *, last: bool) -> pl.DataFrame:
        """Join the parts of each line, in the order of their first parts."""
        if self._wrapper.partial == "none":
            return rows
        if self._held is not None:
            rows = pl.concat([self._held, rows])
            self._held = None
        if rows.get_column("whole").all():
            return rows
        far = (pl.col("line") - pl.col("line").shift()).over("stream") > REACH
        begins = pl.col("whole").shift(fill_value=True).over("stream")
        begins |= far.fill_null(value=False)
        parts = rows.with_columns(begins.cum_sum().over("stream").alias("part"))
        # A line of more parts than can be held is cut, wherever the blocks end.
        nth = pl.int_range(pl.len()).over("stream", "part") // _MOST_PARTS
        parts = parts.with_columns(nth.alias("piece"))
        sums = {
            "lines": pl.col("lines").sum(),
            "byte_length": pl.col("byte_length").sum(),
        }
        sums["text"] = pl.col("text").str.join("")
        sums["whole"] = pl.col("whole").last() | (pl.len() == _MOST_PARTS)
        first = {
            name: pl.col(name).first() for name in rows.columns if name != "stream"
        }
        joined = parts.group_by("stream", "part", "piece", maintain_order=True).agg(
            pl.col("line").last().alias("last"),
            **(first | sums),
        )
        torn = joined.filter(
            ~pl.col("whole") & (pl.col("last") > end - REACH) & pl.lit(not last)
        )
        joined = joined.select(rows.columns).sort("line")
        if len(torn):
            cut = int(torn.get_column("line").sort()[0])
            start = pl.col("line").first().over("stream", "part", "piece")
            self._held = parts.filter(start >= cut).select(rows.columns)
            joined = joined.filter(pl.col("line") < cut)
        return joined.with_columns(pl.lit(value=True).alias("whole"))

    def _ended(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Take line ends off; what comes after the first line of a text is `rest`."""
        text = pl.col("text")
        # The mark that a file begins with goes along with its first line.
        if rows.get_column("text").str.starts_with(_BOM).any():
            rows = rows.with_columns(text.str.strip_prefix(_BOM))
        if self._wrapper.octal:
            for code, char in _CONTROLS:
                text = text.str.replace_all(code, char, literal=True)
        if self._wrapper.plan is None or self._wrapper.octal:
            rows = rows.with_columns(text.str.strip_suffix("\n").str.strip_suffix("\r"))
            several = rows.get_column("text").str.contains("\n", literal=True)
            if several.any():
                cut = pl.col("text").str.splitn("\n", 2).struct
                rows = rows.with_columns(
                    cut.field("field_0").str.strip_suffix("\r").alias("text"),
                    pl.concat_str(
                        cut.field("field_1"), "rest", separator="\n", ignore_nulls=True
                    )
                    .replace("", None)
                    .alias("rest"),
                )
            return rows
        return rows.with_columns(text.str.strip_suffix("\r"))


def _said(part: str) -> pl.Expr:
    """Give a part, null where it says nothing."""
    return pl.when(~pl.col(part).is_in(["", "-"])).then(part)


def _flag(frame: pl.DataFrame, name: str) -> pl.Expr:
    return pl.col(name) if name in frame.columns else pl.lit(value=True)


def _repaired(both: pl.DataFrame) -> pl.DataFrame:
    """Give stamps without year or zone those of the stamp around them.

    One that is the moment of writing itself is not improved by one of whole seconds.
    """
    local = pl.col("_local")
    dated = pl.when("_yearless").then(stamps.nearest_year(local, pl.col("outer")))
    both = both.with_columns(dated.otherwise(local).alias("_dated"))
    away = (pl.col("outer") - pl.col("_dated")).dt.total_microseconds()
    zone = (away / _QUARTER_US).round().cast(pl.Int64) * _QUARTER_US
    moved = pl.col("_dated") + pl.duration(microseconds=zone)
    can = local.is_not_null() & pl.col("outer").is_not_null()
    late = can & (pl.col("outer_us") >= _SECOND)
    return both.with_columns(
        pl.when(late).then(moved).otherwise("_outer").alias("_outer"),
        pl.when(can).then(None).otherwise("_local").alias("_local"),
    )
