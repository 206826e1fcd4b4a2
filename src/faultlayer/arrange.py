"""Names the files and members that were found, and puts rotated sets in order."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from faultlayer import rotation
from faultlayer.members import Contents, Member, Source, Way

STDIN = "-"


@dataclass(slots=True)
class Root:
    """Where display paths begin; `shown` is how many of `parts` they show."""

    parts: tuple[str, ...]
    shown: int
    rank: tuple[int, str]  # outer roots first


@dataclass(slots=True)
class Candidate:
    """A file, or a member of one: `below` leads from the root to it."""

    root: Root
    below: tuple[str, ...]
    file: Path
    linked: bool
    folder: str = ""  # where it is on this machine
    member: Member | None = None
    within: Way = ()
    alone: bool = False  # in an archive that does no more than pack this file
    name: rotation.Name = field(default=rotation.LIVE)

    def inside(self, way: Way) -> "Candidate":
        """Give what lies within this file, by its way."""
        return replace(self, within=way)

    @property
    def path(self) -> str:
        """What people call it."""
        inner = self.member_name
        return self._file(self.below[-1]) + (f"!{inner}" if inner else "")

    @property
    def member_name(self) -> str:
        """What people call it within the outermost archive."""
        number = self.member.number if self.member else 1
        again = f" ({number})" if number > 1 else ""
        return _joined(self.within)[1:] + again

    @property
    def set_name(self) -> str:
        """The path without what rotation added to the name."""
        if not self.within or self.alone:
            return self._file(self.name.stem)
        *outer, level = self.within
        inner = (*outer, (*level[:-1], self.name.stem))
        return self._file(self.below[-1]) + _joined(tuple(inner))

    @property
    def place(self) -> str:
        """The folder that it lies in; sets never span folders."""
        if not self.within or self.alone:
            return self.folder
        *outer, level = self.within
        inner = (*outer, (*level[:-1], ""))
        return f"{self.folder}/{self.below[-1]}{_joined(tuple(inner))}"

    @property
    def own_name(self) -> str:
        """The name of the file, or that of the archive that merely packs it."""
        if self.alone:
            return rotation.unpacked(self.below[-1])
        return self.within[-1][-1] if self.within else self.below[-1]

    @property
    def container_parent(self) -> str:
        """Name of the folder above the file's folder, within what was given."""
        folders = (*self.root.parts[-1:], *self.below[:-1])
        if self.within and not self.alone:
            folders = self.within[-1][:-1]
        return folders[-2] if len(folders) > 1 else ""

    def _file(self, name: str) -> str:
        first = len(self.root.parts) - self.root.shown
        return "/".join((*self.root.parts[first:], *self.below[:-1], name))


def members(file: Candidate, contents: Contents) -> Iterator[Candidate]:
    """Give the candidates of what a file holds: itself, or members of the archive."""
    alone = len(contents.members) == 1 and not contents.skipped and not contents.lost
    for member in contents.members:
        found = replace(file, member=member, within=member.within)
        found.alone = alone and rotation.packs(file.below[-1], member.within)
        yield found


def name_sets(candidates: Sequence[Candidate]) -> None:
    """Give each file its place in its rotated set."""
    places: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        places[candidate.place].append(candidate)
    for files in places.values():
        names = rotation.read_names(
            [file.own_name for file in files],
            container_parent=files[0].container_parent,
            heads=[file.member.head if file.member else b"" for file in files],
        )
        for file, name in zip(files, names, strict=True):
            file.name = name


def tell_apart(candidates: Sequence[Candidate]) -> None:
    """Show more of the roots' parents until no two folders share a set name."""
    while True:
        seen: defaultdict[str, set[str]] = defaultdict(set)
        for candidate in candidates:
            seen[candidate.set_name].add(candidate.place)
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


def sources(candidates: Sequence[Candidate]) -> list[Source]:
    """Give the sources in order, numbered: the oldest of a set first."""
    several = len({id(candidate.root) for candidate in candidates}) > 1
    telling = _telling(candidates)
    rows = []
    for candidate in candidates:
        member = candidate.member
        if member is None:
            raise ValueError(f"{candidate.path} was not looked into")
        source = Source(
            source_id=0,
            path=printable(candidate.path),
            member=printable(candidate.member_name) or None,
            file=member.file,
            compression=member.compression,
            set_name=printable(candidate.set_name),
            label=_label(candidate, telling, several=several),
            part=member.part,
            allowed=member.allowed,
            problems=tuple(member.problems),
            archive=candidate.file if candidate.within else None,
        )
        rows.append((source.set_name, candidate.name.age, source))
    rows.sort(key=lambda row: (*row[:2], row[2].path))
    return [
        replace(source, source_id=number)
        for number, (_, _, source) in enumerate(rows, start=1)
    ]


def _label(candidate: Candidate, telling: frozenset[str], *, several: bool) -> str:
    if candidate.below == (STDIN,) and not candidate.within:
        return "stdin"
    # One root is common to all and so names none of them; so does one archive.
    shown = candidate.root.parts if several else ()
    folders = [*shown[len(shown) - candidate.root.shown :], *candidate.below[:-1]]
    if not candidate.alone:
        for number, level in enumerate(candidate.within):
            archive = candidate.inside(candidate.within[:number])
            if archive.path in telling:
                name = archive.within[-1][-1] if number else candidate.below[-1]
                folders.append(rotation.archive_stem(name))
            folders += level[:-1]
    return printable(rotation.label(folders, candidate.name.stem))


def _telling(candidates: Sequence[Candidate]) -> frozenset[str]:
    """Give the archives that are not the only one in their folder."""
    places: defaultdict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        for number in range(len(candidate.within)):
            archive = candidate.inside(candidate.within[:number])
            places[archive.place].add(archive.path)
    return frozenset(
        path for paths in places.values() if len(paths) > 1 for path in paths
    )


def _joined(way: Way) -> str:
    return "".join("!" + "/".join(level) for level in way)


def printable(path: str) -> str:
    """Spell out the bytes of a file name that are no text."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
