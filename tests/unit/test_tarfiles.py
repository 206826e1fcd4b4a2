"""Headers of every dialect are understood; behind damage the next one is found."""

import io
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from faultlayer import tarfiles
from faultlayer.stored import Piece, Reader, Stored, Stream, Window

Listed = list[tuple[bytes, str, bytes]]
Make = Callable[[bytes], Reader]


def seekable(data: bytes) -> Reader:
    """Read a file."""
    return Stored(io.BytesIO(data), "x.tar", 0, len(data))


def streamed(data: bytes) -> Reader:
    """Read pieces that end anywhere."""
    return Stream(data[at : at + 700] for at in range(0, len(data), 700))


def windowed(data: bytes) -> Reader:
    """Read an archive within a stream."""
    reader = streamed(b"before" + data + b"after")
    reader.skip(6)
    return Window(reader, len(data))


readers = pytest.mark.parametrize("make", [seekable, streamed, windowed])


def listed(reader: Reader) -> tuple[Listed, list[str]]:
    """Give name, kind and content of each member, and what was told."""
    told: list[str] = []
    return [
        (entry.name, entry.kind, reader.exactly(entry.size))
        for entry in tarfiles.entries(reader, told.append)
    ], told


def archive(*members: tuple[str, bytes], format_: int = tarfile.GNU_FORMAT) -> bytes:
    """Make a tar archive of files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format_) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def header(
    name: bytes,
    size: bytes,
    kind: bytes = b"0",
    magic: bytes = b"ustar\x0000",
    rest: bytes = b"",
) -> bytes:
    """Make a header by hand, with the right checksum; `rest` begins at byte 345."""
    block = bytearray(512)
    block[: len(name)] = name
    block[124 : 124 + len(size)] = size
    block[148:156] = b" " * 8
    block[156:157] = kind
    block[257 : 257 + len(magic)] = magic
    block[345 : 345 + len(rest)] = rest
    block[148:156] = b"%06o\x00 " % sum(block)
    return bytes(block)


END = bytes(1024)


class TestDialects:
    """Names, sizes and kinds."""

    @readers
    @pytest.mark.parametrize(
        "format_", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
    )
    def test_names(self, make: Make, format_: int) -> None:
        """Short, split and long names come whole, and so does each content."""
        names = ["a.log", "d/" * 60 + "b.log", "empty.log"]
        if format_ != tarfile.USTAR_FORMAT:
            names += ["é" * 200 + "/c.log"]
        data = archive(*((name, name.encode() * 50) for name in names), format_=format_)
        found, told = listed(make(data))
        assert found == [(name.encode(), "file", name.encode() * 50) for name in names]
        assert told == []

    @readers
    def test_without_magic(self, make: Make) -> None:
        """The headers of old tars have a checksum and nothing else."""
        block = header(b"old.log", b"0000004 ", magic=b"")
        assert tarfiles.is_header(block)
        assert listed(make(block + b"text".ljust(512, b"\0") + END)) == (
            [(b"old.log", "file", b"text")],
            [],
        )

    def test_binary_size(self) -> None:
        """A size beyond 8 GiB is a binary number."""
        size = b"\x80" + (5 << 33).to_bytes(11, "big")
        (entry,) = tarfiles.entries(seekable(header(b"big.log", size)), lambda _: None)
        assert entry.size == 5 << 33

    def test_kinds(self) -> None:
        """Links and devices are called what they are, and have no content."""
        kinds = {
            b"1": "hard link",
            b"2": "symbolic link",
            b"3": "device file",
            b"4": "device file",
            b"5": "folder",
            b"6": "named pipe",
            b"7": "file",
            b"\0": "file",
            b"Z": "file",
        }
        data = b"".join(header(b"x", b"00000000000 ", kind) for kind in kinds)
        data += header(b"folder/", b"00000000000 ", b"\0")
        found, told = listed(seekable(data + END))
        assert [kind for _, kind, _ in found] == [*kinds.values(), "folder"]
        assert told == []

    @readers
    def test_sparse(self, make: Make) -> None:
        """Of a sparse file the parts between the holes come, and the holes are told."""
        more = bytes(504) + b"\x01" + bytes(7)
        old = header(
            b"old.log",
            b"00000000006 ",
            b"S",
            b"ustar  ",
            # To byte 482: offsets; then that a block of them follows, and the size.
            rest=bytes(137) + b"\x01" + b"00000010000 ",
        )
        old += more + bytes(512) + b"a\nb\nc\n".ljust(512, b"\0")
        fields = {
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": "new.log",
            "GNU.sparse.realsize": "9000",
        }
        map_ = b"2\n0\n4\n8996\n4\n".ljust(512, b"\0")
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            info = tarfile.TarInfo("GNUSparseFile.1/new.log")
            info.pax_headers = fields
            info.size = len(map_) + 8
            tar.addfile(info, io.BytesIO(map_ + b"one\ntwo\n"))
        reader = make(old + out.getvalue())
        found = [
            (entry.name, entry.size, entry.holes, reader.exactly(entry.size))
            for entry in tarfiles.entries(reader, pytest.fail)
        ]
        assert found == [
            (b"old.log", 6, 4096 - 6, b"a\nb\nc\n"),
            (b"new.log", 8, 9000 - 8, b"one\ntwo\n"),
        ]

    def test_members_that_are_not_read(self) -> None:
        """Who does not read a member gets to the next one all the same."""
        data = archive(("a", b"x" * 5000), ("b", b""), ("c", b"y" * 512))
        for make in (seekable, streamed, windowed):
            names = [entry.name for entry in tarfiles.entries(make(data), pytest.fail)]
            assert names == [b"a", b"b", b"c"]


class TestDamage:
    """What is lost is told with its place, what comes after is read."""

    @readers
    def test_bad_header(self, make: Make) -> None:
        """A header whose checksum is wrong costs its member alone."""
        data = bytearray(archive(("a", b"x" * 600), ("b", b"y"), ("c", b"z" * 600)))
        data[1536 + 5] ^= 1  # in the name of b
        found, told = listed(make(bytes(data)))
        assert [(name, len(text)) for name, _, text in found] == [
            (b"a", 600),
            (b"c", 600),
        ]
        assert told == [
            "1024 bytes from byte 1536 on are no tar: left out, "
            "reading goes on at byte 2560"
        ]

    @readers
    @pytest.mark.parametrize("count", [1, 511, 513, 65_000, 140_000])
    def test_rubbish_between(self, make: Make, count: int) -> None:
        """Bytes that do not belong there are passed over, however many."""
        one, two = archive(("a", b"x"))[:1024], archive(("b", b"y"))
        found, told = listed(make(one + b"?" * count + two))
        assert [name for name, _, _ in found] == [b"a", b"b"]
        assert told == [
            f"{count} bytes from byte 1024 on are no tar: left out, "
            f"reading goes on at byte {1024 + count}"
        ]

    @readers
    def test_archives_in_a_row(self, make: Make) -> None:
        """What follows an end mark is read: archives that were put together."""
        found, told = listed(make(archive(("a", b"x")) + archive(("b", b"y"))))
        assert [name for name, _, _ in found] == [b"a", b"b"]
        assert told == []

    @readers
    @pytest.mark.parametrize(
        ("end", "content", "problem"),
        [
            (1024, b"x" * 300, "it has no end mark: it may be cut off"),
            (900, b"x" * 300, ""),  # the padding is missing, no member
            (700, b"x" * 188, ""),  # who reads the member sees that it is short
            (300, None, "300 bytes from byte 0 on are no tar: left out, to the end"),
        ],
    )
    def test_cut_off(
        self, make: Make, end: int, content: bytes | None, problem: str
    ) -> None:
        """What is there is given."""
        found, told = listed(make(archive(("a", b"x" * 300))[:end]))
        assert [text for _, _, text in found] == [content] * (content is not None)
        assert told == [problem] * bool(problem)

    def test_gap(self) -> None:
        """Behind a gap of unknown length the next header is found."""
        data = archive(("a", b"x" * 3000), ("b", b"y" * 100), ("c", b"z"))

        def pieces() -> Iterator[Piece]:
            yield data[:2000]
            yield None
            yield data[2345:]

        found, told = listed(Stream(pieces()))
        assert [(name, len(text)) for name, _, text in found] == [
            (b"a", 2000 - 512),
            (b"b", 100),
            (b"c", 1),
        ]
        assert len(told) == 1

    def test_extended_header_of_any_size(self) -> None:
        """A header that claims to describe gigabytes is not read into memory."""
        claim = b"%011o " % (6 << 30)
        data = header(b"x", claim, b"x") + bytes(4096)
        tracemalloc.start()
        found, told = listed(streamed(data))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found == []
        assert told[0] == f"an extended header of {6 << 30} bytes is passed over"
        assert peak < 1 << 20

    @pytest.mark.parametrize(
        "record",
        [
            b"",
            b"x",
            b"9999 path=x\n",
            b"0 path=x\n",
            b"-5 path=x\n",
            b"11 path\xff=x\n",
        ],
    )
    def test_odd_extended_header(self, record: bytes) -> None:
        """An extended header that is none changes nothing."""
        data = header(b"p", b"%011o " % len(record), b"x") + record.ljust(512, b"\0")
        data += header(b"a.log", b"00000000000 ") + END
        assert listed(seekable(data)) == ([(b"a.log", "file", b"")], [])

    @pytest.mark.parametrize(
        "text", [b"", b"\0" * 512, b"a line\n" * 100, b"ustar" * 200, b"\xff" * 600]
    )
    def test_no_header(self, text: bytes) -> None:
        """Text is no archive, whatever it says."""
        assert not tarfiles.is_header(text)
