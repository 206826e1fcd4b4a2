"""Blocks are whole lines, every byte is in one, and damage is told and survived."""

import bz2
import gzip
import hashlib
import lzma
import random
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from faultlayer import blocks
from faultlayer import stored as storing
from faultlayer.blocks import Block, Opened, open_source
from faultlayer.errors import SourceError
from faultlayer.find import Source, find

Pack = Callable[[bytes], bytes]


def zst(data: bytes) -> bytes:
    """Pack with a checksum, as the zstd program does."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


PACKS: dict[str, Pack] = {
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


def source(tmp_path: Path, data: bytes) -> Source:
    """Store bytes in a file and find it."""
    file = tmp_path / "x.log"
    file.write_bytes(data)
    (found,) = find([str(file)]).sources
    return found


def read(
    tmp_path: Path, data: bytes, block_bytes: int = 8 << 20
) -> tuple[list[Block], Opened]:
    """Read bytes through a file."""
    with open_source(source(tmp_path, data), block_bytes) as opened:
        return list(opened), opened


def text(found: list[Block]) -> bytes:
    """Join the blocks after a check that each stands where it says."""
    whole = b"".join(block.data for block in found)
    offset = 0
    for block in found:
        assert block.data
        assert block.offset == offset
        offset += len(block.data)
    assert [block.last for block in found] == [False] * (len(found) - 1) + [
        True
    ] * bool(found)
    return whole


class TestBlocks:
    """Where blocks are cut."""

    @pytest.mark.parametrize("block_bytes", [1, 7, 100, 4096, 1 << 20])
    def test_cut_at_newlines(self, tmp_path: Path, block_bytes: int) -> None:
        """Each block ends after a newline and knows its first line."""
        data = some_lines(300) + b"no newline at the end"
        found, opened = read(tmp_path, data, block_bytes)
        assert text(found) == data
        assert all(block.data.endswith(b"\n") for block in found[:-1])
        assert [block.first_line for block in found] == [
            data[: block.offset].count(b"\n") + 1 for block in found
        ]
        assert opened.lines == 301
        assert max(len(block.data) for block in found) <= max(2 * block_bytes, 60)

    def test_empty(self, tmp_path: Path) -> None:
        """An empty file has no block, and a hash."""
        found, opened = read(tmp_path, b"")
        assert found == []
        assert (opened.bytes, opened.file_bytes, opened.lines) == (0, 0, 0)
        assert opened.sha256 == hashlib.sha256(b"").hexdigest()

    @pytest.mark.parametrize(
        "data", [b"\n", b"\n\n\n", b"\r", b"a", b"\0\0\n\0", b"a\r\n"]
    )
    @pytest.mark.parametrize("block_bytes", [1, 2, 100])
    def test_small(self, tmp_path: Path, data: bytes, block_bytes: int) -> None:
        """Odd little streams are kept to the byte."""
        found, opened = read(tmp_path, data, block_bytes)
        assert text(found) == data
        assert opened.lines == len(data.splitlines()) if b"\r" not in data else 1

    def test_long_line(self, tmp_path: Path) -> None:
        """A line of 40 MB is one line of a block that grew."""
        data = b"first\n" + b"x" * 40_000_000 + b"\nlast"
        found, opened = read(tmp_path, data, 1 << 20)
        assert text(found) == data
        assert opened.lines == 3
        assert b"x" * 40_000_000 + b"\n" in [block.data for block in found]

    def test_endless_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A line beyond all bounds is cut, which is told, and memory stays bounded."""
        monkeypatch.setattr(blocks, "_LONGEST_LINE", 5000)
        data = b"first\n" + b"\0" * 12_000 + b"\nlast\n"
        found, opened = read(tmp_path, data, 1000)
        assert text(found) == data
        assert opened.lines == 5
        assert [block.first_line for block in found] == [1, 2, 3, 4][: len(found)]
        assert opened.problems == [
            "the line at byte 6 of the text is longer than 5000 bytes: read as several lines",
            "the line at byte 6000 of the text is longer than 5000 bytes: read as several lines",
        ]

    @pytest.mark.parametrize("block_bytes", [1, 100, 1 << 20])
    def test_utf16(self, tmp_path: Path, block_bytes: int) -> None:
        """Text in UTF-16 comes as UTF-8; size and hash are those of the file."""
        data = "ready 就绪\r\n".encode("utf-16")
        found, opened = read(tmp_path, data, block_bytes)
        assert text(found).decode() == "\ufeffready 就绪\r\n"
        assert (opened.encoding, opened.bytes, opened.lines) == ("utf-16-le", 17, 1)
        assert (opened.file_bytes, opened.problems) == (len(data), [])
        assert opened.sha256 == hashlib.sha256(data).hexdigest()


