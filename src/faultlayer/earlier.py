"""Takes over what an earlier run has read, where the same file would be read alike."""

import json
import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from faultlayer import assets, schema
from faultlayer.blocks import stored_sha256
from faultlayer.case import NOTES, CaseWriter, part_name
from faultlayer.detect import Definitions, Detection
from faultlayer.members import Source
from faultlayer.parse import IDS_PER_SOURCE, SourceResult
from faultlayer.shape import Format
from faultlayer.wrappers import Wrapper
from faultlayer.write import Writer


@dataclass(frozen=True, slots=True)
class Note:
    """What is noted of a source that was read, to be found again by a later run.

    `way`: how it was read, see `Ways`. `sha256`: of its bytes as stored. `events` and
    `rejects`: hashes of the two Parquet files. `engines`: the names of engines that it
    was read with, None where they could not matter. `row`: its row of `sources`.
    """

    way: str
    sha256: str
    events: str
    rejects: str
    engines: str | None
    row: Mapping[str, Any]


class Ways:
    """Names the ways in which sources are read: all that their rows depend on.

    Besides the bytes of a source these are the program, its libraries, the definitions
    and what was detected, but not where the file lies.
    """

    def __init__(self, definitions: Definitions) -> None:
        self._with = [_program(), _digest([_said(one) for one in definitions.formats])]

    def of(self, source: Source, detection: Detection, year: int | None) -> str:
        """Name the way in which a source is read."""
        return _digest([self._with, source.label, _plain(detection), year])


class Notes:
    """The notes of a case that is written, and those of earlier runs to take over from.

    Those are in an older case and in what killed runs left. Calls may come from any thread.
    """

    def __init__(self, case: CaseWriter) -> None:
        self._case = case
        self._file = case.path / NOTES
        self._lock = threading.Lock()
        self._known: defaultdict[str, list[tuple[Path, Note]]] = defaultdict(list)
        for folder in case.earlier:
            for note in _read(folder / NOTES):
                self._known[note.way].append((folder, note))

    def take(
        self, way: str, source: Source, engines: str | None, events: Path, rejects: Path
    ) -> SourceResult | None:
        """Give the result of a source that was read before, its files at their places.

        None when it was not read in this way, or anything of it has changed since.
        """
        known = [
            (folder, note)
            for folder, note in self._known.get(way, ())
            if note.engines in {None, engines or ""} and _fits(source, note)
        ]
        if not known:
            return None
        digest = stored_sha256(source)
        for folder, note in known:
            if note.sha256 != digest:
                continue
            number = int(note.row["source_id"])
            if self._brought(folder / "events", number, events, note.events) and (
                self._brought(folder / "rejects", number, rejects, note.rejects)
            ):
                if number != source.source_id:
                    _renumber(events, source.source_id, schema.EVENTS_RAW, "request_id")
                    _renumber(rejects, source.source_id, schema.REJECTS)
                result = _result(note, source)
                self.note(way, result, note.engines, events, rejects)
                return result
        for path in (events, rejects):
            path.unlink(missing_ok=True)
        return None

    def note(
        self,
        way: str,
        result: SourceResult,
        engines: str | None,
        events: Path,
        rejects: Path,
    ) -> None:
        """Note a source that was read whole, its two files being finished.

        `engines` as in `Note`. Nothing is noted of a damaged file: how much of it was read
        depends on more than its bytes.
        """
        if result.damaged:
            return
        note = Note(
            way, result.sha256, self._case.sha256(events), self._case.sha256(rejects),
            engines, result.row(),
        )  # fmt: skip
        line = json.dumps(asdict(note), ensure_ascii=False, default=str)
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _brought(self, folder: Path, number: int, to: Path, digest: str) -> bool:
        """Bring a finished file to its place, if it is the one that was noted."""
        to.unlink(missing_ok=True)
        try:
            _link(folder / part_name(number), to)
        except FileNotFoundError:
            return False
        # Another run may have put another case there in the meantime.
        return self._case.sha256(to) == digest


def _read(path: Path) -> list[Note]:
    """Read the notes of a run; one that was being written when it was killed is none."""
    notes = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return []
    for line in lines:
        try:
            notes.append(Note(**json.loads(line)))
        except (TypeError, ValueError):
            continue
    return notes


def _fits(source: Source, note: Note) -> bool:
    """Tell whether a source may be the one of a note, before its bytes are hashed."""
    whole = source.part is None
    if whole and source.size != note.row["file_bytes"]:
        return False
    return source.allowed is None or note.row["bytes"] <= source.allowed


def _link(made: Path, to: Path) -> None:
    try:
        os.link(made, to)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without links
        shutil.copyfile(made, to)


def _renumber(
    path: Path,
    number: int,
    columns: tuple[schema.Column, ...],
    bloom: str | None = None,
) -> None:
    """Write the rows of a source anew, with another number of the source."""
    spare = path.with_suffix(".new")
    source_id = pl.lit(number, pl.Int64).alias("source_id")
    changed = [source_id]
    if any(column.name == "event_id" for column in columns):
        line = pl.col("event_id") % IDS_PER_SOURCE
        changed.append((line + number * IDS_PER_SOURCE).alias("event_id"))
    file = pq.ParquetFile(path)
    with Writer(spare, columns, bloom) as writer:
        for group in range(file.num_row_groups):
            writer.add(pl.DataFrame(file.read_row_group(group)).with_columns(changed))
    spare.replace(path)


def _result(note: Note, source: Source) -> SourceResult:
    row = dict(note.row)
    for name in ("first_ts", "last_ts"):
        if row[name] is not None:
            row[name] = datetime.fromisoformat(row[name])
    return SourceResult(
        **row
        | {
            "source_id": source.source_id,
            "path": source.path,
            "member": source.member,
            "log_set": source.set_name,
            "taken_over": True,
        }
    )


@cache
def _program() -> list[str]:
    """Say what reads: this program by its own files, its libraries, its definitions."""
    own = sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        own.update(path.read_bytes())
    return [own.hexdigest(), pl.__version__, pa.__version__, _digest(assets.hashes())]


def _said(one: Format) -> object:
    """Give what a format file says, or a configuration that gave the format."""
    if one.text:
        return one.text
    patterns = [
        [p.name, sorted(p.names), p.kind, repr(p.json) if p.json else list(p.pieces())]
        for p in one.patterns
    ]
    return [one.name, one.title, one.framing, one.escapes, patterns]


def _plain(value: object) -> object:
    """Give a value that is the same text whenever it says the same."""
    if isinstance(value, Wrapper):
        return value.name
    if is_dataclass(value) and not isinstance(value, type):
        return [_plain(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, Set):
        return sorted(map(str, value))
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _digest(value: object) -> str:
    # What cannot be written so, and is new here, fails: it may differ by chance.
    return sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()
