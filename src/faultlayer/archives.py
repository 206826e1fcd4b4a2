"""Opens tar and zip archives, nested ones too, and gives their members as parts of files.

Archives are not trusted: no name leads anywhere, links and devices are refused, and what
unpacks to too much is stopped.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from faultlayer import decode, magic, tarfiles, zipfiles
from faultlayer.members import (
    LONGEST_NAME,
    Contents,
    Limits,
    Member,
    Part,
    Way,
    no_logs,
    refused,
    slashed,
)
from faultlayer.spill import PACKING, Kept, LimitError, Spill
from faultlayer.stored import Piece, Reader, Stored, Stream, Window

_HEADERS: Final = 1 << 14  # bytes of one read when headers are looked for
_LARGEST_RATIO: Final = 1032  # of deflate


@dataclass(slots=True)
class _Blob:
    """Bytes of a file that can be sought."""

    file: Path
    start: int
    size: int

    def part(self, start: int, size: int) -> "_Blob":
        return _Blob(self.file, self.start + start, size)


class Archives:
    """Opens files one after the other; the limits hold for all of them together.

    `spill` is a folder for members that cannot be read where they stand: those of
    compressed tar archives, and archives within compressed ones. `tell` gets what is
    being done.
    """

    def __init__(
        self,
        spill: Path | None = None,
        limits: Limits | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._spill = Spill(spill) if spill is not None else None
        self._limits = limits or Limits()
        self._tell = tell or (lambda _: None)
        self._unpacked = 0

    def open(self, file: Path, name: str) -> Contents:
        """Give what there is to read in a file; `name` is what people call it.

        Raises `OSError` or `SourceError` when the file cannot be read.
        """
        opening = _Opening(
            file, name, self._limits, self._spill, self._count, self._tell
        )
        return opening.contents()

    def _count(self, size: int) -> None:
        self._unpacked += size
        if self._unpacked > self._limits.unpacked:
            raise LimitError(
                f"stopped: archives unpack to more than {self._limits.unpacked} bytes "
                "in all; --max-unpacked raises the limit"
            )


class _Opening:
    """The way through one file."""

    def __init__(
        self,
        file: Path,
        name: str,
        limits: Limits,
        spill: Spill | None,
        count: Callable[[int], None],
        tell: Callable[[str], None],
    ) -> None:
        self._file = file
        self._name = name
        self._limits = limits
        self._spill = spill
        self._count = count
        self._tell = tell
        self._size = file.stat().st_size
        self._most = max(limits.floor, int(limits.ratio * self._size))
        self._used = 0
        self._entries = 0
        self._found = Contents()

    def contents(self) -> Contents:
        """Look into the file."""
        try:
            self._blob(_Blob(self._file, 0, self._size), (), 0, [])
        except LimitError as error:
            self._found.lost.append(((), str(error)))
        self._found.number()
        self._found.leave_cases_out()
        self._allow()
        return self._found

    # ------------------------------------------------------------ kinds of content

    def _blob(self, blob: _Blob, within: Way, depth: int, problems: list[str]) -> None:
        """Look into bytes that can be sought."""
        with blob.file.open("rb", buffering=0) as file:

            def stored(chunk: int = 0) -> Stored:
                return Stored(file, self._name, blob.start, blob.size, chunk)

            head = stored(_HEADERS).exactly(magic.HEAD_BYTES)
            compression = magic.compression(head)
            if compression:
                head = decode.head(stored(), compression, magic.HEAD_BYTES)
            kind = magic.archive(head)
            twice = bool(compression and (kind == "zip" or magic.compression(head)))
            if reason := magic.unread(head):
                self._found.skipped.append((within, reason))
            elif (kind or twice) and self._too_deep(within, depth):
                return
            elif twice:
                reader = Stream(self._pieces(stored(), compression, within))
                self._kept(reader, within, depth + 1, problems)
            elif kind:
                self._lost(within, problems)
                self._tell(f"unpacking {self._name.rpartition('/')[2]}")
                if kind == "zip":
                    self._zip(stored(_HEADERS), blob, within, depth + 1)
                elif compression:
                    pieces = self._pieces(stored(), compression, within)
                    self._tar(Stream(pieces), None, within, depth + 1)
                else:
                    self._tar(stored(_HEADERS), blob, within, depth + 1)
            else:
                part = Part(blob.start, blob.size) if within else None
                self._found.members.append(
                    Member(within, blob.file, part, compression, head, problems)
                )

    def _stream(
        self, reader: Reader, size: int, within: Way, depth: int, problems: list[str]
    ) -> None:
        """Look into a member of a stream, and keep what is to be read."""
        head = reader.exactly(magic.HEAD_BYTES)
        reader.unread(head)
        kind = magic.archive(head)
        if reason := magic.unread(head):
            self._found.skipped.append((within, reason))
        elif kind and self._too_deep(within, depth):
            return
        elif kind == "tar":
            self._lost(within, problems)
            self._tar(reader, None, within, depth + 1)
        elif kind or magic.compression(head):
            self._kept(reader, within, depth, problems, size)
        elif (spill := self._spilling(within)) is not None:
            kept = spill.keep(reader, pack=True)
            part = Part(0, kept.stored, PACKING, kept.size, sha256=kept.sha256)
            member = Member(within, kept.file, part, "", head, problems)
            self._found.members.append(member)
            self._settle(kept, size, problems)

    def _kept(
        self,
        reader: Reader,
        within: Way,
        depth: int,
        problems: list[str],
        size: int | None = None,
    ) -> None:
        """Keep bytes as they are, so that they can be sought, and look into them."""
        spill = self._spilling(within)
        if spill is None:
            return
        kept = spill.keep(reader, pack=False)
        try:
            self._settle(kept, size, problems)
        finally:
            self._blob(_Blob(kept.file, 0, kept.size), within, depth, problems)

    def _settle(self, kept: Kept, size: int | None, problems: list[str]) -> None:
        if kept.stopped is not None:
            problems.append(f"cut off after {kept.size} bytes: {kept.stopped}")
            raise kept.stopped
        if size is not None and kept.size < size:
            problems.append(f"cut off: {kept.size} of its {size} bytes are there")

    def _tar(self, reader: Reader, blob: _Blob | None, within: Way, depth: int) -> None:
        """Go through a tar archive; `blob` are its bytes if they can be sought."""
        for entry in tarfiles.entries(reader, lambda text: self._lost(within, [text])):
            if self._full(within):
                return
            name = os.fsdecode(entry.name)
            target = os.fsdecode(entry.target)
            way = self._way(within, name, entry.kind, target)
            if way is None:
                continue
            problems = []
            if entry.holes:
                problems.append(
                    f"a sparse file: its holes, {entry.holes} zero bytes, are left out"
                )
            if blob is None:
                window = Window(reader, entry.size)
                self._stream(window, entry.size, way, depth, problems)
                continue
            there = max(0, min(entry.size, blob.size - reader.offset))
            if there < entry.size:
                problems.append(f"cut off: {there} of its {entry.size} bytes are there")
            self._blob(blob.part(reader.offset, there), way, depth, problems)

    def _zip(self, stored: Stored, blob: _Blob, within: Way, depth: int) -> None:
        most = self._limits.members - self._entries + 1
        entries = list(
            zipfiles.entries(
                stored, blob.size, most, lambda text: self._lost(within, [text])
            )
        )
        if reason := no_logs([entry.name for entry in entries]):
            self._found.skipped.append((within, reason))
            return
        for entry in entries:
            if self._full(within):
                return
            way = self._way(within, slashed(entry.name), entry.kind, "")
            if way is None:
                continue
            if entry.refused:
                self._found.lost.append((way, entry.refused))
                continue
            problems = []
            if entry.torn:
                problems.append(
                    f"cut off: {entry.packed} of its packed bytes are there"
                )
            part = blob.part(entry.offset, entry.packed)
            codec = zipfiles.CODECS[entry.method]
            if codec:
                self._packed(part, codec, entry, way, depth, problems)
            else:
                self._blob(part, way, depth, problems)

    def _packed(
        self,
        blob: _Blob,
        codec: str,
        entry: zipfiles.Entry,
        within: Way,
        depth: int,
        problems: list[str],
    ) -> None:
        """Look into a compressed member of a zip archive, which is read in place."""
        with blob.file.open("rb", buffering=0) as file:

            def stored() -> Stored:
                return Stored(file, self._name, blob.start, blob.size)

            head = decode.head(stored(), codec, magic.HEAD_BYTES)
            if magic.archive(head) or magic.compression(head):
                pieces = self._pieces(stored(), codec, within)
                self._stream(Stream(pieces), entry.size or 0, within, depth, problems)
                return
        if reason := magic.unread(head):
            self._found.skipped.append((within, reason))
            return
        # No codec of a zip gives more than this; a larger size is a lie.
        self._count(min(entry.size or 0, _LARGEST_RATIO * blob.size))
        part = Part(blob.start, blob.size, codec, entry.size, entry.crc)
        self._found.members.append(Member(within, blob.file, part, "", head, problems))

    # ------------------------------------------------------------ what may be read

    def _way(self, within: Way, name: str, kind: str, target: str) -> Way | None:
        """Give the way to a member; None for one that is not to be read."""
        if kind == tarfiles.FOLDER:
            return None
        parts = tuple(part for part in name.split("/") if part not in {"", "."})
        way = (*within, (name[:LONGEST_NAME],))
        reason = refused(name, parts)
        if reason:
            self._found.lost.append((way, f"{reason}: refused"))
            return None
        if any(part.startswith(".") or part == "__MACOSX" for part in parts):
            return None
        if kind != tarfiles.FILE:
            # The target last: what follows the name of a secret is not shown.
            reason = (
                f"not followed: {kind} to {target}" if target else f"not read: {kind}"
            )
            self._found.skipped.append((way, reason))
            return None
        return (*within, parts)

    def _full(self, within: Way) -> bool:
        """Count a member; tell once when there are too many."""
        self._entries += 1
        most = self._limits.members
        if self._entries == most + 1:
            text = f"more than {most} members: the others are not read; "
            self._lost(within, [text + "--max-members raises the limit"])
        return self._entries > most

    def _too_deep(self, within: Way, depth: int) -> bool:
        if depth < self._limits.depth:
            return False
        self._found.lost.append(
            (
                within,
                f"an archive within {depth} others: not opened; "
                "--max-depth raises the limit",
            )
        )
        return True

    def _spilling(self, within: Way) -> Spill | None:
        if self._spill is None:
            self._found.skipped.append((within, "packed in an archive: not read here"))
        return self._spill

    def _pieces(self, stored: Stored, codec: str, within: Way) -> Iterator[Piece]:
        """Decode, count, and tell what is damaged when it is over."""
        problems: list[str] = []
        try:
            for piece in decode.pieces(stored, codec, problems):
                if piece is not None:
                    self._used += len(piece)
                    if self._used > self._most:
                        raise LimitError(
                            f"stopped: it unpacks to more than {self._limits.ratio:g} "
                            "times its size; --max-ratio raises the limit"
                        )
                    self._count(len(piece))
                yield piece
        finally:
            self._lost(within, problems)

    def _lost(self, within: Way, problems: Iterable[str]) -> None:
        self._found.lost += [(within, problem) for problem in problems]

    def _allow(self) -> None:
        """Share what is left of the limit among members that are still packed."""
        packed = [
            member
            for member in self._found.members
            if member.compression
            or (member.part and member.part.packing and not member.part.sha256)
        ]
        whole = sum(self._stored(member) for member in packed)
        left = max(0, self._most - self._used)
        for member in packed:
            member.allowed = left * self._stored(member) // max(1, whole)

    def _stored(self, member: Member) -> int:
        return member.part.size or 0 if member.part else self._size
