"""Finds records that were archived twice, and leaves them in one source only.

A rotated file that was copied before it was cut, a file beside its copy, the same log in
two archives, the windows of `kubectl logs`: what they share is counted once.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Final

import polars as pl
import pyarrow.parquet as pq

from faultlayer import same_bytes, taken
from faultlayer.members import Source
from faultlayer.parse import SourceResult

#: Where the events, or the rejects, of a source are.
Place = Callable[[int], Path]

_FEW: Final = 3  # records that may be alike by chance where one file ends
_TRIES: Final = 20
_FIRST: Final = 1024  # records among which the first stamped ones are looked for
_NEAR: Final = 200_000  # bytes that are compared before all are
# Nearly all that a line says: two hops log the same requests, in lines of one length.
_LOOK: Final = (
    *("byte_length", "lines", "message", "kind", "request_id", "status", "client"),
    *("bytes_sent", "duration_ms", "upstream_response_ms", "upstream_addr", "attrs"),
)
_COLUMNS: Final = ("line", "byte_offset", "ts_raw", "borrowed", *_LOOK)
_REJECT: Final = ("byte_offset", "byte_length", "lines", "text")
# Behind the name of a copy: app.log.bak, app (1).log. But app-2.log is an instance's.
_ADDED: Final = re.compile(r"[ .(~]|[-_](?!\d{1,3}\b)")

# Of two sources that share records the one that comes first keeps them.
_Order = tuple[datetime, int, int, int, str]


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A stamped record of a source, by which others that have it are found."""

    source: SourceResult
    at: int  # byte
    ts: datetime
    look: int

    @property
    def order(self) -> _Order:
        """Rank it: the one that begins first, the longest, the plainest name."""
        path = self.source.path
        return self.ts, -self.source.bytes, path.count("!"), len(path), path


@dataclass(frozen=True, slots=True)
class _Copy:
    """The records of `source` up to the byte `last`: `other` has them from `start` on."""

    source: SourceResult
    other: SourceResult
    order: _Order  # of `other`
    start: int  # byte
    last: int
    sure: int  # the last record that both have whole
    sure_end: int  # the byte after it

    @property
    def rank(self) -> tuple[int, _Order]:
        """Of several the best is the one that has most, then the one that keeps it."""
        return -self.last, self.order


def settle(
    results: Sequence[SourceResult],
    files: Sequence[Source],
    events: Place,
    rejects: Place,
) -> None:
    """Take from sources what others have too; their files and rows change.

    `files` is where the sources were read from. What is taken becomes one reject that
    names the source where it is counted. Left alone are sources without stamps, and
    those of different instances unless they share requests: two engines may say the same
    at the same time. What was read alike is looked at again, byte by byte.
    """
    found: defaultdict[int, list[_Copy]] = defaultdict(list)
    programs: defaultdict[str, list[SourceResult]] = defaultdict(list)
    for result in results:
        if result.first_ts is not None and result.component:
            programs[result.component].append(result)
    for sources in programs.values():
        for copy in _Search(sources, events, rejects).copies():
            found[copy.source.source_id].append(copy)
    by_number = {file.source_id: file for file in files}
    for number in sorted(found):
        for copy in sorted(found[number], key=lambda copy: copy.rank):
            other = by_number[copy.other.source_id]
            same = same_bytes.in_common(by_number[number], other, copy.start)
            if same >= copy.sure_end:
                # A torn end is the other's too but for the newline that ends it here.
                whole = same >= copy.source.bytes - 1
                taken.take(
                    copy.source,
                    copy.last if whole else min(copy.last, copy.sure),
                    f"in {copy.other.path} from byte {copy.start} on",
                    events(number),
                    rejects(number),
                )
                break


