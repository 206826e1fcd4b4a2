"""Tells what wrote a file, by content, per stream, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final

import polars as pl

from faultlayer import (
    documents,
    first_stamps,
    layers,
    lines,
    logical_lines,
    no_logs,
    rows,
    scoring,
    tables,
    unwrap,
)
from faultlayer.around import Around
from faultlayer.blocks import Block, open_source
from faultlayer.documents import Document
from faultlayer.errors import UsageError
from faultlayer.find import Source
from faultlayer.formats import Format
from faultlayer.level import Peel
from faultlayer.signatures import Signatures
from faultlayer.tables import Reading, Tables
from faultlayer.take import Order, take
from faultlayer.wrappers import Wrapper

HEAD_BYTES: Final = 256 << 10
_HOSTS_OWN: Final = ("kube", "docker", "containerd", "systemd")
_HEAD_LINES: Final = 2000
_STREAMS: Final = 24  # streams of a file that are looked at each by itself
_CROWD: Final = "*"  # stands for all the others
_ANSI: Final = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
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
        raise UsageError(f"no format {name!r}", hint="see: faultlayer formats list")


Choice = tuple[str, tuple[int, ...]]  # a format and its patterns in the order to try


@dataclass(frozen=True, slots=True)
class Detection:
    """What a source is: for each stream the formats to try, in order.

    `first_ts`: its first stamp; `dated`: that stamp has a year. `zones`: us to add to
    naive stamps of a stream, from the wrapper's stamps. `tables`: the format by whose
    header the lines of a stream are read. `layers`: of streams of unknown programs.
    `local_us`: to add to stamps of a wrapper that have no zone; None: not known.
    `backward`: the newest line is the first. `engine_hosts`: hosts or pods whose lines
    are those of an engine. `known`: share of its first lines that formats take.
    `no_log`: it is something else, as `reason` says.
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
    local_us: int | None = None
    backward: bool = False
    engine_hosts: frozenset[str] = frozenset()
    document: Document | None = None
    known: float = 1.0
    no_log: bool = False

    def choices(self, stream: str) -> tuple[Choice, ...]:
        """Give the formats of a stream; one that came later is like its sibling."""
        if stream not in self.streams and self.around is not None:
            stem = scoring.family(stream)
            for known in sorted(self.streams):
                if scoring.family(known) == stem:
                    return self.streams[known]
        return self.streams.get(stream, ())

    @property
    def formats(self) -> dict[str, tuple[str, ...]]:
        """Give the names of the formats of each stream."""
        return {
            stream: tuple(name for name, _ in choices)
            for stream, choices in self.streams.items()
        }


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
    path = "/".join(filter(None, (source.path, source.member)))
    with open_source(source, HEAD_BYTES) as opened:
        for block in opened:
            around = Around(definitions.wrappers, definitions.formats)
            found = around.document(block.data[:HEAD_BYTES])
            document, head = found or (None, _head(block))
            chosen = choose(head.head(_HEAD_LINES), definitions, forced, path)
            unknown = not forced and chosen.known <= no_logs.LEAST
            if unknown and (what := no_logs.of(path)):
                reason = f"{no_logs.NO_LOG}: {what}"
                return Detection(None, {}, {}, reason, None, dated=False, no_log=True)
            if chosen.backward:
                document = document or Document(documents.LINES)
                document = replace(document, backward=True)
            return replace(chosen, document=document)
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
        for stream in logical_lines.streams(logical)
    }
    tables_ = _tables(parts, definitions)
    crowd = _crowded(parts, tables_, definitions)
    told = definitions.format(forced) if forced else None
    sizes = {stream: len(text) for stream, (_, text) in parts.items()}
    ranked = scoring.ranked(
        {
            stream: scoring.of(text, _program(part), definitions.formats, told)
            for stream, (part, text) in parts.items()
        },
        sizes,
        forced=forced is not None,
    )
    local_us = first_stamps.local_zone(ranked, parts) if around else None
    for stream, scores in ranked.items():
        _, text = parts[stream]
        choices[stream] = tuple(
            (score.format.name, scoring.order(score)) for score in scores
        )
        name = f"{len(crowd)} others" if stream == _CROWD else stream
        label = f" on {name}" if name else ""
        reasons += [
            f"{score.format.name}: {score.total} of {len(text)} lines{label}"
            f"{f' ({score.format.title})' if score.format.given else ''}"
            for score in scores
        ]
        found = first_stamps.of_lines(scores, text)
        if found is not None:
            zone = (
                first_stamps.zone(ranked, parts, stream, local_us) if around else None
            )
            if zone is not None:
                zones[stream] = zone
            if first is None or (found[1] and not first[1]):
                first = found
    if around:
        wrapped = first_stamps.of_wrapper(logical)
        # Syslog has no year, but a line inside may.
        if wrapped is not None and (wrapped[1] or first is None or not first[1]):
            first = wrapped
    for stream in crowd:
        choices[stream] = choices[_CROWD]
        if _CROWD in zones:
            zones[stream] = zones[_CROWD]
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
        layers=_layers(ranked, parts, crowd, path, definitions),
        around=around,
        known=scoring.share(ranked, sizes),
        local_us=local_us,
        backward=first_stamps.is_backward(logical) if around else False,
        engine_hosts=_engine_hosts(ranked, parts) if around else frozenset(),
    )


