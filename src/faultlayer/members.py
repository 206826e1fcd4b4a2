"""What is to be read, be it a file or a member of an archive, and what must not be."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

LONGEST_NAME: Final = 4096
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_NO_LOGS: Final = (
    (re.compile(r"META-INF/MANIFEST\.MF"), "Java archive: not read"),
    (re.compile(r"\[Content_Types\]\.xml"), "Office document: not read"),
    (re.compile(r"[^/]+/data\.pkl"), "PyTorch checkpoint: not read"),
    (re.compile(r"[^/]+\.dist-info/WHEEL"), "Python package: not read"),
)

# The path within each archive, from the outermost in: ("inner.tgz",), ("log", "x.log").
Way = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much archives and compressed files may unpack to.

    `unpacked`: bytes that all archives give; `ratio`: of what a file unpacks to and its
    size, where that is more than `floor` bytes; `members` of one archive and of those
    in it; `depth` of archives in archives.
    """

    unpacked: int = 100 * 10**9
    ratio: float = 200.0
    members: int = 20_000
    depth: int = 5
    floor: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Part:
    """Where a member stands in a file: `size` bytes, with a codec `packing` around it.

    `size` is None for all the rest. `unpacked`, `crc` and `sha256` are those of the
    member, where they are known.
    """

    start: int
    size: int | None
    packing: str = ""
    unpacked: int | None = None
    crc: int | None = None
    sha256: str = ""


@dataclass(slots=True)
class Member:
    """What is to be read: a file (`within` is empty), or a member of an archive.

    `part` is None for a whole file. `compression` is its own, `head` how its text
    begins. `allowed`: bytes that it may unpack to. `number`: it is so many-th of its name.
    """

    within: Way
    file: Path
    part: Part | None
    compression: str
    head: bytes
    problems: list[str] = field(default_factory=list)
    allowed: int | None = None
    number: int = 1


@dataclass(slots=True)
class Contents:
    """The members of a file in their order, what was passed over, and what was lost."""

    members: list[Member] = field(default_factory=list)
    skipped: list[tuple[Way, str]] = field(default_factory=list)
    lost: list[tuple[Way, str]] = field(default_factory=list)

    def number(self) -> None:
        """Tell members of one name apart: a file that was added again."""
        seen: Counter[Way] = Counter()
        for member in self.members:
            seen[member.within] += 1
            member.number = seen[member.within]

    def leave_cases_out(self) -> None:
        """Pass over cases of ours, as in folders."""
        ways = {member.within for member in self.members if member.within}
        cases = [
            (*way[:-1], way[-1][:-1])
            for way in ways
            if way[-1][-1] == "case.json"
            and (*way[:-1], (*way[-1][:-1], "sources.parquet")) in ways
        ]
        for case in sorted(cases):
            self.members = [one for one in self.members if not _below(one, case)]
            self.skipped.append((case, "a case of faultlayer, not logs"))


@dataclass(frozen=True, slots=True)
class Source:
    """One input stream; `path` is what people and the case call it.

    `part`: where it stands in `file`, None for all of it. `allowed`: bytes that it may
    unpack to, None for any number. `problems`: what was wrong before it was read.
    """

    source_id: int  # from 1, by set and age: the oldest of a set first
    path: str  # posix, relative: name of the given root, then the way below it
    member: str | None  # the way from the archive on; `path` ends with it
    file: Path | None  # None = stdin that was not stored
    compression: str  # "", gz, zst, bz2, xz: by content, not by name
    set_name: str  # `path` without what rotation added to the name
    label: str  # the instance that wrote it, as far as the path tells
    part: Part | None = None
    allowed: int | None = None
    problems: tuple[str, ...] = ()
    archive: Path | None = None  # the outermost, on disk

    @property
    def size(self) -> int:
        """Bytes as stored; of a member of an archive, as it would be when unpacked."""
        if self.part is not None:
            known = self.part.unpacked
            size = self.part.size if known is None else known
            if size is not None:
                return size
        return self.file.stat().st_size if self.file else 0


def _below(member: Member, folder: Way) -> bool:
    last = len(folder) - 1
    way = member.within
    return (
        len(way) > last
        and way[:last] == folder[:last]
        and way[last][: len(folder[last])] == folder[last]
    )


def slashed(name: str) -> str:
    """Give the name as Windows programs should have written it."""
    return name if "/" in name else name.replace("\\", "/")


def refused(name: str, parts: Sequence[str]) -> str:
    """Say why a member of this name is not read; `parts` are those of its path."""
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "absolute path"
    if ".." in parts:
        return "path that leads out of the archive"
    if not parts or "\x00" in name:
        return "no name of a file"
    if len(name) > LONGEST_NAME:
        return "name of more than 4096 characters"
    return ""


def no_logs(names: Sequence[str]) -> str:
    """Say what an archive of these members is, when it is known to hold no logs."""
    for pattern, reason in _NO_LOGS:
        if any(pattern.fullmatch(name) for name in names):
            return reason
    return ""
