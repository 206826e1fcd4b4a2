"""Tells what wrote a file, by content, per stream, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final

import polars as pl

from faultlayer import layers, lines, rows, stamps, tables, unwrap
from faultlayer.around import Around
from faultlayer.blocks import Block, open_source
from faultlayer.errors import UsageError
from faultlayer.find import Source
from faultlayer.formats import Format, Pattern
from faultlayer.literals import Sight
from faultlayer.signatures import Signatures
from faultlayer.tables import Reading, Tables
from faultlayer.take import Order, all_rows, take
from faultlayer.unwrap import Peel
from faultlayer.wrappers import Wrapper

HEAD_BYTES: Final = 256 << 10
_HEAD_LINES: Final = 2000
_WEAK: Final = 0.6  # share of lines that a format without own marks has to take
_ANSI: Final = r"\x1b\[[0-9;]*[A-Za-z]"
# Copies often lose the ESC: such a line begins with the rest of a colour.
_LAME: Final = r"\[\d{1,3}(?:;\d{1,3})*m"


@dataclass(frozen=True, slots=True)
class Definitions:
    """All that is known about lines: formats, wrappers, signatures."""

    formats: tuple[Format, ...]
    wrappers: tuple[Wrapper, ...]
    signatures: Signatures | None

    def format(self, name: str) -> Format:
        """Give the format of a name; raises `UsageError` when there is none."""
        for one in self.formats:
            if one.name == name:
                return one
        names = ", ".join(one.name for one in self.formats)
        raise UsageError(f"no format {name!r}", hint=f"formats: {names}")


Choice = tuple[str, tuple[int, ...]]  # a format and its patterns in the order to try


@dataclass(frozen=True, slots=True)
class Detection:
    """What a source is: for each stream the formats to try, in order.

    `first_ts`: its first stamp; `dated`: that stamp has a year. `zones`: us to add to
    naive stamps of a stream, from the wrapper's stamps. `tables`: the format by whose
    header the lines of a stream are read. `layers`: of streams of unknown programs.
    """

    wrapper: str | None
    streams: dict[str, tuple[Choice, ...]]
    zones: dict[str, int]
    reason: str
    first_ts: datetime | None
    dated: bool
    host: str | None = None
    forced: bool = False
    tables: Mapping[str, str] = field(default_factory=dict)
    layers: Mapping[str, str] = field(default_factory=dict)
    around: Peel | None = None

    def choices(self, stream: str) -> tuple[Choice, ...]:
        """Give the formats of a stream; one that came later is like its sibling."""
        if stream not in self.streams and self.around is not None:
            stem = _family(stream)
            for known in sorted(self.streams):
                if _family(known) == stem:
                    return self.streams[known]
        return self.streams.get(stream, ())

    @property
    def formats(self) -> dict[str, tuple[str, ...]]:
        """Give the names of the formats of each stream."""
        return {
            stream: tuple(name for name, _ in choices)
            for stream, choices in self.streams.items()
        }


@dataclass(slots=True)
class _Score:
    format: Format
    own: int = 0
    total: int = 0
    hits: dict[int, int] = field(default_factory=dict)


def clean(text: pl.Series) -> pl.Series:
    """Take colours away, and the NUL bytes that `copytruncate` leaves before a line."""
    if text.str.contains("\x1b", literal=True).any():
        text = text.str.replace_all(_ANSI, "")
    lame = text.str.contains(f"^{_LAME}")
    if lame.any():
        bare = text.to_frame("t").select(
            pl.when(lame).then(pl.col("t").str.replace_all(_LAME, "")).otherwise("t")
        )
        text = bare.to_series().alias(text.name)
    if text.str.starts_with("\x00").any():
        stripped = text.str.strip_chars_start("\x00")
        text = (
            text.to_frame("t")
            .select(pl.when(stripped != "").then(stripped).otherwise("t").alias("text"))
            .to_series()
        )
    return text


def sniff(
    source: Source, definitions: Definitions, overrides: Sequence[tuple[str, str]] = ()
) -> Detection:
    """Read the head of a source and choose wrapper and formats.

    `overrides` are (glob over the path, format name); the first that fits counts.
    Raises `SourceError` when the file cannot be opened, `UsageError` for an unknown name.
    """
    forced = None
    for glob, name in overrides:
        definitions.format(name)
        if forced is None and (source.path == glob or fnmatchcase(source.path, glob)):
            forced = name
    with open_source(source, HEAD_BYTES) as opened:
        for block in opened:
            path = "/".join(filter(None, (source.path, source.member)))
            return choose(_head(block), definitions, forced, path)
    return Detection(None, {}, {}, "empty", None, dated=False)


def _head(block: Block) -> pl.DataFrame:
    return lines.lines_of(block).head(_HEAD_LINES)


def choose(
    head: pl.DataFrame,
    definitions: Definitions,
    forced: str | None = None,
    path: str = "",
) -> Detection:
    """Choose wrapper and formats from the first lines (columns of `lines_of`)."""
    around = Around(definitions.wrappers, definitions.formats).find(head)
    logical = unwrap.Unwrapper(around).add(head, last=True)
    reasons: list[str] = []
    choices: dict[str, tuple[Choice, ...]] = {}
    zones: dict[str, int] = {}
    first: tuple[datetime, bool] | None = None
    parts = {
        stream: _text_of(logical.filter(pl.col("stream") == stream))
        for stream in unwrap.streams(logical)
    }
    tables_ = _tables(parts, definitions)
    ranked = _ranked(
        {
            stream: _scores(text, _program(part), definitions, forced)
            for stream, (part, text) in parts.items()
        },
        {stream: len(text) for stream, (_, text) in parts.items()},
        forced=forced is not None,
    )
    for stream, scores in ranked.items():
        part, text = parts[stream]
        choices[stream] = tuple((score.format.name, _order(score)) for score in scores)
        label = f" on {stream}" if stream else ""
        reasons += [
            f"{score.format.name}: {score.total} of {len(text)} lines{label}"
            f"{f' ({score.format.title})' if score.format.given else ''}"
            for score in scores
        ]
        found = _first_stamp(scores, text)
        if found is not None:
            zone = _zone(scores[0], part, text) if around else None
            if zone is not None:
                zones[stream] = zone
            if first is None or (found[1] and not first[1]):
                first = found
    if around:
        first = _outer_stamp(logical) or first
    if forced:
        reasons = [f"{forced}: as told"]
    prefix = f"{around.name} around " if around else ""
    return Detection(
        wrapper=around.name if around else None,
        streams=choices,
        zones=zones,
        reason=prefix + ("; ".join(reasons) or "no format takes its first lines"),
        first_ts=first[0] if first else None,
        dated=bool(first and first[1]),
        host=_host(logical) if around else None,
        forced=forced is not None,
        tables=tables_,
        layers=_layers(ranked, parts, path, definitions),
        around=around,
    )


def _layers(
    ranked: Mapping[str, list[_Score]],
    parts: Mapping[str, tuple[pl.DataFrame, pl.Series]],
    path: str,
    definitions: Definitions,
) -> dict[str, str]:
    """Find the layer of the streams whose formats are those of any program."""
    found = {}
    for stream, scores in ranked.items():
        general = [one.format for one in scores if one.format.general]
        if not general:
            continue
        hits, _ = take(parts[stream][1], [(one, one.patterns) for one in general])
        built = [rows.build(hit.format, hit.pattern, hit.fields) for hit in hits]
        none = pl.Series([], dtype=pl.String)
        layer = layers.of(
            f"{path}/{stream}".replace("|", "/"),
            pl.concat([none, *(one["logger"] for one in built if "logger" in one)]),
            pl.concat([none, *(one["message"] for one in built if "message" in one)]),
            definitions.signatures,
        )
        if layer:
            found[stream] = layer
    return found


def _tables(
    parts: dict[str, tuple[pl.DataFrame, pl.Series]], definitions: Definitions
) -> dict[str, str]:
    """Find the streams that are tables, and put their rows as JSON into `parts`."""
    known = [(one.name, one.table) for one in definitions.formats if one.table]
    found = {}
    for stream, (part, text) in parts.items():
        name = tables.matching(text, known)
        table = dict(known).get(name or "")
        if name and table:
            found[stream] = name
            parts[stream] = part, Reading(table).rows(part.get_column("line"), text)
    return found


def tables_of(detection: Detection, definitions: Definitions) -> Tables:
    """Give the tables of a detection's streams, without any header yet."""
    named = {
        stream: definitions.format(name).table
        for stream, name in detection.tables.items()
    }
    return Tables({stream: table for stream, table in named.items() if table})


