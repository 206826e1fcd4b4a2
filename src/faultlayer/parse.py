"""Parses a source block by block into events and rejects that account for every byte."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

import polars as pl

from faultlayer import (
    frame,
    interleave,
    layers,
    normalise,
    reasons,
    rows,
    schema,
    sent_to,
    signatures,
)
from faultlayer.assemble import Assembly
from faultlayer.blocks import open_source
from faultlayer.detect import Definitions, Detection, sniff
from faultlayer.find import Source
from faultlayer.lines import SCHEMA
from faultlayer.loaded import load_definitions
from faultlayer.reading import Reading
from faultlayer.timeline import Timeline
from faultlayer.whole import Whole
from faultlayer.write import Writer

__all__ = [
    "Definitions",
    "Detection",
    "ParseOptions",
    "SourceResult",
    "load_definitions",
    "parse_source",
    "sniff",
]

_BLOCK: Final = 16 << 20
_BLOCK_JOINED: Final = 8 << 20
#: Lines of a source have ids from so many times its number on.
IDS_PER_SOURCE: Final = 10**10
_YEAR: Final = 2000
_FEW: Final = 8
_NO_LINES: Final = pl.DataFrame(schema=SCHEMA)
_NO_EVENTS: Final = pl.DataFrame()
# Folders that say which layer a log is of, not which engine.
NO_ENGINES: Final = frozenset(
    {"", "-", "model", "models", "logs", "log", "vllm", "engine", "engines", "host"}
)


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """`year`: of stamps that have none; `engines`: a pattern of `sent_to`."""

    year: int | None = None
    engines: str | None = None


@dataclass(slots=True)
class SourceResult:
    """The row of `schema.SOURCES` for a parsed source, without `clock_id`.

    Not in the row: whether the file was `damaged`, whether any record was looked through
    for the names of engines, and whether an earlier run had read it.
    """

    source_id: int
    path: str
    member: str | None
    sha256: str = ""
    file_bytes: int = 0
    bytes: int = 0
    lines: int = 0
    records: int = 0
    events: int = 0
    rejects: int = 0
    blank_lines: int = 0
    blank_bytes: int = 0
    damaged_lines: int = 0
    encoding: str | None = None
    format: str | None = None
    wrapper: str | None = None
    layer: str | None = None
    component: str | None = None
    host: str | None = None
    log_set: str = ""
    zoned: bool | None = None
    precision_us: int | None = None
    first_ts: datetime | None = None
    last_ts: datetime | None = None
    reason: str = ""
    problems: list[str] = field(default_factory=list)
    damaged: bool = False
    asked_engines: bool = False
    taken_over: bool = False

    def row(self) -> dict[str, Any]:
        """Give the columns by name."""
        row = asdict(self)
        del row["damaged"], row["asked_engines"], row["taken_over"]
        return row


class Sink(Protocol):
    """Takes finished rows."""

    def add(self, rows: pl.DataFrame) -> None:
        """Take rows, in the order of the source."""
        ...


def parse_source(
    source: Source,
    detection: Detection,
    definitions: Definitions,
    options: ParseOptions,
    events_path: Path,
    rejects_path: Path,
    *,
    block_bytes: int | None = None,
    tell: Callable[[int], None] | None = None,
) -> SourceResult:
    """Parse a source into two Parquet files and give its row of `sources`.

    `tell` is called after every block with the stored bytes newly read, all in all the
    size of the file; what it raises ends the parse, and both files are of no use then.

    Memory holds a few blocks (of `block_bytes`, as much as is good for what the source is)
    and a row group, whatever the size of the source. Raises
    `SourceError` when the source cannot be read.
    """
    with (
        Writer(events_path, schema.EVENTS_RAW, "request_id") as events,
        Writer(rejects_path, schema.REJECTS) as rejects,
    ):
        run = Run(source, detection, definitions, options, events, rejects)
        size = block_bytes or _block_bytes(detection, definitions)
        with open_source(source, size) as opened:
            told = 0
            reading = Reading(detection.document)
            for block in opened:
                for lines in reading.of(block):
                    run.add(lines)
                if tell is not None:
                    read = opened.stored_bytes
                    tell(read - told)
                    told = read
            run.finish()
            if tell is not None and opened.file_bytes > told:
                tell(opened.file_bytes - told)
            result = run.result
            result.sha256 = opened.sha256
            result.file_bytes = opened.file_bytes
            result.bytes = opened.bytes
            result.encoding = opened.encoding
            result.problems += opened.problems
            result.damaged = bool(opened.problems)
    result.events = events.count
    result.rejects = rejects.count
    result.records = result.events + result.rejects
    return result


def _block_bytes(detection: Detection, definitions: Definitions) -> int:
    """Give the bytes of a block: what is joined to records needs more memory a line."""
    names = {name for names in detection.formats.values() for name in names}
    plain = all(definitions.format(name).framing == "line" for name in names)
    return _BLOCK if plain and detection.around is None else _BLOCK_JOINED


class Run:
    """The state of one source between blocks."""

    def __init__(
        self,
        source: Source,
        detection: Detection,
        definitions: Definitions,
        options: ParseOptions,
        events: Sink,
        rejects: Sink,
    ) -> None:
        self._source = source
        self._signatures = definitions.signatures
        self._definitions = definitions
        self._formats = detection.formats
        self._several_engines = len(detection.engine_hosts) > 1
        self._layers = detection.layers
        self._engines = options.engines
        self._events = events
        self._rejects = rejects
        self._assembly = (
            Whole(detection.reason)
            if detection.no_log
            else Assembly(detection, definitions, options.year or _YEAR)
        )
        self._timeline = Timeline(options.year or _YEAR, detection.zones)
        self._precisions: dict[int, int] = {}
        self._at: list[pl.Series] = []
        self.result = SourceResult(
            source_id=source.source_id,
            path=source.path,
            member=source.member,
            wrapper=detection.wrapper,
            host=detection.host or source.label or None,
            log_set=source.set_name,
            reason=detection.reason,
        )

    def add(self, lines: pl.DataFrame) -> None:
        """Parse the lines of a block."""
        result = self.result
        if "at" in lines.columns:
            self._at.append(lines.get_column("at"))
            result.lines += int(lines.get_column("lines").sum())
        else:
            result.lines += len(lines)
        result.damaged_lines += int(lines.get_column("damaged").sum())
        self._pool(lines, last=False)

    def finish(self) -> None:
        """Parse what was held back, and settle what the whole source tells."""
        self._pool(_NO_LINES, last=True)
        result, used = self.result, self._assembly.used
        if repeated := self._assembly.repeated:
            result.problems.append(
                f"{repeated} lines that the shipper sent twice are counted once"
            )
        result.zoned = self._timeline.zoned
        if self._precisions:
            most = max(self._precisions.values())
            result.precision_us = min(
                key for key, count in self._precisions.items() if count == most
            )
        if used:
            expected = [name for names in self._formats.values() for name in names]
            names = [name for name in dict.fromkeys(expected) if name in used]
            names += sorted(set(used).difference(names))
            result.format = ", ".join(names)
            known = [self._definitions.format(name) for name in names]
            # The program that the file is of, not what stands beside its lines.
            format_ = max(
                known,
                key=lambda one: (not (one.general or one.companion), used[one.name]),
            )
            result.layer, result.component = format_.layer, format_.component
            if format_.general or (self._layers and format_.layer == "host"):
                result.layer, result.component = layers.main(self._layers)

    def _pool(self, lines: pl.DataFrame, *, last: bool) -> None:
        pool = self._assembly.pool(lines, last=last)
        self.result.blank_lines += pool.blank_lines
        self.result.blank_bytes += pool.blank_bytes
        if len(pool.rejects):
            rejects = self._placed(pool.rejects)
            number = pl.lit(self._source.source_id, pl.Int64).alias("source_id")
            self._rejects.add(rejects.with_columns(number))
        events = self._named(pool.events) if len(pool.events) else _NO_EVENTS
        events = self._timeline.add(events, last=last)
        if len(events):
            self._write(events)

    def _named(self, events: pl.DataFrame) -> pl.DataFrame:
        """Add what the messages mean, and bring their ids to one spelling."""
        events = _with_columns(events)
        unnamed = events.get_column("kind").is_null()
        if self._signatures is not None and unnamed.any():
            at = unnamed.arg_true()
            # Of many, taking them out and putting them back costs more than it spares.
            few = _FEW * len(at) < len(events)
            tried = events[at] if few else events
            named = signatures.name_kinds(tried, self._signatures)
            named = _canonical(named, self._definitions, None if few else unnamed)
            events = interleave.replaced(events, at, named) if few else named
        if self._signatures is not None and rows.REASON in events.columns:
            events = reasons.name(events, self._signatures)
        events = self._with_engine(events)
        asked = sent_to.asked(events)
        if len(asked):
            self.result.asked_engines = True
            events = sent_to.named(events, asked, self._engines)
        text = frame.shortened(events.get_column("text"))
        events = events.with_columns(text.alias("message")).drop("text", "_format")
        if events.get_column("kind").null_count():
            events = events.with_columns(pl.col("kind").fill_null("other"))
        return events

    def _with_engine(self, events: pl.DataFrame) -> pl.DataFrame:
        """Name the engine of model records by the path, or by the pod of several."""
        label = self._source.label
        names = [] if label in NO_ENGINES else [pl.lit(label)]
        if self._several_engines and "host" in events.columns:
            names.insert(0, pl.col("host"))
        model = pl.col("layer") == "model"
        if not names or not events.select(model.any()).item():
            return events
        here = model & ~pl.col("component").is_in(["kernel", "gpu"])
        engine = pl.coalesce("engine", pl.when(here).then(pl.coalesce(names)))
        return events.with_columns(engine.alias("engine"))

    def _write(self, events: pl.DataFrame) -> None:
        result = self.result
        own = pl.col("ts_raw").filter(~pl.col("borrowed"))
        low, high = events.select(own.min().alias("low"), own.max().alias("high")).row(
            0
        )
        if low is not None:
            result.first_ts = min(low, result.first_ts or low)
            result.last_ts = max(high, result.last_ts or high)
            stamped = ~pl.col("borrowed") & pl.col("ts_raw").is_not_null()
            precisions = events.select(
                pl.col("ts_precision_us").filter(stamped)
            ).to_series()
            for precision, count in precisions.value_counts().iter_rows():
                self._precisions[precision] = self._precisions.get(precision, 0) + count
        source_id = self._source.source_id
        events = events.with_columns(
            (pl.col("line") + source_id * IDS_PER_SOURCE).alias("event_id"),
            pl.lit(source_id, pl.Int64).alias("source_id"),
            pl.col("outer").alias("ts_outer"),
        )
        self._events.add(self._placed(events))

    def _placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Give rows of a document the physical lines that they begin in."""
        if not self._at:
            return rows
        number = rows.get_column("line") - 1
        return rows.with_columns(pl.concat(self._at)[number].alias("line"))