class TestReader:
    """What stands around the blocks."""

    @packed
    def test_hash_of_the_file(self, tmp_path: Path, kind: str) -> None:
        """Hash and size are those of the file as stored, in the same pass."""
        data = some_lines(5000)
        stored = PACKS[kind](data)
        found, opened = read(tmp_path, stored, 1 << 14)
        assert text(found) == data
        assert opened.sha256 == hashlib.sha256(stored).hexdigest()
        assert (opened.file_bytes, opened.bytes, opened.lines) == (
            len(stored),
            len(data),
            5000,
        )
        assert opened.problems == []

    def test_known_with_the_last_block(self, tmp_path: Path) -> None:
        """The facts of the file are there as soon as the last block is."""
        with open_source(source(tmp_path, some_lines(1000)), 4096) as opened:
            for block in opened:
                assert bool(opened.sha256) or not block.last

    def test_stopped_early(self, tmp_path: Path) -> None:
        """Who has seen enough leaves neither a thread nor an open file."""
        before = threading.active_count()
        with open_source(source(tmp_path, some_lines(10_000)), 1000) as opened:
            first = next(iter(opened))
        assert first.first_line == 1
        assert threading.active_count() == before

    def test_missing(self, tmp_path: Path) -> None:
        """A file that has gone is an error that names it."""
        gone = source(tmp_path, b"x\n")
        (tmp_path / "x.log").unlink()
        with pytest.raises(SourceError, match=r"x\.log: cannot be read: No such file"):
            open_source(gone)

    def test_failing_disk(self, tmp_path: Path) -> None:
        """A read that fails later is an error with the offset."""
        with open_source(source(tmp_path, b"x\n" * 3_000_000)) as opened:
            opened._stored._file.close()  # noqa: SLF001 - a disk that fails on demand

            class Failing:
                def seek(self, offset: int) -> None:
                    self.offset = offset

                def read(self, _: int) -> bytes:
                    if self.offset:
                        raise OSError(5, "Input/output error")
                    return b"x\n" * 1000

            opened._stored._file = Failing()  # type: ignore[assignment] # noqa: SLF001
            with pytest.raises(SourceError) as error:
                list(opened)
        assert str(error.value).startswith(
            "x.log (byte 2000): cannot be read: Input/output error"
        )

    def test_stdin_needs_a_file(self) -> None:
        """Stdin, which is gone once read, is refused loudly."""
        with pytest.raises(ValueError, match="stored in a file"):
            open_source(Source(1, "-", None, None, "", "-", "stdin"))

    @packed
    def test_memory(self, tmp_path: Path, kind: str) -> None:
        """A small file that decodes to much is still read in small pieces."""
        stored = PACKS[kind](b"\n" * 30_000_000)
        found = source(tmp_path, stored)
        tracemalloc.start()
        with open_source(found, 1 << 20) as opened:
            for _ in opened:
                pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert opened.bytes == 30_000_000
        assert peak < (16 if kind == "xz" else 8) << 20  # xz: 8 MiB of dictionary


class TestGap:
    """Where bytes are missing, a line ends."""

    @packed
    @pytest.mark.parametrize("chunk", [97, 1 << 20])
    def test_between(
        self, tmp_path: Path, kind: str, chunk: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Rubbish between members does not hide the later one, wherever it begins."""
        monkeypatch.setattr(storing, "_CHUNK", chunk)
        one, two = PACKS[kind](b"one\ntorn"), PACKS[kind](b"two\n")
        for count in range(30 * chunk, 30 * chunk + (97 if chunk == 97 else 1)):
            found, opened = read(tmp_path, one + b"?" * count + two)
            assert [block.data for block in found] == [b"one\ntorn", b"two\n"]
            assert [block.first_line for block in found] == [1, 3]
            assert opened.lines == 3
            (problem,) = opened.problems
            assert problem.startswith(f"{count} bytes from byte {len(one)} on are not ")
            assert problem.endswith(f"reading goes on at byte {len(one) + count}")