def _outer_stamp(logical: pl.DataFrame) -> tuple[datetime, bool] | None:
    """Give the first stamp that a wrapper has, and whether it has a year."""
    outer = logical.get_column("outer").drop_nulls()
    if len(outer):
        return outer[0], True
    local = logical.drop_nulls("local")
    if len(local):
        return local.item(0, "local"), not local.item(0, "yearless")
    return None


def _program(part: pl.DataFrame) -> str:
    """Give the program that wrote a stream, as the wrapper tells."""
    if "program" not in part.columns or not len(part):
        return ""
    return str(part.item(0, "program") or "")


def _host(logical: pl.DataFrame) -> str | None:
    """Give the host that all lines are of."""
    hosts = logical.get_column("host").drop_nulls().unique()
    return str(hosts[0]) if len(hosts) == 1 else None


def _family(stream: str) -> str:
    """Give a stream without stdout and stderr: what one program writes."""
    head, _, last = stream.rpartition("|")
    return head if last in ("stdout", "stderr") else stream


def _text_of(part: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Give the lines that are not blank, and their text."""
    text = clean(part.get_column("text"))
    nonblank = text.str.strip_chars() != ""
    return part.filter(nonblank), text.filter(nonblank)


def _scores(
    text: pl.Series, program: str, definitions: Definitions, forced: str | None
) -> list[_Score]:
    sight = Sight(text.to_list())
    if forced is not None:
        return [_score(definitions.format(forced), text, sight)]
    own = [one for one in definitions.formats if patterns_of(one, program)]
    if program and own:
        return [_score(format_, text, sight, program) for format_ in own]
    # A file of many programs has few lines of each: too few for a weak format.
    return [
        _score(format_, text, sight)
        for format_ in definitions.formats
        if not (program and format_.weak)
    ]


def _ranked(
    scores: Mapping[str, list[_Score]], sizes: Mapping[str, int], *, forced: bool
) -> dict[str, list[_Score]]:
    """Give the formats of each stream, the likeliest first.

    The streams of a container are of one program: what one of them shows counts for all.
    """
    if forced:
        return dict(scores)
    owns: dict[str, dict[str, int]] = {}
    for stream, each in scores.items():
        own = owns.setdefault(_family(stream), {})
        for one in each:
            own[one.format.name] = own.get(one.format.name, 0) + one.own
    ranked = {}
    for stream, each in scores.items():
        own = owns[_family(stream)]
        known = [one for one in each if one.total and own[one.format.name]]
        strong = [one for one in known if not one.format.weak]
        # Weak formats take lines of any program, so they need a file to themselves.
        weak = [
            one
            for one in known
            if one.format.weak and not strong and one.own > _WEAK * sizes[stream]
        ]
        # What many programs print comes after what one program prints.
        ranked[stream] = sorted(
            strong + weak,
            key=lambda one: (
                not one.format.given,
                one.format.general,
                -one.total,
                -own[one.format.name],
                one.format.name,
            ),
        )
    return ranked


def patterns_of(format_: Format, program: str = "") -> list[Pattern]:
    """Give the patterns for lines of a program by its name, or of a nameless one."""
    if program:
        return [one for one in format_.patterns if program in one.programs]
    return [one for one in format_.patterns if not one.programs]


def _score(format_: Format, text: pl.Series, sight: Sight, program: str = "") -> _Score:
    patterns = patterns_of(format_, program)
    likely = [one for one in patterns if sight.may_hold(one.hint)]
    hits, _ = take(text, [(format_, likely)])
    numbers = [format_.patterns.index(pattern) for pattern in patterns]
    score = _Score(format_, hits=dict.fromkeys(numbers, 0))
    for hit in hits:
        count = len(hit.fields)
        score.hits[format_.patterns.index(hit.pattern)] += count
        score.total += count
        if hit.pattern.telling or (program and not hit.pattern.weak):
            score.own += count
    return score


def _order(score: _Score) -> tuple[int, ...]:
    """Give the patterns, those that take most first: a file has one reading."""
    rest = [pattern.rest for pattern in score.format.patterns]
    return tuple(
        sorted(
            score.hits,
            key=lambda at: (rest[at], 0 if rest[at] else -score.hits[at], at),
        )
    )


def order_of(definitions: Definitions, choices: Sequence[Choice]) -> Order:
    """Give the formats and patterns of a stream in the order to try."""
    found = [(definitions.format(name), numbers) for name, numbers in choices]
    return [
        (one, [one.patterns[number] for number in numbers]) for one, numbers in found
    ]


def _first_stamp(
    scores: Sequence[_Score], text: pl.Series
) -> tuple[datetime, bool] | None:
    """Give the first stamp and whether it has a year."""
    for score in scores:
        found = _stamps(score.format, text)
        if len(found):
            return found.item(0, "ts"), not found.item(0, "yearless")
    return None


def _stamps(format_: Format, text: pl.Series) -> pl.DataFrame:
    """Give row, ts, zoned, yearless of the lines of a format that have a stamp."""
    hits, _ = take(text, [(format_, format_.patterns)])
    parts = [
        rows.stamps_of(format_, hit.fields).with_columns(
            (all_rows(len(text)) if hit.rows is None else hit.rows).alias("row")
        )
        for hit in hits
    ]
    if not parts:
        return stamps.nothing(0).with_columns(pl.lit(0, pl.UInt32).alias("row"))
    return pl.concat(parts).drop_nulls("ts").sort("row")


def _zone(score: _Score, part: pl.DataFrame, text: pl.Series) -> int | None:
    """Give the zone of naive stamps from those of the wrapper."""
    found = _stamps(score.format, text).filter(~pl.col("zoned"))
    found = found.filter(~stamps.since_start(pl.col("ts"), pl.col("zoned")))
    outer = part.get_column("outer").gather(found.get_column("row"))
    pairs = found.with_columns(outer.alias("outer"))
    ts = pl.when("yearless").then(stamps.nearest_year(pl.col("ts"), pl.col("outer")))
    naive = pairs.select(ts.otherwise("ts").alias("n")).to_series()
    return stamps.zone_us(naive, pairs.get_column("outer"))
