"""Read a source in blocks of whole lines, decoded, counted and hashed in one pass."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from faultlayer import decode
from faultlayer.errors import Location, SourceError
from faultlayer.find import Source

_PIECE = 1 << 20
_LONGEST_LINE = 256 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a decoded stream; never empty.

    Only the last line may lack its newline: at the end of the stream, before bytes that
    a damaged file lost, and where a line is longer than 256 MiB.
    """

    data: bytes
    offset: int  # of the first byte in the decoded stream
    first_line: int  # from 1
    last: bool


class Opened:
    """The blocks of one source, to be iterated once.

    When the iteration has ended: `sha256` and `file_bytes` of the stored file, `bytes`
    and `lines` of the decoded stream. `problems` says what was wrong with the file.
    """

    def __init__(self, source: Source, block_bytes: int) -> None:
        self.sha256 = ""
        self.file_bytes = 0
        self.bytes = 0
        self.lines = 0
        self.problems: list[str] = []
        if source.file is None:
            # Who opens a source twice would find nothing the second time.
            raise ValueError("stdin is read through find.store_stdin")
        try:
            file = source.file.open("rb", buffering=0)
        except OSError as error:
            raise SourceError(
                f"cannot be read: {error.strerror or error}",
                at=Location(source.path),
                hint="make it readable for this user, or leave it out",
            ) from error
        self._file = file
        self._stored = decode.Stored(file, source.path)
        self._compression = source.compression
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

    def _blocks(self) -> Iterator[Block]:
        offset = 0
        line = 1
        data = b""
        for coming in self._cut():
            if data:
                yield Block(data, offset, line, last=False)
                line += count_lines(data)
                offset += len(data)
            data = coming
        self.sha256 = self._stored.sha256
        self.file_bytes = self._stored.bytes
        self.bytes = offset + len(data)
        self.lines = line - 1 + count_lines(data)
        if data:
            yield Block(data, offset, line, last=True)

    def _cut(self) -> Iterator[bytes]:
        """Gather pieces to blocks that end after a newline, wherever there is one."""
        held: list[bytes] = []
        size = 0
        start = 0  # offset of what is held
        cut: tuple[int, int] | None = (
            None  # last newline: number of the piece, position
        )
        limit = min(self._block_bytes, _PIECE)
        for piece in decode.pieces(
            self._stored, self._compression, limit, self.problems
        ):
            if piece is not None:
                if not held and not start:
                    self._note_encoding(piece)
                newline = piece.rfind(b"\n")
                if newline >= 0:
                    cut = len(held), newline
                held.append(piece)
                size += len(piece)
                if size < self._block_bytes or (cut is None and size < _LONGEST_LINE):
                    continue
            if not held:
                continue
            if piece is None or cut is None:
                cut = len(held) - 1, len(held[-1]) - 1
                if piece is not None:
                    self.problems.append(
                        f"the line at byte {start} of the text is longer than "
                        f"{_LONGEST_LINE} bytes: read as several lines"
                    )
            number, newline = cut
            torn = memoryview(held[number])
            yield b"".join([*held[:number], torn[: newline + 1]])
            held = [bytes(torn[newline + 1 :]), *held[number + 1 :]]
            held = [piece for piece in held if piece]
            start += size
            size = sum(map(len, held))
            start -= size
            cut = None
        if held:
            yield b"".join(held)

    def _note_encoding(self, start: bytes) -> None:
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            self.problems.append("UTF-16 text: not decoded, convert it to UTF-8 first")


def open_source(source: Source, block_bytes: int = 8 << 20) -> Opened:
    """Open a source for reading in blocks of about `block_bytes`.

    Raises `SourceError` here if the file cannot be opened, and from the iteration if it
    cannot be read on.
    """
    return Opened(source, block_bytes)


def count_lines(data: bytes) -> int:
    """Count lines; one without its newline counts."""
    return data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