_LISTS: Final = frozenset({"kinds", "id_parts"})
_COLUMNS: Final = {
    name: pl.lit(None, pl.List(pl.String) if name in _LISTS else pl.String).alias(name)
    for name in (
        "kind",
        "kinds",
        "severity",
        "request_id",
        "raw_request_id",
        "id_parts",
        "engine",
        "plugin",
        "pool",
        "attrs",
    )
}


def _with_columns(events: pl.DataFrame) -> pl.DataFrame:
    """Add the columns that signatures fill, where no format did."""
    present = events.columns
    return events.with_columns(
        [empty for name, empty in _COLUMNS.items() if name not in present]
    )


def _canonical(
    named: pl.DataFrame, definitions: Definitions, asked: pl.Series | None
) -> pl.DataFrame:
    """Bring ids that signatures captured to the canonical spelling.

    `asked` are the rows that signatures were tried on, None for all.
    """
    engines = [one.name for one in definitions.formats if one.engine_ids]
    fresh = named.select(
        pl.col("request_id").is_null()
        & (pl.col("raw_request_id").is_not_null() | pl.col("id_parts").is_not_null())
    ).to_series()
    if asked is not None:
        fresh &= asked
    if not fresh.any():
        return named
    parts = []
    for mask, engine in (
        (fresh & named.get_column("_format").is_in(engines), True),
        (fresh & ~named.get_column("_format").is_in(engines), False),
    ):
        part = named.filter(mask)
        if len(part):
            found = normalise.ids(part.get_column("raw_request_id"), engine=engine)
            one = pl.element()
            lists = pl.col("id_parts").list.eval(
                normalise.canonical(one, engine=engine).drop_nulls()
            )
            parts.append(
                part.with_columns(
                    found.get_column("request_id"),
                    found.get_column("raw_request_id"),
                    pl.coalesce(lists, found.get_column("id_parts")).alias("id_parts"),
                )
            )
    return pl.concat([named.filter(~fresh), *parts]).sort("line")
