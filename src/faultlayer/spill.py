"""Keeps in temporary files what archives hold and cannot be read where it stands."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import zstandard

from faultlayer.stored import Reader

PACKING: Final = "zst"
_LEVEL: Final = 1
_PIECE: Final = 1 << 20


class LimitError(Exception):
    """What is unpacked has grown beyond a limit; the message names it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A temporary file of `stored` bytes that holds `size` bytes.

    `stopped`: the limit at which reading ended.
    """

    file: Path
    stored: int
    size: int
    sha256: str
    stopped: LimitError | None


class _Sink(Protocol):
    def write(self, data: bytes, /) -> int: ...


class Spill:
    """A folder of temporary files, one for each call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def keep(self, reader: Reader, *, pack: bool) -> Kept:
        """Store what a reader gives up to its end or a gap; as `PACKING` with `pack`."""
        self._folder.mkdir(exist_ok=True)
        self._count += 1
        path = self._folder / f"{self._count:06d}"
        with path.open("xb") as file:
            if pack:
                packer = zstandard.ZstdCompressor(level=_LEVEL)
                with packer.stream_writer(file, closefd=False) as sink:
                    done = _copy(reader, sink)
            else:
                done = _copy(reader, file)
            stored = file.tell()
        size, sha256, stopped = done
        return Kept(path, stored, size, sha256, stopped)


def _copy(reader: Reader, sink: _Sink | BinaryIO) -> tuple[int, str, LimitError | None]:
    digest = hashlib.sha256()
    size = 0
    try:
        while piece := reader.read(_PIECE):
            digest.update(piece)
            sink.write(piece)
            size += len(piece)
    except LimitError as error:
        return size, digest.hexdigest(), error
    return size, digest.hexdigest(), None
