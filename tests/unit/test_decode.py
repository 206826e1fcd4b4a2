"""Members are one text; of a damaged file all that decodes is kept, the rest is told."""

import bz2
import gzip
import hashlib
import io
import lzma
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import zstandard

from faultlayer import decode
from faultlayer import stored as storing
from faultlayer.stored import Stored


def zst(data: bytes) -> bytes:
    """Pack with a checksum, as the zstd program does."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zst,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
packed = pytest.mark.parametrize("kind", PACKS)


def some_lines(count: int, seed: int = 7) -> bytes:
    """Give lines that compress to about a third."""
    rng = random.Random(seed)
    return b"".join(
        b"%06d POST /v1/chat/completions %s\n"
        % (line, rng.randbytes(12).hex().encode())
        for line in range(count)
    )


@dataclass
class Decoded:
    """The parts of the text between gaps, and what was told."""

    parts: list[bytes]
    problems: list[str]


def decoded(kind: str, stored: bytes) -> Decoded:
    """Decode, after a check that every stored byte was hashed, once."""
    file = Stored(io.BytesIO(stored), "x.log")
    parts: list[list[bytes]] = [[]]
    problems: list[str] = []
    for piece in decode.pieces(file, kind, problems):
        if piece is None:
            parts.append([])
        else:
            assert 0 < len(piece) <= 1 << 20
            parts[-1].append(piece)
    assert (file.bytes, file.sha256) == (
        len(stored),
        hashlib.sha256(stored).hexdigest(),
    )
    return Decoded([b"".join(part) for part in parts], problems)


class TestMembers:
    """Several streams in one file are one text."""

    @packed
    @pytest.mark.parametrize("chunk", [100, 1 << 20])
    def test_members(
        self, kind: str, chunk: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A line may go on in the next member; empty members do no harm."""
        monkeypatch.setattr(storing, "_CHUNK", chunk)
        parts = [b"one\ntw", b"", b"o\nthree\n", b"\n" * 50, some_lines(200), b"end"]
        found = decoded(kind, b"".join(map(PACKS[kind], parts)))
        assert found == Decoded([b"".join(parts)], [])

    def test_many_tiny_members(self) -> None:
        """A server that flushes each line as a member is read all the same."""
        lines = some_lines(20_000).splitlines(keepends=True)
        found = decoded("gz", b"".join(gzip.compress(line, 1) for line in lines))
        assert found == Decoded([b"".join(lines)], [])

    def test_gzip_header_fields(self) -> None:
        """A header with a name, a comment, extra bytes and its checksum is understood."""
        plain = gzip.compress(b"line\n", mtime=0)
        fields = b"\x02\x00ab" + b"x.log\0" + b"comment\0"
        head = plain[:3] + b"\x1e" + plain[4:10] + fields
        check = (zlib.crc32(head) & 0xFFFF).to_bytes(2, "little")
        found = decoded("gz", (head + check + plain[10:]) * 2)
        assert found == Decoded([b"line\nline\n"], [])

    def test_zst_variants(self) -> None:
        """Skippable frames, frames without a size, and raw or repeated blocks are read."""
        streaming = zstandard.ZstdCompressor(write_content_size=False).compressobj()
        data = some_lines(3000)
        noise = random.Random(1).randbytes(200_000)
        stored = (
            b"\x5f\x2a\x4d\x18\x05\x00\x00\x00\x28\xb5\x2f\xfd."
            + streaming.compress(data)
            + streaming.flush()
            + zstandard.compress(b"")
            + zst(noise)
            + zst(b"\0" * 500_000)
        )
        assert decoded("zst", stored) == Decoded([data + noise + b"\0" * 500_000], [])


def exact(kind: str, stored: bytes) -> bytes:
    """Decode byte by byte, independently, as far as one stream goes."""
    decoder: Any = {
        "gz": lambda: zlib.decompressobj(31),
        "bz2": bz2.BZ2Decompressor,
        "xz": lzma.LZMADecompressor,
    }[kind]()
    out = []
    try:
        for byte in stored:
            if decoder.eof:
                break
            out.append(decoder.decompress(bytes([byte])))
    except (OSError, lzma.LZMAError, zlib.error):
        pass
    return b"".join(out)


