"""Finds the inputs: walks folders, opens archives, puts rotated sets in order."""

import glob
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from faultlayer import arrange
from faultlayer.archives import Archives
from faultlayer.arrange import STDIN, Candidate, Root, printable
from faultlayer.errors import Location, SourceError
from faultlayer.members import Limits, Source

__all__ = ["STDIN", "Found", "Limits", "Source", "find", "is_case"]


@dataclass(frozen=True, slots=True)
class Found:
    """The sources in order; what was passed over, and what was lost: (path, reason).

    Lost is what is damaged, refused, or beyond a limit.
    """

    sources: list[Source]
    skipped: list[tuple[str, str]]
    lost: list[tuple[str, str]]


def find(
    paths: Sequence[str],
    spill: Path | None = None,
    limits: Limits | None = None,
    tell: Callable[[str], None] | None = None,
) -> Found:
    """List what is to be read, in the same order for any order of `paths`.

    A path is a file, a folder, a glob that the shell left alone, or `-` (stdin); of
    archives the members are listed. Hidden entries and symbolic links that leave their
    folder are not followed. `spill` is a folder for stdin and for what cannot be read
    within its archive; without it, neither is read. `tell` gets what takes long.

    Raises `SourceError` for a path that is missing or cannot be read, and when nothing
    is left.
    """
    try:
        return _find(paths, spill, limits, tell)
    except OSError as error:
        if spill is not None and str(error.filename or spill).startswith(str(spill)):
            raise  # a full disk is not the fault of an input
        raise _unreadable(str(error.filename), error) from error


def _find(
    paths: Sequence[str],
    spill: Path | None,
    limits: Limits | None,
    tell: Callable[[str], None] | None,
) -> Found:
    roots: dict[tuple[str, ...], Root] = {}
    skipped: list[tuple[Candidate, str]] = []
    lost: list[tuple[Candidate, str]] = []
    files: list[Candidate] = []
    for path in sorted(set(_expand(paths)) - {STDIN}):
        files += _below(path, roots, skipped)
    files = _unique(files)
    if STDIN in paths:
        files.append(_stdin(spill))
    kept: list[Candidate] = []
    archives = Archives(spill and spill / "unpacked", limits, tell)
    for file in files:
        if not stat.S_ISREG(file.file.stat().st_mode):
            skipped.append((file, "not a regular file; pipe it to - instead"))
            continue
        try:
            contents = archives.open(file.file, file.path)
        except PermissionError as error:
            raise _unreadable(file.path, error) from error
        kept += arrange.members(file, contents)
        skipped += [(file.inside(way), reason) for way, reason in contents.skipped]
        lost += [(file.inside(way), reason) for way, reason in contents.lost]
    arrange.name_sets(kept)
    arrange.tell_apart(kept)
    sources = arrange.sources(kept)
    passed = _named(skipped)
    gone = _named(lost)
    if not sources:
        raise SourceError(
            "nothing to read in " + ", ".join(sorted(set(paths))),
            hint="; ".join(f"{path}: {reason}" for path, reason in (gone + passed)[:5])
            or "the folder is empty or holds only hidden files; give one with logs",
        )
    return Found(sources, passed, gone)


def _named(passed: list[tuple[Candidate, str]]) -> list[tuple[str, str]]:
    return sorted({(printable(one.path), reason) for one, reason in passed})


def _stdin(spill: Path | None) -> Candidate:
    """Keep stdin in a file, so that it can be read more than once."""
    if spill is None:
        raise SourceError("stdin is not read here", hint="give a file")
    file = spill / "stdin"
    try:
        with file.open("wb") as stored:
            shutil.copyfileobj(sys.stdin.buffer, stored, 1 << 20)
    except OSError as error:
        raise SourceError(
            f"stdin cannot be stored in {spill}: {error.strerror}",
            hint="write it to a file yourself and give that file",
        ) from error
    return Candidate(Root((), 0, (0, "")), (STDIN,), file, linked=False, folder=STDIN)


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
                at=Location(printable(path)),
                hint="check the spelling; a folder, a file, a glob or - can be given",
            )


def _matches(pattern: str) -> list[str]:
    # Path.glob takes no absolute pattern.
    return glob.glob(pattern, recursive=True) if glob.has_magic(pattern) else []  # noqa: PTH207


def _below(
    path: str,
    roots: dict[tuple[str, ...], Root],
    skipped: list[tuple[Candidate, str]],
) -> Iterator[Candidate]:
    """Yield the files of one given path."""
    given = Path(path).absolute()
    parts = tuple(Path(os.path.normpath(given)).parts[1:])
    folder = given.is_dir()
    # A lone file counts as one of its folder, whose name is shown only at need.
    key = parts if folder else parts[:-1]
    real = os.path.realpath(given if folder else given.parent)
    rank = (real.count(os.sep), real)
    root = roots.setdefault(key, Root(key, 0, rank))
    if folder:
        root.shown = max(root.shown, min(1, len(key)))
        if is_case(given):
            raise SourceError(
                "this is a case, not logs",
                at=Location(printable(path)),
                hint="give the folder of the logs; a case is for report, sql, trace ...",
            )
        yield from _walk(root, given, Path(real), skipped)
    else:
        yield Candidate(root, (parts[-1],), given, linked=given.is_symlink())


def _walk(
    root: Root, top: Path, real_top: Path, skipped: list[tuple[Candidate, str]]
) -> Iterator[Candidate]:
    pending: list[tuple[str, ...]] = [()]
    while pending:
        below = pending.pop()
        for name, mode in _entries(top.joinpath(*below)):
            found = Candidate(
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


def _unique(candidates: list[Candidate]) -> list[Candidate]:
    """Drop what is there twice, keeping the plain name below the outermost root."""
    best: dict[object, Candidate] = {}
    for candidate in sorted(
        candidates, key=lambda one: (one.linked, one.root.rank, one.below)
    ):
        status = candidate.file.stat()
        same = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        best.setdefault(
            same if status.st_ino else os.path.realpath(candidate.file), candidate
        )
    for candidate in best.values():
        candidate.folder = os.path.realpath(candidate.file.parent)
    return list(best.values())


def _unreadable(path: str, error: OSError) -> SourceError:
    return SourceError(
        f"cannot be read: {error.strerror or error}",
        at=Location(printable(path)),
        hint="make it readable for this user, or leave it out",
    )