def _layers(
    ranked: Mapping[str, list[scoring.Score]],
    parts: Mapping[str, tuple[pl.DataFrame, pl.Series]],
    crowd: Sequence[str],
    path: str,
    definitions: Definitions,
) -> dict[str, str]:
    """Find the layer of the streams whose formats are those of any program."""
    found = {}
    none = pl.Series([], dtype=pl.String)
    for stream in crowd:
        name = f"{path}/{stream}".replace("|", "/")
        if layer := layers.of(name, none, none, definitions.signatures):
            found[stream] = layer
    for stream, scores in ranked.items():
        # Of a program that no format knows its own name counts, not that of the host.
        if not scores and (layer := _layer_of(_program(parts[stream][0]))):
            found[stream] = layer
        general = [one.format for one in scores if one.format.general]
        if not general:
            continue
        hits, _ = take(parts[stream][1], [(one, one.patterns) for one in general])
        built = [rows.build(hit.format, hit.pattern, hit.fields) for hit in hits]
        layer = layers.of(
            f"{path}/{stream}".replace("|", "/"),
            pl.concat([none, *(_loggers(one) for one in built)]),
            pl.concat([none, *(one["message"] for one in built if "message" in one)]),
            definitions.signatures,
        )
        layer = layer or _layer_of_exchanges(scores)
        if layer:
            found[stream] = layer
    return found


def _layer_of_exchanges(scores: Sequence[scoring.Score]) -> str | None:
    """Give the layer of the exchanges that a program logs among its other records."""
    for score in scores:
        if any(
            score.hits.get(at) and pattern.kind == "access"
            for at, pattern in enumerate(score.format.patterns)
        ):
            return score.format.layer
    return None


def _crowded(
    parts: dict[str, tuple[pl.DataFrame, pl.Series]],
    tables_: Mapping[str, str],
    definitions: Definitions,
) -> list[str]:
    """Put the smallest of very many streams together in `parts`, and give their names.

    What is known by its name or its header stays by itself.
    """
    named = {
        program
        for format_ in definitions.formats
        for pattern in format_.patterns
        for program in pattern.programs
    }
    ranked = sorted(parts, key=lambda stream: (-len(parts[stream][1]), stream))
    crowd = [
        stream
        for stream in ranked[_STREAMS:]
        if stream not in tables_ and _program(parts[stream][0]) not in named
    ]
    if len(crowd) > 1:
        rest = [parts.pop(stream) for stream in crowd]
        together = pl.concat([part for part, _ in rest])
        parts[_CROWD] = together, pl.concat([text for _, text in rest])
        return crowd
    return []


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


def _engine_hosts(
    ranked: Mapping[str, list[scoring.Score]],
    parts: Mapping[str, tuple[pl.DataFrame, pl.Series]],
) -> frozenset[str]:
    """Give the hosts of streams that an engine writes."""
    first = {stream: scores[0].format for stream, scores in ranked.items() if scores}
    hosts = [
        parts[stream][0].get_column("host")
        for stream, one in first.items()
        if one.layer == "model" and one.component not in ("kernel", "gpu")
    ]
    none = pl.Series([], dtype=pl.String)
    return frozenset(pl.concat([none, *hosts]).drop_nulls().to_list())


def _loggers(built: pl.DataFrame) -> pl.Series:
    attrs = built.get_column("attrs").cast(pl.String)
    return attrs.str.json_path_match("$.logger").alias("")


def _layer_of(program: str) -> str | None:
    """Give the layer that a program's name tells, unless it is one of any host."""
    return None if program.startswith(_HOSTS_OWN) else layers.named(program)


def _program(part: pl.DataFrame) -> str:
    """Give the program that wrote a stream, as the wrapper tells."""
    if "program" not in part.columns or not len(part):
        return ""
    return str(part.item(0, "program") or "")


def _host(logical: pl.DataFrame) -> str | None:
    """Give the host that all lines are of."""
    hosts = logical.get_column("host").drop_nulls().unique()
    return str(hosts[0]) if len(hosts) == 1 else None


def _text_of(part: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """Give the lines that are not blank, and their text."""
    text = clean(part.get_column("text"))
    nonblank = text.str.strip_chars() != ""
    return part.filter(nonblank), text.filter(nonblank)


def order_of(definitions: Definitions, choices: Sequence[Choice]) -> Order:
    """Give the formats and patterns of a stream in the order to try."""
    found = [(definitions.format(name), numbers) for name, numbers in choices]
    return [
        (one, [one.patterns[number] for number in numbers]) for one, numbers in found
    ]