class TestDamage:
    """What decodes is kept, the rest is told."""

    @packed
    @pytest.mark.parametrize("kept", [0.999, 0.7, 0.3])
    def test_truncated(self, kind: str, kept: float) -> None:
        """A stream that the file's end cuts off gives what it holds, and says so."""
        data = some_lines(4000)
        stored = PACKS[kind](data)
        stored = stored[: int(len(stored) * kept)]
        found = decoded(kind, stored)
        (text,) = found.parts
        assert data.startswith(text)
        (problem,) = found.problems
        assert problem.endswith(
            f"member at byte 0 is cut off by the end of the file: "
            f"the {len(text)} bytes that decode are kept"
        )
        if kind == "zst":
            assert len(text) > kept * len(data) - 150_000
        else:
            assert text == exact(kind, stored)

    @packed
    @pytest.mark.parametrize("end", [6, 10, -5, -1])
    def test_hardly_begun_or_ended(self, kind: str, end: int) -> None:
        """A torn header or trailer is no crash, and is told."""
        (problem,) = decoded(kind, PACKS[kind](b"x" * 999)[:end]).problems
        assert "member at byte 0 is cut off" in problem

    @packed
    @pytest.mark.parametrize("seed", range(6))
    def test_corrupt(self, kind: str, seed: int) -> None:
        """All up to the fault is kept, and the next member is found again."""
        rng = random.Random(seed)
        data = some_lines(6000, seed)
        first = bytearray(PACKS[kind](data))
        at = rng.randrange(len(first) // 4, len(first))
        first[at] ^= 1 + rng.randrange(255)
        rest = b"after the fault\n" + some_lines(10)
        stored = bytes(first) + PACKS[kind](rest)
        found = decoded(kind, stored)
        kept, after = found.parts
        assert after == rest
        assert found.problems[0].split(" ")[1:5] == ["member", "at", "byte", "0"]
        if kind != "zst":
            least = exact(kind, bytes(first))
            assert kept.startswith(least)
            # More where the fault is in the middle of what one byte brings.
            assert len(kept) - len(least) < {"gz": 300, "bz2": 900_000, "xz": 300}[kind]

    @pytest.mark.parametrize("kind", ["gz", "zst"])
    def test_checksum(self, kind: str) -> None:
        """A wrong checksum costs nothing but trust."""
        stored = bytearray(PACKS[kind](b"line\n" * 1000))
        stored[-6 if kind == "gz" else -2] ^= 1
        found = decoded(kind, bytes(stored))
        assert found.parts == [b"line\n" * 1000]
        name = {"gz": "gzip", "zst": "zstd"}[kind]
        assert found.problems[0] == (
            f"{name} member at byte 0 does not agree with its checksum: "
            "its 5000 bytes are kept, some may be false"
        )

    @packed
    @pytest.mark.parametrize(
        "rubbish", [b"\0" * 512, b"garbage", b"\x1f\x8b\x08 no", b"x" * 70_000]
    )
    def test_trailing(self, kind: str, rubbish: bytes) -> None:
        """Rubbish after a member is told and left out."""
        stored = PACKS[kind](b"line\n")
        if stored[:2] == rubbish[:2]:
            rubbish = b"." + rubbish
        found = decoded(kind, stored + rubbish)
        assert found.parts == [b"line\n"]
        (problem,) = found.problems
        assert problem.startswith(
            f"{len(rubbish)} bytes from byte {len(stored)} on are not "
        )
        assert problem.endswith(": left out, to the end")

    def test_too_large_a_window(self) -> None:
        """A stream that wants more memory than any log needs is refused by name."""
        parameters = zstandard.ZstdCompressionParameters(
            window_log=30, write_content_size=False
        )
        streaming = zstandard.ZstdCompressor(
            compression_params=parameters
        ).compressobj()
        stored = streaming.compress(b"line\n") + streaming.flush()
        found = decoded("zst", stored)
        assert found.parts == [b""]
        assert found.problems[0].startswith(
            "zstd member at byte 0 needs too much memory"
        )

    def test_slow_decoder_disagrees(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A member that only the fast decoder refuses is read whole by the exact one."""

        class Refusing:
            needs_input = True
            eof = False
            unused_data = b""

            def decompress(self, _: bytes, __: int) -> bytes:
                raise zlib.error("no")

        monkeypatch.setattr("isal.igzip_lib.IgzipDecompressor", lambda **_: Refusing())
        data = some_lines(30_000)
        found = decoded("gz", gzip.compress(data) + gzip.compress(b"more\n"))
        assert found == Decoded([data + b"more\n"], [])
