"""Undo compression block by block, and keep all that decodes of damaged streams."""

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast

import zstandard
from isal import igzip_lib, isal_zlib

from faultlayer.stored import Piece, Stored

_CHUNK = 1 << 20  # most bytes of a zstd frame to be skipped that are read at once
_OUT = 256 << 10  # most bytes that one call to a decoder gives
_FIRST_FEED = 8 << 10  # small, so that tiny members do not copy their neighbours
_STEP_FEED = 512
_XZ_MEMORY = 256 << 20
_HEADER_BYTES = 16


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Zlib:
    """zlib with the interface of its siblings.

    Unlike isal it gives what a call had decoded before a fault, if asked for little, and
    holds nothing back at a torn end.
    """

    def __init__(self, wbits: int = 31) -> None:
        self._inflate = zlib.decompressobj(wbits=wbits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        waiting = self._inflate.unconsumed_tail + data
        found = self._inflate.decompress(waiting, max_length)
        self.needs_input = len(found) < max_length and not self._inflate.unconsumed_tail
        return found


class _Sparing:
    """A decoder that gets single bytes when it is asked for single bytes.

    Once it has what was asked for, a decoder looks on as far as its input goes, so that
    a bad checksum would cost the last byte.
    """

    def __init__(self, decoder: _Decoder) -> None:
        self._decoder = decoder
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return self._decoder.needs_input and not self._waiting

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data + self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:
        waiting = self._waiting + data
        count = 1 if max_length == 1 else len(waiting)
        if not self._decoder.needs_input:
            count = 0
        self._waiting = waiting[count:]
        return self._decoder.decompress(waiting[:count], max_length)


def _xz() -> _Decoder:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


def crc32(data: bytes, before: int = 0) -> int:
    """Give the checksum of gzip and zip; `before` is that of the bytes before."""
    return isal_zlib.crc32(data, before)


_Member = Generator[bytes, None, str]  # gives pieces, returns what is wrong or ""


@dataclass(frozen=True, slots=True)
class _Library:
    """Two decoders of one format: `exact` may be slow, both may be the same."""

    name: str
    errors: tuple[type[Exception], ...]
    fast: Callable[[], _Decoder]
    exact: Callable[[], _Decoder]


@dataclass(frozen=True, slots=True)
class _Codec:
    name: str
    start: re.Pattern[bytes]  # of a member where one is due
    header: re.Pattern[bytes]  # strict enough to find a member within rubbish
    member: Callable[[Stored], _Member]


def pieces(stored: Stored, compression: str, problems: list[str]) -> Iterator[Piece]:
    """Yield the decoded stream in pieces of up to 1 MiB, none of them empty.

    A fault is told in `problems` with its offset in the stored file; what decodes before
    it, and what decodes from the next whole member on, is kept.
    """
    if compression == "":
        yield from iter(stored.read, b"")
        return
    codec = _CODECS[compression]
    more = True
    while more:
        fault = yield from codec.member(stored)
        if fault:
            problems.append(fault)
        elif codec.start.match(_peek(stored)):
            continue
        start = stored.offset
        more = _to_header(stored, codec.header)
        if skipped := stored.offset - start:
            end = f"reading goes on at byte {stored.offset}" if more else "to the end"
            problems.append(
                f"{skipped} bytes from byte {start} on are not {codec.name}: "
                f"left out, {end}"
            )
        if more:
            yield None


def head(stored: Stored, compression: str, count: int) -> bytes:
    """Give the first decoded bytes, as many as are there."""
    found = b""
    for piece in pieces(stored, compression, []):
        if piece is None:
            break
        found += piece[:count]
        if len(found) >= count:
            break
    return found[:count]


def _member(library: _Library, stored: Stored) -> _Member:
    start = stored.offset
    decoder = library.fast()
    produced = 0
    feed = _FIRST_FEED
    while not decoder.eof:
        piece = b""
        if decoder.needs_input:
            piece = stored.read(feed)
            feed = min(2 * feed, _OUT)
            if not piece and library.fast is library.exact:
                return _truncated(library.name, start, produced)
            if not piece:
                return (yield from _replay(library, stored, start, produced))
        try:
            found = decoder.decompress(piece, _OUT)
        except library.errors:
            return (yield from _replay(library, stored, start, produced))
        if found:
            produced += len(found)
            yield found
    stored.offset -= len(decoder.unused_data)
    return ""


def _replay(library: _Library, stored: Stored, start: int, known: int) -> _Member:
    """Decode a damaged member again, byte by byte from `known` on, up to the fault.

    A decoder that fails gives nothing of what the failing call had decoded by then.
    """
    stored.offset = start
    decoder = _Sparing(library.exact())
    seen = 0
    kept = bytearray()
    fault = ""
    while not decoder.eof and not fault:
        piece = b""
        if decoder.needs_input:
            piece = stored.read(_STEP_FEED)
            if not piece:
                fault = _truncated(library.name, start, seen)
                continue
        step = 1 if seen < known + 2 * _OUT else _OUT
        if seen < known:
            step = min(_OUT, known - seen)
        try:
            found = decoder.decompress(piece, step)
        except library.errors as error:
            fault = _damaged(library.name, start, stored.offset, seen, error)
            stored.offset = max(start + 1, stored.offset - _STEP_FEED)
            continue
        if seen >= known:
            kept += found
        seen += len(found)
        if len(kept) >= _OUT:
            yield bytes(kept)
            kept.clear()
    if not fault:
        stored.offset -= len(decoder.unused_data)
    if kept:
        yield bytes(kept)
    return fault


def _frame(stored: Stored) -> _Member:
    """Decode one zstd frame block by block: each gives 128 KiB at most.

    The walk over the block headers shows where a stream is torn, which the stream
    reader of the library does not tell from an end.
    """
    start = stored.offset
    head = stored.exactly(5)
    if head[1:4] == b"\x2a\x4d\x18":
        size = int.from_bytes(head[4:] + stored.exactly(3), "little")
        while size and (piece := stored.read(min(size, _CHUNK))):
            size -= len(piece)
        return _truncated("zstd", start, 0) if size else ""
    flags = int.from_bytes(head[4:], "little")
    due = 5 + (not flags & 0x20) + (0, 1, 2, 4)[flags & 3]
    due += (flags >> 5 & 1, 2, 4, 8)[flags >> 6]
    decoder = zstandard.ZstdDecompressor().decompressobj()
    produced = 0
    last = False
    part = head + stored.exactly(due - 5)
    while len(part) == due:
        try:
            found = decoder.decompress(part)
        except zstandard.ZstdError as error:
            fault = _damaged("zstd", start, stored.offset, produced, error)
            stored.offset = max(start + 1, stored.offset - due)
            return fault
        if found:
            produced += len(found)
            yield found
        if decoder.eof:
            return ""
        if last:
            due = 4  # the checksum
            part = stored.exactly(due)
        else:
            block = stored.exactly(3)
            field = int.from_bytes(block, "little")
            last = bool(field & 1)
            due = 3 + (1 if field >> 1 & 3 == 1 else field >> 3)
            part = block + stored.exactly(due - 3)
    return _truncated("zstd", start, produced)


def _peek(stored: Stored) -> bytes:
    start = stored.offset
    head = stored.exactly(_HEADER_BYTES)
    stored.offset = start
    return head


def _to_header(stored: Stored, header: re.Pattern[bytes]) -> bool:
    """Go to the next header, or to the end if there is none."""
    kept = b""
    while piece := stored.read():
        window = kept + piece
        if found := header.search(window):
            stored.offset += found.start() - len(window)
            return True
        kept = window[-_HEADER_BYTES:]
    return False


def _truncated(name: str, start: int, produced: int) -> str:
    return (
        f"{name} member at byte {start} is cut off by the end of the file: "
        f"the {produced} bytes that decode are kept"
    )


def _damaged(name: str, start: int, near: int, produced: int, error: Exception) -> str:
    member = f"{name} member at byte {start}"
    text = str(error).lower()
    if "check" in text:
        return (
            f"{member} does not agree with its checksum: "
            f"its {produced} bytes are kept, some may be false"
        )
    what = "needs too much memory" if "memory" in text else "is damaged"
    return f"{member} {what} near byte {near}: the {produced} bytes before are kept"


def _codec(library: _Library, start: bytes, header: bytes) -> _Codec:
    return _Codec(
        library.name,
        re.compile(start),
        re.compile(header, re.DOTALL),
        partial(_member, library),
    )


_ZST_START = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_INFLATE_ERRORS = (
    # The stubs of isal have the class as an instance.
    cast("type[Exception]", igzip_lib.IsalError),
    zlib.error,
)
_CODECS = {
    "gz": _codec(
        _Library(
            "gzip",
            _INFLATE_ERRORS,
            lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP),
            _Zlib,
        ),
        rb"\x1f\x8b\x08",
        rb"\x1f\x8b\x08[\x00-\x1f].{4}[\x00\x02\x04][\x00-\x0d\xff]",
    ),
    # As it stands in zip archives: without any header, so there is but one.
    "deflate": _codec(
        _Library(
            "deflate",
            _INFLATE_ERRORS,
            lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE),
            lambda: _Zlib(wbits=-15),
        ),
        rb"(?!)",
        rb"(?!)",
    ),
    "bz2": _codec(
        _Library(
            "bzip2", (OSError, ValueError), bz2.BZ2Decompressor, bz2.BZ2Decompressor
        ),
        rb"BZh[1-9]",
        rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    ),
    "xz": _codec(
        _Library("xz", (lzma.LZMAError,), _xz, _xz),
        rb"\xfd7zXZ\x00",
        rb"\xfd7zXZ\x00\x00[\x00\x01\x04\x0a]",
    ),
    "zst": _Codec("zstd", _ZST_START, _ZST_START, _frame),
}
