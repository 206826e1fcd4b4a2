"""Read a source in blocks of whole lines, decoded, counted and hashed in one pass."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np

from faultlayer import decode, encodings
from faultlayer.errors import Location, SourceError
from faultlayer.members import Part, Source
from faultlayer.stored import Piece, Stored

_NEWLINE = 0x0A
_COUNTED = 256 << 10
_LONGEST_LINE = 64 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a decoded stream; never empty.

    Only the last line may lack its newline: at the end of the stream, before bytes that
    a damaged file lost, and where a line is longer than 64 MiB. `encoding` is UTF-8 or
    one that has lines where UTF-8 has them.
    """

    data: bytes
    offset: int  # of the first byte in the decoded stream
    first_line: int  # from 1
    last: bool
    encoding: str = encodings.UTF8


class Opened:
    """The blocks of one source, to be iterated once.

    When the iteration has ended: `sha256` and `file_bytes` of the stored file or member,
    `bytes` and `lines` of the decoded stream, the `encoding` of its text. `problems` says
    what was wrong with the file.
    """

    def __init__(self, source: Source, block_bytes: int) -> None:
        self.sha256 = ""
        self.file_bytes = 0
        self.bytes = 0
        self.lines = 0
        self.encoding = encodings.UTF8
        self.problems: list[str] = list(source.problems)
        if source.file is None:
            # Who opens a source twice would find nothing the second time.
            raise ValueError("stdin is read when it is stored in a file")
        try:
            file = source.file.open("rb", buffering=0)
        except OSError as error:
            raise SourceError(
                f"cannot be read: {error.strerror or error}",
                at=Location(source.path),
                hint="make it readable for this user, or leave it out",
            ) from error
        self._file = file
        part = source.part or Part(0, None)
        self._part = part
        self._stored = Stored(file, source.path, part.start, part.size)
        self._member = hashlib.sha256()
        self._member_bytes = 0
        self._compression = source.compression
        self._allowed = source.allowed
        self._block_bytes = max(1, block_bytes)
        # One block ahead: reading, hashing and decoding run beside the parsing.
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="read")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the reader and close the file."""
        self._ahead.shutdown(wait=True)
        self._file.close()

    def __iter__(self) -> Iterator[Block]:
        blocks = self._blocks()
        coming = self._ahead.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = self._ahead.submit(next, blocks, None)
            yield block

    @property
    def stored_bytes(self) -> int:
        """Stored bytes read so far: ahead of the blocks given by one or two."""
        return self._member_bytes if self._part.packing else self._stored.bytes

    def hash(self) -> str:
        """Give `sha256` alone, in place of the iteration."""
        if self._part.packing and not self._part.sha256:
            for _ in self._decoded():
                pass
        self._end()
        return self.sha256

    def _blocks(self) -> Iterator[Block]:
        offset = 0
        line = 1
        data = b""
        for coming in self._cut():
            if data:
                yield Block(data, offset, line, last=False, encoding=self.encoding)
                line += count_lines(data)
                offset += len(data)
            data = coming
        self._end()
        self.bytes = offset + len(data)
        self.lines = line - 1 + count_lines(data)
        if data:
            yield Block(data, offset, line, last=True, encoding=self.encoding)

    def _end(self) -> None:
        """Settle what is known of the stored bytes."""
        if self._part.packing:
            self.sha256 = self._part.sha256 or self._member.hexdigest()
            self.file_bytes = self._member_bytes
        else:
            self._stored.drain()
            self.sha256 = self._stored.sha256
            self.file_bytes = self._stored.bytes

    def _pieces(self) -> Iterator[Piece]:
        """Give the pieces of the text, none larger than a block is to be.

        How a file decodes, the damaged above all, must not depend on the block size.
        """
        limit = self._block_bytes
        text = encodings.Text(self._decoded(), self.problems)
        for piece in text:
            self.encoding = text.encoding
            if piece is None or len(piece) <= limit:
                yield piece
            else:
                for at in range(0, len(piece), limit):
                    yield piece[at : at + limit]

    def _decoded(self) -> Iterator[Piece]:
        """Give the decoded pieces, up to what the source may unpack to."""
        part = self._part
        codec = part.packing or self._compression
        known = len(self.problems)
        size, check = 0, 0
        most = self._allowed
        if part.packing and part.unpacked is not None:
            most = part.unpacked if most is None else min(most, part.unpacked)
        for piece in decode.pieces(self._stored, codec, self.problems):
            if piece is None:
                yield None
                continue
            if most is not None and size + len(piece) > most:
                yield from self._member_piece(piece[: most - size])
                self._stop(most)
                return
            size += len(piece)
            if part.crc is not None:
                check = decode.crc32(piece, check)
            yield from self._member_piece(piece)
        if len(self.problems) > known:
            return
        if part.unpacked not in {None, size} and part.packing:
            self.problems.append(
                f"it has {size} bytes, the archive says {part.unpacked}"
            )
        elif part.crc not in {None, check}:
            self.problems.append(
                "it does not agree with its checksum: some of it may be false"
            )

    def _member_piece(self, piece: bytes) -> Iterator[bytes]:
        if self._part.packing:
            self._member_bytes += len(piece)
            if not self._part.sha256:
                self._member.update(piece)
        if piece:
            yield piece

    def _stop(self, most: int) -> None:
        if most == self._allowed:
            text = "it unpacks to far more than its size; a larger --max-ratio reads on"
        else:
            text = "the archive says that it ends there, and it goes on"
        self.problems.append(f"stopped after {most} bytes: {text}")

    def _cut(self) -> Iterator[bytes]:
        """Gather pieces to blocks that end after a newline, wherever there is one."""
        held: list[bytes] = []
        size = 0
        start = 0  # offset of what is held
        newline: tuple[int, int] | None = None  # the last: number of the piece, place
        for piece in self._pieces():
            if piece is None:
                if held:
                    yield b"".join(held)
                start += size
                held, size, newline = [], 0, None
                continue
            place = piece.rfind(b"\n")
            if place >= 0:
                newline = len(held), place
            held.append(piece)
            size += len(piece)
            if size < self._block_bytes or (newline is None and size < _LONGEST_LINE):
                continue
            if newline is None:
                newline = len(held) - 1, len(piece) - 1
                self.problems.append(
                    f"the line at byte {start} of the text is longer than "
                    f"{_LONGEST_LINE} bytes: read as several lines"
                )
            data, held = _split(held, *newline)
            yield data
            start += len(data)
            size -= len(data)
            newline = None
        if held:
            yield b"".join(held)


def _split(pieces: list[bytes], number: int, place: int) -> tuple[bytes, list[bytes]]:
    """Give what goes up to a place in a piece as one, and the pieces of the rest."""
    view = memoryview(pieces[number])
    data = b"".join([*pieces[:number], view[: place + 1]])
    rest = [bytes(view[place + 1 :]), *pieces[number + 1 :]]
    return data, [piece for piece in rest if piece]


def open_source(source: Source, block_bytes: int = 8 << 20) -> Opened:
    """Open a source for reading in blocks of about `block_bytes`.

    Raises `SourceError` here if the file cannot be opened, and from the iteration if it
    cannot be read on.
    """
    return Opened(source, block_bytes)


def stored_sha256(source: Source) -> str:
    """Hash a file or member as stored, without reading it as text."""
    with Opened(source, 1) as opened:
        return opened.hash()


def count_lines(data: bytes) -> int:
    """Count lines; one without its newline counts."""
    # Several times as fast as bytes.count, which looks for one after the other; a part
    # at a time, or the marks would need fresh memory of the size of the block.
    codes = np.frombuffer(data, np.uint8)
    ends = sum(
        int(np.count_nonzero(codes[at : at + _COUNTED] == _NEWLINE))
        for at in range(0, len(codes), _COUNTED)
    )
    return ends + (data[-1:] not in (b"", b"\n"))
