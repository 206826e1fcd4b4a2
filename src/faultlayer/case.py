"""A case on disk: written as a whole or not at all, opened by path, accounted for."""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from faultlayer import __version__, accounts, database, schema
from faultlayer.errors import CaseError

KIND = "faultlayer case"
_MANIFEST = "case.json"
_CATALOGUE = "case.duckdb"
_FOLDERS = ("events", "rejects")
#: What `earlier` notes of the sources, in a case and in what is becoming one.
NOTES = "read.jsonl"
_LOCK = ".lock"
_SPILL = ".spill"
# A quota or a limit on the size of files ends a run as a full disk does.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class Case:
    """A finished case: its folder and what `case.json` says."""

    path: Path
    manifest: dict[str, Any]


def open_case(path: Path) -> Case:
    """Open a case; raises CaseError when it is missing, foreign or from the future."""
    if not path.exists():
        raise CaseError(
            f"no case at {path}", hint="make one with: faultlayer analyze LOGS"
        )
    if not path.is_dir():
        raise CaseError(
            f"{path} is no case: a case is a folder",
            hint="make one with: faultlayer analyze LOGS",
        )
    manifest = _manifest(path)
    if manifest is None:
        raise CaseError(
            f"{path} is no case: it has no {_MANIFEST} of ours",
            hint=f"make one with: faultlayer analyze {path} --case CASE",
        )
    version = manifest.get("schema_version")
    if version != schema.VERSION:
        raise CaseError(
            f"{path} has schema version {version}, this faultlayer reads"
            f" {schema.VERSION}",
            hint="install a newer faultlayer"
            if isinstance(version, int) and version > schema.VERSION
            else "analyze the logs again",
        )
    return Case(path, manifest)