class _Search:
    """The search among the sources of one program."""

    def __init__(
        self, sources: Sequence[SourceResult], events: Place, rejects: Place
    ) -> None:
        self._sources = sources if len(sources) > 1 else ()
        self._events = events
        self._rejects = rejects
        self._records: dict[int, pl.DataFrame] = {}

    def copies(self) -> Iterator[_Copy]:
        """Give what sources have in common with others that begin before them."""
        anchors = {source.source_id: self._anchors(source) for source in self._sources}
        for other in self._sources:
            own = anchors[other.source_id]
            if not own or other.first_ts is None or other.last_ts is None:
                continue
            wanted = [
                anchor
                for others in anchors.values()
                for anchor in others
                if own[0].order < others[0].order
                and other.first_ts <= anchor.ts <= other.last_ts
            ]
            done: set[int] = set()
            for anchor, at in self._places(other, wanted):
                number = anchor.source.source_id
                start = at - anchor.at
                if number in done:
                    continue
                ends = self._compared(anchor, other, start)
                if ends is not None:
                    done.add(number)
                    yield _Copy(anchor.source, other, own[0].order, start, *ends)
            self._records.clear()

    def _anchors(self, source: SourceResult) -> list[_Anchor]:
        """Give the first two stamped records: what begins a copy may be torn."""
        if not any(_overlap(source, other) for other in self._sources):
            return []
        stamped = pl.col("ts_raw").is_not_null() & ~pl.col("borrowed")
        file = pq.ParquetFile(self._events(source.source_id))
        for batch in file.iter_batches(_FIRST, columns=list(_COLUMNS)):
            rows = pl.DataFrame(batch).filter(stamped).sort("byte_offset").head(2)
            if len(rows):
                looks = rows.select("byte_offset", "ts_raw", _event_look())
                return [_Anchor(source, *row) for row in looks.iter_rows()]
        return []

    def _places(
        self, other: SourceResult, wanted: Sequence[_Anchor]
    ) -> Iterator[tuple[_Anchor, int]]:
        """Give the bytes of a source where records look like the anchors of others."""
        if not wanted:
            return
        stamps = pl.Series([anchor.ts for anchor in wanted], dtype=pl.Datetime("us"))
        span = stamps.min(), stamps.max()
        path = self._events(other.source_id)
        bytes_ = [
            part.filter(pl.col("ts_raw").is_in(stamps.implode())).get_column(
                "byte_offset"
            )
            for part in taken.parts(path, ("byte_offset", "ts_raw"), "ts_raw", span)
        ]
        places = pl.concat(bytes_)
        if not len(places):
            return
        span = places.min(), places.max()
        rows = pl.concat(
            part.filter(pl.col("byte_offset").is_in(places.implode())).select(
                "byte_offset", "ts_raw", _event_look()
            )
            for part in taken.parts(path, _COLUMNS, "byte_offset", span)
        ).sort("byte_offset")
        looks = pl.DataFrame(
            {
                "number": range(len(wanted)),
                "ts_raw": stamps,
                "look": pl.Series([anchor.look for anchor in wanted], dtype=pl.UInt64),
            }
        )
        same = looks.join(rows, on=("ts_raw", "look")).sort("number", "byte_offset")
        tried = same.group_by("number", maintain_order=True).head(_TRIES)
        for number, at in tried.select("number", "byte_offset").iter_rows():
            yield wanted[number], at

    def _compared(
        self, anchor: _Anchor, other: SourceResult, before: int
    ) -> tuple[int, int, int] | None:
        """Compare two sources from where the anchor stands to the end of one.

        Gives the byte of the last record that both have, of the last one that both have
        whole, and of what follows this; None when they do not agree.
        """
        source = anchor.source
        end = min(source.bytes, other.bytes - before)
        if before < 0 or not self._agree_at_first(anchor, other, before, end):
            return None
        both = _joined(self._of(source), self._of(other), before, end)
        differs = _differs(both)
        shared = both.filter(~differs)
        last = end if end == source.bytes else _last(shared)
        odd = both.filter(differs).get_column("byte_offset").to_list()
        if odd and before and not odd[0] and both.item(0, "look_right") is None:
            odd.pop(0)  # its first line is torn: the other's began before
        if odd and odd[-1] > _last(shared):
            if not self._begun(source, odd[-1], other, before):
                last = _last(shared)
            odd.pop()
        agree = not odd and self._tells(source, other, shared, before)
        return (last, *_ends(shared)) if agree else None

    def _agree_at_first(
        self, anchor: _Anchor, other: SourceResult, before: int, end: int
    ) -> bool:
        """Compare what stands near the anchor: nearly all that differ do there."""
        to = anchor.at + _NEAR
        if to >= end:
            return True
        mine = self._read(anchor.source, anchor.at, to)
        theirs = self._read(other, anchor.at + before, to + before)
        return not _differs(_joined(mine, theirs, before, to)).any()

    def _begun(
        self, source: SourceResult, at: int, other: SourceResult, before: int
    ) -> bool:
        """Tell whether a copy's last record is what the other's begins with, or lost."""
        mine, theirs = self._message(source, at), self._message(other, at + before)
        return mine is None or (theirs is not None and theirs.startswith(mine))

    def _message(self, source: SourceResult, at: int) -> str | None:
        path = self._events(source.source_id)
        columns = ("byte_offset", "message")
        rows = pl.concat(taken.parts(path, columns, "byte_offset", (at, at)))
        return None if rows.is_empty() else str(rows.item(0, "message") or "")

    def _tells(
        self, source: SourceResult, other: SourceResult, shared: pl.DataFrame, at: int
    ) -> bool:
        """Tell whether what two sources share is more than chance."""
        stamps = shared.get_column("ts_raw").drop_nulls().n_unique()
        ids = shared.get_column("request_id").drop_nulls().n_unique()
        several = len(shared) >= _FEW and stamps > 1
        if _alike(source, other):
            # Instances that start together say the same few words.
            return several or (not at and ids > 0)
        return several and ids > 1

    def _of(self, source: SourceResult) -> pl.DataFrame:
        """Give the records of a source; those of a few sources are kept."""
        number = source.source_id
        if number not in self._records:
            if len(self._records) > 1:
                self._records.clear()
            self._records[number] = self._read(source, 0, source.bytes)
        return self._records[number]

    def _read(self, source: SourceResult, first: int, last: int) -> pl.DataFrame:
        """Give place, look, ts_raw and id of the records that begin in some bytes."""
        number = source.source_id
        span = first, last
        request = pl.col("request_id")
        known = pl.when(request.is_not_null()).then(request.hash())
        id_hash = known.alias("request_id")
        parts = [
            part.select("byte_offset", "byte_length", "ts_raw", id_hash, _event_look())
            for part in taken.parts(self._events(number), _COLUMNS, "byte_offset", span)
        ]
        parts += [
            part.select("byte_offset", "byte_length", _look(_REJECT[1:]))
            for part in taken.parts(self._rejects(number), _REJECT, "byte_offset", span)
        ]
        return pl.concat(parts, how="diagonal")


