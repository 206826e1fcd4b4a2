"""Find the inputs: walk folders, tell compressions apart, put rotated sets in order."""

import glob
import os
import re
import shutil
import stat
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faultlayer import rotation
from faultlayer.errors import Location, SourceError

STDIN = "-"

_HEAD_BYTES = 1024
_BZ2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_ZST_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_TAR_NAME = re.compile(r"\.(tar(\.\w+)?|tgz|tbz2?|txz|tzst)$", re.IGNORECASE)
_NOT_READ = {
    b"PK\x03\x04": "zip archive",
    b"PK\x05\x06": "zip archive",
    b"7z\xbc\xaf\x27\x1c": "7z archive",
    b"Rar!\x1a\x07": "rar archive",
    b"\x04\x22\x4d\x18": "lz4 stream",
    b"\x1f\x9d": "compress (.Z) stream",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One input stream; `path` is what people and the case call it."""

    source_id: int  # from 1, by set and age: the oldest of a set first
    path: str  # posix, relative: name of the given root, then the way below it
    member: str | None  # of an archive
    file: Path | None  # None = stdin, see `store_stdin`
    compression: str  # "", gz, zst, bz2, xz: by content, not by name
    set_name: str  # `path` without what rotation added to the name
    label: str  # the instance that wrote it, as far as the path tells


@dataclass(frozen=True, slots=True)
class Found:
    """The sources in order, and what was passed over: (path, reason)."""

    sources: list[Source]
    skipped: list[tuple[str, str]]


@dataclass(slots=True)
class _Root:
    """Where display paths begin; `shown` is how many of `parts` they show."""

    parts: tuple[str, ...]
    shown: int
    rank: tuple[int, str]  # outer roots first


@dataclass(slots=True)
class _Candidate:
    root: _Root
    below: tuple[str, ...]
    file: Path
    linked: bool
    folder: str = ""
    kind: str = ""
    head: bytes = b""
    name: rotation.Name = rotation.LIVE

    def shown(self, name: str) -> str:
        first = len(self.root.parts) - self.root.shown
        return "/".join((*self.root.parts[first:], *self.below[:-1], name))

    @property
    def container_parent(self) -> str:
        """Name of the folder above the file's folder, within what was given."""
        folders = (*self.root.parts[-1:], *self.below[:-1])
        return folders[-2] if len(folders) > 1 else ""

    @property
    def path(self) -> str:
        return self.shown(self.below[-1])

    @property
    def set_name(self) -> str:
        return self.shown(self.name.stem)


def find(paths: Sequence[str]) -> Found:
    """List what is to be read, in the same order for any order of `paths`.

    A path is a file, a folder, a glob that the shell left alone, or `-` (stdin).
    Hidden entries and symbolic links that leave their folder are not followed. Raises
    `SourceError` for a path that is missing or cannot be read, and when nothing is left.
    """
    try:
        return _find(paths)
    except OSError as error:
        raise _unreadable(str(error.filename), error) from error


def _find(paths: Sequence[str]) -> Found:
    roots: dict[tuple[str, ...], _Root] = {}
    skipped: list[tuple[_Candidate, str]] = []
    candidates: list[_Candidate] = []
    for path in sorted(set(_expand(paths)) - {STDIN}):
        candidates += _below(path, roots, skipped)
    kept: list[_Candidate] = []
    for candidate in _unique(candidates):
        reason = _identify(candidate)
        if reason:
            skipped.append((candidate, reason))
        else:
            kept.append(candidate)
    _name_sets(kept)
    _tell_apart(kept)
    sources = _sources(kept, stdin=STDIN in paths)
    passed = sorted({(candidate.path, reason) for candidate, reason in skipped})
    if not sources:
        raise SourceError(
            "nothing to read in " + ", ".join(sorted(set(paths))),
            hint="; ".join(f"{path}: {reason}" for path, reason in passed[:5])
            or "the folder is empty or holds only hidden files; give one with logs",
        )
    return Found(sources, passed)


def store_stdin(source: Source, folder: Path) -> Source:
    """Keep stdin in a file of `folder`, so that it can be read more than once."""
    file = folder / "stdin"
    try:
        with file.open("wb") as stored:
            shutil.copyfileobj(sys.stdin.buffer, stored, 1 << 20)
        with file.open("rb") as stored:
            compression, reason = identify(stored.read(_HEAD_BYTES), "")
    except OSError as error:
        raise SourceError(
            f"stdin cannot be stored in {folder}: {error.strerror}",
            hint="write it to a file yourself and give that file",
        ) from error
    if reason:
        raise SourceError(reason, at=Location(STDIN), hint="unpack it first")
    return replace(source, file=file, compression=compression)


def identify(head: bytes, name: str) -> tuple[str, str]:
    """Give the compression of a file that begins with `head`, or why it is not read."""
    for magic, what in _NOT_READ.items():
        if head.startswith(magic):
            return "", f"{what}: not read, unpack it and give the folder"
    compression = ""
    inside = head
    if head.startswith(b"\x1f\x8b\x08"):
        compression, inside = "gz", gunzip_head(head)
    elif head.startswith(b"\x28\xb5\x2f\xfd") or _ZST_SKIPPABLE.match(head):
        compression = "zst"
    elif _BZ2.match(head):
        compression = "bz2"
    elif head.startswith(b"\xfd7zXZ\x00"):
        compression = "xz"
    packed_tar = compression not in ("", "gz") and _TAR_NAME.search(name)
    if packed_tar or inside[257:262] == b"ustar":
        return "", "tar archive: not read, unpack it and give the folder"
    return compression, ""


def gunzip_head(head: bytes) -> bytes:
    """Give the first decoded bytes of a gzip file, as many as its head holds."""
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _HEAD_BYTES)
    except zlib.error:
        return b""