class CaseWriter:
    """Builds a case beside its target and puts it in place when it is whole.

    A context manager. `path` is the folder under construction, `spill` a folder in it
    for temporary files. `earlier` are the older case and what killed runs left, held
    for this run. Until `finish` returns, an older case at the target is untouched;
    whatever ends the block before that removes the folder. Raises CaseError when the
    target is something else than a case, or the disk is full.
    """

    def __init__(self, target: Path) -> None:
        self.target = target.resolve()
        self.path = self.target  # set by __enter__
        self._lock: IO[bytes] | None = None
        self._left: list[tuple[Path, IO[bytes]]] = []
        self._hashes: dict[tuple[Path, int, int], str] = {}
        self._finished = False

    def __enter__(self) -> Self:
        try:
            _check_target(self.target)
            self.target.parent.mkdir(parents=True, exist_ok=True)
            self._left = _tidy(self.target)
            self.path, self._lock = _partial(self.target)
            for folder in (*_FOLDERS, _SPILL):
                (self.path / folder).mkdir()
        except OSError as error:
            self._discard()
            raise _unwritable(self.target, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._discard()
        if error is not None and (cause := _disk_full(error)) is not None:
            raise _unwritable(self.target, cause) from error

    @property
    def earlier(self) -> list[Path]:
        """The older case and the folders of killed runs, while this run lasts."""
        old = [self.target] if _manifest(self.target) is not None else []
        return [*old, *(path for path, _ in self._left)]

    @property
    def spill(self) -> Path:
        """Where queries may spill; gone before the case is finished."""
        return self.path / _SPILL

    def events_path(self, source_id: int) -> Path:
        """Where the events of a source are to be written."""
        return self.path / "events" / part_name(source_id)

    def rejects_path(self, source_id: int) -> Path:
        """Where the rejects of a source are to be written."""
        return self.path / "rejects" / part_name(source_id)

    def sha256(self, path: Path) -> str:
        """Hash a file of the case, once for as long as it is the same file."""
        status = path.stat()
        key = path, status.st_ino, status.st_mtime_ns
        if key not in self._hashes:
            self._hashes[key] = sha256(path)
        return self._hashes[key]

    def write(self, name: str, table: pa.Table) -> None:
        """Write a table of `schema.TABLES`, in the column order and types of there."""
        wanted = schema.arrow(schema.TABLES[name])
        data = table.select(wanted.names).cast(wanted)
        pq.write_table(data, self.path / f"{name}.parquet", compression="zstd")

    def finish(
        self,
        manifest: Mapping[str, Any],
        *,
        files: Mapping[int, Path] | None = None,
    ) -> Case:
        """Complete the case and put it in the place of the target.

        Tables that were not written are written empty. The manifest gets the given
        entries, the hashes of all Parquet files, the sources and the conservation
        sums. `files` tells where the sources were read from, by source id; with it
        `verify --sources` finds them again.
        """
        for name, columns in schema.TABLES.items():
            if name not in _FOLDERS and not (self.path / f"{name}.parquet").exists():
                self.write(name, schema.arrow(columns).empty_table())
        shutil.rmtree(self.spill)
        with contextlib.chdir(self.path):
            database.write_catalogue(Path(_CATALOGUE))
        whole = {
            "kind": KIND,
            "schema_version": schema.VERSION,
            "tool_version": __version__,
            **manifest,
            **accounts.account(self.path),
            "files": {
                file.relative_to(self.path).as_posix(): {
                    "sha256": self.sha256(file),
                    "bytes": file.stat().st_size,
                    "rows": pq.read_metadata(file).num_rows,
                }
                for file in sorted(self.path.rglob("*.parquet"))
            },
        }
        for source in whole["sources"]:
            if files and (file := files.get(source["source_id"])):
                source["file"] = file.absolute().as_posix()
        text = json.dumps(whole, indent=2, ensure_ascii=False, default=str)
        (self.path / _MANIFEST).write_text(text + "\n", "utf-8")
        if self._lock is not None:
            (self.path / _LOCK).unlink()
        _sync(self.path)
        _swap(self.path, self.target)
        self._finished = True
        return Case(self.target, json.loads(text))

    def _discard(self) -> None:
        if not self._finished and self.path != self.target:
            _remove(self.path)
        for path, lock in self._left:
            if self._finished:
                _remove(path)
            lock.close()
        self._left = []
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def part_name(source_id: int) -> str:
    """Name the file of a source within `events` or `rejects`."""
    return f"{source_id:05d}.parquet"


def sha256(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _manifest(path: Path) -> dict[str, Any] | None:
    try:
        manifest = json.loads((path / _MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        return None
    return manifest


def _check_target(target: Path) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not target.is_dir() or _manifest(target) is None:
        raise CaseError(
            f"{target} exists and is no case; it is left as it is",
            hint="choose another folder with --case",
        )


def _siblings(target: Path, kind: str) -> list[Path]:
    prefix = f".{target.name}.{kind}-"
    return sorted(
        path for path in target.parent.iterdir() if path.name.startswith(prefix)
    )


def _tidy(target: Path) -> list[tuple[Path, IO[bytes]]]:
    """Hold what killed runs had read; bring back a case that was lost half-way.

    Gives their folders with their locks; what else they left is removed.
    """
    left = []
    for path in _siblings(target, "partial"):
        lock = _locked(path / _LOCK)
        if lock is None:
            continue
        _remove(path / _SPILL)
        if (path / NOTES).exists():
            left.append((path, lock))
        else:
            _remove(path)
            lock.close()
    for path in _siblings(target, "old"):
        if _alive(path.name.rpartition("-")[2]):
            continue
        if not target.exists() and _manifest(path) is not None:
            path.rename(target)
        else:
            _hand_over(path, target)
            _remove(path)
    return left


def _partial(target: Path) -> tuple[Path, IO[bytes]]:
    """Make the folder to build in, locked: the lock dies with this process."""
    name = f".{target.name}.partial-{os.getpid()}"
    number = 1
    while True:
        path = target.with_name(name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
            continue
        lock = _locked(path / _LOCK)
        if lock is not None:
            return path, lock


def _locked(path: Path) -> IO[bytes] | None:
    """Lock a file, made when absent; None when a living process holds the lock."""
    try:
        file = path.open("ab")
    except (NotADirectoryError, FileNotFoundError):
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _sync(path: Path) -> None:
    for folder, _, names in os.walk(path, topdown=False):
        for name in (*names, "."):
            descriptor = os.open(Path(folder, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _swap(new: Path, target: Path) -> None:
    """Put `new` at the target; files that a user put into the old case stay there."""
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    replaces = _manifest(target) is not None
    if replaces:
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:  # whatever interrupts, the old case comes back
        if replaces:
            old.rename(target)
        raise
    descriptor = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if replaces:
        _hand_over(old, target)
        _remove(old)


def _hand_over(old: Path, target: Path) -> None:
    for guest in sorted(old.iterdir()):
        if target.is_dir() and not _is_ours(guest.name):
            guest.rename(target / guest.name)


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return int(pid) != os.getpid()


def _is_ours(name: str) -> bool:
    return name in {_MANIFEST, _CATALOGUE, NOTES, *_FOLDERS} or (
        name.removesuffix(".parquet") in schema.TABLES
    )


def _remove(path: Path) -> None:
    # A worker that has not noticed yet may still write into the folder.
    for _ in range(3):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return


def _disk_full(error: BaseException) -> BaseException | None:
    """Find the full disk behind an error, whoever of our libraries reports it."""
    seen: BaseException | None = error
    while seen is not None:
        full = isinstance(seen, OSError) and seen.errno in _FULL
        if full or "no space left on device" in str(seen).lower():
            return seen
        seen = seen.__cause__ or seen.__context__
    return None


def _unwritable(target: Path, error: BaseException) -> CaseError:
    if _disk_full(error) is not None:
        return CaseError(
            f"the disk is full; no case was written to {target}",
            hint="free some space, or put the case elsewhere with --case",
        )
    return CaseError(
        f"no case can be written to {target}: {getattr(error, 'strerror', None) or error}",
        hint="put the case elsewhere with --case",
    )
