"""Reads on through the bytes of a file, a part of one, or a decoded stream."""

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from faultlayer.errors import Location, SourceError

_CHUNK = 1 << 20  # bytes of one read; also of one piece of a plain file

# Decoded bytes; None where bytes are missing, so that no line reaches across the gap.
Piece = bytes | None


class Reader(Protocol):
    """What reads on; `offset` is that of what comes next."""

    @property
    def offset(self) -> int: ...  # noqa: D102

    def read(self, limit: int = ...) -> bytes:
        """Give up to `limit` bytes, and none only at the end or before a gap."""
        ...

    def exactly(self, count: int) -> bytes:
        """Give `count` bytes, fewer only at the end or before a gap."""
        ...

    def skip(self, count: int) -> int:
        """Go on by `count` bytes, fewer only at the end or before a gap."""
        ...

    def unread(self, data: bytes) -> None:
        """Put back what was read last."""
        ...

    def resume(self) -> bool:
        """Go on behind a gap; False when the bytes are at their end."""
        ...


class Stored:
    """The bytes of a file as stored, hashed once however often they are read.

    `start` and `size` narrow it to a part, whose offsets begin at 0; `chunk` bytes are
    read at once.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        start: int = 0,
        size: int | None = None,
        chunk: int = 0,
    ) -> None:
        self._file = file
        self._name = name
        self._start = start
        self._size = size
        self._limit = chunk or _CHUNK
        self._hash = hashlib.sha256()
        self._chunk = b""
        self._base = 0
        self.offset = 0  # of what `read` gives next; may be set back
        self.bytes = 0  # hashed so far

    @property
    def sha256(self) -> str:
        """Hash of what was read so far."""
        return self._hash.hexdigest()

    def read(self, limit: int = _CHUNK) -> bytes:
        """Give up to `limit` bytes, and none only at the end."""
        at = self.offset - self._base
        if not 0 <= at < len(self._chunk):
            self._load()
            at = 0
        piece = self._chunk[at : at + limit]
        self.offset += len(piece)
        return piece

    def exactly(self, count: int) -> bytes:
        """Give `count` bytes, fewer only at the end."""
        return _exactly(self, count)

    def skip(self, count: int) -> int:
        """Go on by `count` bytes, fewer only at the end of a part."""
        if self._size is not None:
            count = max(0, min(count, self._size - self.offset))
        self.offset += count
        return count

    def unread(self, data: bytes) -> None:
        """Put back what was read last."""
        self.offset -= len(data)

    def resume(self) -> bool:
        """Tell that there are no gaps."""
        return False

    def drain(self) -> None:
        """Hash what was not read."""
        self.offset = self.bytes
        while self.read():
            pass

    def _load(self) -> None:
        limit = self._limit
        if self._size is not None:
            limit = max(0, min(limit, self._size - self.offset))
        try:
            self._file.seek(self._start + self.offset)
            self._chunk = self._file.read(limit)
        except OSError as error:
            raise SourceError(
                f"cannot be read: {error.strerror or error}",
                at=Location(self._name, offset=self._start + self.offset),
                hint="copy the file to a healthy disk and analyze the copy",
            ) from error
        self._base = self.offset
        known = self.bytes - self._base
        if 0 <= known < len(self._chunk):
            self._hash.update(memoryview(self._chunk)[known:])
            self.bytes = self._base + len(self._chunk)


class Stream:
    """Reads on through decoded pieces; a gap ends a read until `resume`."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces
        self._piece = b""
        self._at = 0
        self._gap = False
        self.offset = 0

    def read(self, limit: int = _CHUNK) -> bytes:
        """Give up to `limit` bytes, and none only at the end or before a gap."""
        if self._at == len(self._piece) and not self._gap:
            piece = next(self._pieces, None)
            if piece is None:
                self._gap = True
            else:
                self._piece, self._at = piece, 0
        found = self._piece[self._at : self._at + limit]
        self._at += len(found)
        self.offset += len(found)
        return found

    def exactly(self, count: int) -> bytes:
        """Give `count` bytes, fewer only at the end or before a gap."""
        return _exactly(self, count)

    def skip(self, count: int) -> int:
        """Read `count` bytes and drop them, fewer only at the end or before a gap."""
        left = count
        while left and (piece := self.read(left)):
            left -= len(piece)
        return count - left

    def unread(self, data: bytes) -> None:
        """Put back what was read last."""
        if self._piece[max(0, self._at - len(data)) : self._at] == data:
            self._at -= len(data)
        else:
            self._piece, self._at = data + self._piece[self._at :], 0
        self.offset -= len(data)

    def resume(self) -> bool:
        """Go on behind a gap; False when the stream is at its end."""
        self._gap = False
        found = self.read(1)
        self.unread(found)
        return bool(found)


class Window:
    """So many bytes of a reader, as a reader of its own."""

    def __init__(self, reader: Reader, size: int) -> None:
        self._reader = reader
        self._left = size
        self.offset = 0

    def read(self, limit: int = _CHUNK) -> bytes:
        """Give up to `limit` bytes, and none only at the end or before a gap."""
        piece = self._reader.read(min(limit, self._left)) if self._left else b""
        self._left -= len(piece)
        self.offset += len(piece)
        return piece

    def exactly(self, count: int) -> bytes:
        """Give `count` bytes, fewer only at the end or before a gap."""
        return _exactly(self, count)

    def skip(self, count: int) -> int:
        """Go on by `count` bytes, fewer only at the end or before a gap."""
        gone = self._reader.skip(min(count, self._left))
        self._left -= gone
        self.offset += gone
        return gone

    def unread(self, data: bytes) -> None:
        """Put back what was read last."""
        self._reader.unread(data)
        self._left += len(data)
        self.offset -= len(data)

    def resume(self) -> bool:
        """Give up at a gap: how much of the window it took is not known."""
        return False


def _exactly(reader: Reader, count: int) -> bytes:
    whole = reader.read(count)
    if len(whole) == count or not whole:
        return whole
    parts = [whole]
    left = count - len(whole)
    while left and (piece := reader.read(left)):
        parts.append(piece)
        left -= len(piece)
    return b"".join(parts)