def _expand(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if path == STDIN or os.path.lexists(path):
            yield path
        elif matches := _matches(path):
            yield from matches
        else:
            what = "no file matches" if glob.has_magic(path) else "no such file"
            raise SourceError(
                what,
                at=Location(_printable(path)),
                hint="check the spelling; a folder, a file, a glob or - can be given",
            )


def _matches(pattern: str) -> list[str]:
    # Path.glob takes no absolute pattern.
    return glob.glob(pattern, recursive=True) if glob.has_magic(pattern) else []  # noqa: PTH207


def _below(
    path: str,
    roots: dict[tuple[str, ...], _Root],
    skipped: list[tuple[_Candidate, str]],
) -> Iterator[_Candidate]:
    """Yield the files of one given path."""
    given = Path(path).absolute()
    parts = tuple(Path(os.path.normpath(given)).parts[1:])
    folder = given.is_dir()
    # A lone file counts as one of its folder, whose name is shown only at need.
    key = parts if folder else parts[:-1]
    real = os.path.realpath(given if folder else given.parent)
    rank = (real.count(os.sep), real)
    root = roots.setdefault(key, _Root(key, 0, rank))
    if folder:
        root.shown = max(root.shown, min(1, len(key)))
        if is_case(given):
            raise SourceError(
                "this is a case, not logs",
                at=Location(_printable(path)),
                hint="give the folder of the logs; a case is for report, sql, trace ...",
            )
        yield from _walk(root, given, Path(real), skipped)
    else:
        yield _Candidate(root, (parts[-1],), given, linked=given.is_symlink())


def _walk(
    root: _Root, top: Path, real_top: Path, skipped: list[tuple[_Candidate, str]]
) -> Iterator[_Candidate]:
    pending: list[tuple[str, ...]] = [()]
    while pending:
        below = pending.pop()
        for name, mode in _entries(top.joinpath(*below)):
            found = _Candidate(
                root,
                (*below, name),
                top.joinpath(*below, name),
                linked=stat.S_ISLNK(mode),
            )
            if found.linked:
                reason = _link_problem(found.file, real_top)
                if reason:
                    skipped.append((found, reason))
                    continue
                # The folder that it points to is walked under its own name.
                if found.file.is_dir():
                    continue
            if stat.S_ISDIR(mode):
                if is_case(found.file):
                    skipped.append((found, "a case of faultlayer, not logs"))
                else:
                    pending.append(found.below)
            else:
                yield found


def _entries(folder: Path) -> list[tuple[str, int]]:
    """Give name and mode of everything in a folder that is not hidden."""
    with os.scandir(folder) as entries:
        return [
            (entry.name, entry.stat(follow_symlinks=False).st_mode)
            for entry in entries
            if not entry.name.startswith(".")
        ]


def _link_problem(link: Path, top: Path) -> str:
    target = Path(os.path.realpath(link))
    if not target.is_relative_to(top):
        return "symbolic link that leaves the folder: not followed"
    if not target.exists():
        return "symbolic link that leads nowhere"
    hidden = any(part.startswith(".") for part in target.relative_to(top).parts)
    if hidden and target.is_dir():
        return "symbolic link to a hidden folder: not followed"
    return ""


def is_case(folder: Path) -> bool:
    """Tell a case from a folder of logs that merely holds a file named case.json."""
    beside = ("case.duckdb", "sources.parquet", "events")
    try:
        return (folder / "case.json").is_file() and any(
            (folder / name).exists() for name in beside
        )
    except PermissionError:
        return False  # the walk names the folder


def _unique(candidates: list[_Candidate]) -> list[_Candidate]:
    """Drop what is there twice, keeping the plain name below the outermost root."""
    best: dict[object, _Candidate] = {}
    for candidate in sorted(
        candidates, key=lambda one: (one.linked, one.root.rank, one.below)
    ):
        status = candidate.file.stat()
        same = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        best.setdefault(
            same if status.st_ino else os.path.realpath(candidate.file), candidate
        )
    return list(best.values())


def _identify(candidate: _Candidate) -> str:
    """Read the head of a file; give the reason if it is to be passed over."""
    candidate.folder = os.path.realpath(candidate.file.parent)
    try:
        if not stat.S_ISREG(candidate.file.stat().st_mode):
            return "not a regular file; pipe it to - instead"
        with candidate.file.open("rb", buffering=0) as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise _unreadable(candidate.path, error) from error
    candidate.kind, reason = identify(head, candidate.below[-1])
    candidate.head = gunzip_head(head) if candidate.kind == "gz" else head
    return reason


def _name_sets(candidates: list[_Candidate]) -> None:
    """Give each file its place in its rotated set; sets never span folders."""
    folders: defaultdict[str, list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        folders[candidate.folder].append(candidate)
    for files in folders.values():
        names = rotation.read_names(
            [file.below[-1] for file in files],
            container_parent=files[0].container_parent,
            heads=[file.head for file in files],
        )
        for file, name in zip(files, names, strict=True):
            file.name = name


def _tell_apart(candidates: list[_Candidate]) -> None:
    """Show more of the roots' parents until no two folders share a set name."""
    while True:
        seen: defaultdict[str, set[str]] = defaultdict(set, {STDIN: {STDIN}})
        for candidate in candidates:
            seen[candidate.set_name].add(candidate.folder)
        unclear = {
            id(candidate.root): candidate.root
            for candidate in candidates
            if len(seen[candidate.set_name]) > 1
            and candidate.root.shown < len(candidate.root.parts)
        }
        if not unclear:
            return
        for root in unclear.values():
            root.shown += 1


def _sources(candidates: list[_Candidate], *, stdin: bool) -> list[Source]:
    sources = []
    several = len({id(candidate.root) for candidate in candidates}) > 1
    for candidate in candidates:
        # One root is common to all and so names none of them.
        shown = candidate.root.parts if several else ()
        folders = (*shown[len(shown) - candidate.root.shown :], *candidate.below[:-1])
        source = Source(
            source_id=0,
            path=_printable(candidate.path),
            member=None,
            file=candidate.file,
            compression=candidate.kind,
            set_name=_printable(candidate.set_name),
            label=_printable(rotation.label(folders, candidate.name.stem)),
        )
        sources.append((source.set_name, candidate.name.age, source))
    if stdin:
        source = Source(0, STDIN, None, None, "", STDIN, "stdin")
        sources.append((STDIN, rotation.LIVE.age, source))
    sources.sort(key=lambda row: (*row[:2], row[2].path))
    return [
        replace(source, source_id=number)
        for number, (_, _, source) in enumerate(sources, start=1)
    ]


def _unreadable(path: str, error: OSError) -> SourceError:
    return SourceError(
        f"cannot be read: {error.strerror or error}",
        at=Location(_printable(path)),
        hint="make it readable for this user, or leave it out",
    )


def _printable(path: str) -> str:
    """Spell out the bytes of a file name that are no text."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