def _joined(
    mine: pl.DataFrame, theirs: pl.DataFrame, before: int, end: int
) -> pl.DataFrame:
    """Put the records of two sources side by side, by their place in the first."""
    theirs = theirs.with_columns(pl.col("byte_offset") - before)
    within = pl.col("byte_offset").is_between(0, end, closed="left")
    both = mine.filter(within).join(
        theirs.filter(within), on="byte_offset", how="full", coalesce=True
    )
    return both.sort("byte_offset")


def _differs(both: pl.DataFrame) -> pl.Series:
    return both.select(pl.col("look").ne_missing(pl.col("look_right"))).to_series()


def _look(columns: Sequence[str]) -> pl.Expr:
    return pl.struct(columns).hash().alias("look")


def _event_look() -> pl.Expr:
    # What has no stamp borrows one, which depends on what stands before it.
    own = pl.when(~pl.col("borrowed")).then("ts_raw").alias("_own")
    return pl.struct(*_LOOK, own).hash().alias("look")


def _last(shared: pl.DataFrame) -> int:
    return _ends(shared)[0]


def _ends(shared: pl.DataFrame) -> tuple[int, int]:
    """Give the bytes of the last record, and of what follows it."""
    if not len(shared):
        return -1, 0
    last = int(shared.item(-1, "byte_offset"))
    return last, last + int(shared.item(-1, "byte_length"))


def _overlap(one: SourceResult, other: SourceResult) -> bool:
    """Tell whether two sources have stamps of the same time."""
    if one is other or one.first_ts is None or other.first_ts is None:
        return False
    if one.last_ts is None or other.last_ts is None:
        return False
    return one.last_ts >= other.first_ts and other.last_ts >= one.first_ts


def _alike(one: SourceResult, other: SourceResult) -> bool:
    """Tell whether two sources are plainly of one instance."""
    if one.host and one.host == other.host:
        return True
    paths = [PurePosixPath(result.path.replace("!", "/")) for result in (one, other)]
    if paths[0].parent != paths[1].parent:
        return False
    short, long = sorted((path.name for path in paths), key=len)
    stem = short.partition(".")[0]
    rest = long.removeprefix(stem)
    return rest != long and (not rest or _ADDED.match(rest) is not None)
