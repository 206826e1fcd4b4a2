"""The directory of a zip is read, checked, and done without where it is lost."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from faultlayer import decode, zipfiles
from faultlayer.stored import Stored

MOST = 1000


def listed(data: bytes, most: int = MOST) -> tuple[list[zipfiles.Entry], list[str]]:
    """List the members, and what was told."""
    told: list[str] = []
    stored = Stored(io.BytesIO(data), "x.zip", 0, len(data))
    return list(zipfiles.entries(stored, len(data), most, told.append)), told


def content(data: bytes, entry: zipfiles.Entry) -> bytes:
    """Unpack a member."""
    part = Stored(io.BytesIO(data), "x.zip", entry.offset, entry.packed)
    pieces = decode.pieces(part, zipfiles.CODECS[entry.method], [])
    return b"".join(piece or b"" for piece in pieces)


def archive(
    *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, seek: bool = True
) -> bytes:
    """Make a zip archive; without `seek` sizes stand behind the data."""
    out = io.BytesIO()

    class Unseekable(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            return out.write(data)

    with zipfile.ZipFile(out if seek else Unseekable(), "w", method) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return out.getvalue()


MEMBERS = (("a.log", b"one\n" * 500), ("d/b.log", b"two\n"), ("empty", b""))


class TestDirectory:
    """What a whole archive says of its members."""

    @pytest.mark.parametrize(
        "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]
    )
    @pytest.mark.parametrize("seek", [True, False])
    @pytest.mark.parametrize("before", [b"", b"#!/bin/sh\nexit\n"])
    def test_members(self, method: int, seek: bool, before: bytes) -> None:
        """Each is found, also behind what a self-extracting archive begins with."""
        data = before + archive(*MEMBERS, method=method, seek=seek)
        found, told = listed(data)
        assert told == []
        assert [(entry.name, content(data, entry)) for entry in found] == [*MEMBERS]
        assert [(entry.size, entry.crc) for entry in found] == [
            (len(text), zlib.crc32(text)) for _, text in MEMBERS
        ]
        assert not any(entry.refused or entry.torn for entry in found)

    def test_comment(self) -> None:
        """A comment at the end, which may look like an end, does no harm."""
        out = io.BytesIO(archive(*MEMBERS))
        with zipfile.ZipFile(out, "a") as packed:
            packed.comment = b"of PK\x05\x06"
        found, told = listed(out.getvalue())
        assert [entry.name for entry in found] == [name for name, _ in MEMBERS]
        assert told == []

    def test_zip64(self, tmp_path: Path) -> None:
        """Numbers that need 64 bits are read where they stand."""
        file = tmp_path / "x.zip"
        with (
            zipfile.ZipFile(file, "w") as packed,
            packed.open("a.log", "w", force_zip64=True) as member,
        ):
            member.write(b"one\n")
        data = bytearray(file.read_bytes())
        # Let the directory say that its numbers stand in the field for large ones.
        at = data.rfind(b"PK\x01\x02")
        end = data.rfind(b"PK\x05\x06")
        extra = struct.pack("<2H2Q", 1, 16, 4, 4)
        data[at + 20 : at + 28] = b"\xff" * 8
        data[at + 30 : at + 32] = len(extra).to_bytes(2, "little")
        name_end = at + 46 + len("a.log")
        data[name_end:name_end] = extra
        end += len(extra)
        total = end - at
        end64 = struct.pack(
            "<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, total, at
        )
        locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
        data[end:end] = end64 + locator
        data[-10:-2] = b"\xff" * 8
        (entry,), told = listed(bytes(data))
        assert (entry.name, entry.packed, entry.size) == ("a.log", 4, 4)
        assert content(bytes(data), entry) == b"one\n"
        assert told == []

    def test_names(self) -> None:
        """Names are UTF-8, said or not, Chinese of Windows, or of its first code page."""
        data = archive(("UTF-é.log", b""), ("GBK-xxxx.log", b""), ("437-x.log", b""))
        data = data.replace(b"xxxx", "日志".encode("gb18030"))
        data = data.replace(b"437-x", b"437-\x82")
        found, _ = listed(data)
        assert [entry.name for entry in found] == [
            "UTF-é.log",
            "GBK-日志.log",
            "437-é.log",
        ]

    def test_kinds(self) -> None:
        """Folders and links are no files."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as packed:
            packed.mkdir("d")
            for name, mode in (("link", 0o120777), ("pipe", 0o010600), ("f", 0o100600)):
                info = zipfile.ZipInfo(name)
                info.external_attr = mode << 16
                packed.writestr(info, b"target")
        found, _ = listed(out.getvalue())
        assert [(entry.name, entry.kind) for entry in found] == [
            ("d/", "folder"),
            ("link", "symbolic link"),
            ("pipe", "named pipe"),
            ("f", "file"),
        ]

    def test_encrypted(self) -> None:
        """What a password protects is refused by name, the rest is not."""
        data = bytearray(archive(*MEMBERS))
        for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.find(mark) + place] |= 1
        found, _ = listed(bytes(data))
        assert [entry.refused.partition(":")[0] for entry in found] == [
            "encrypted",
            "",
            "",
        ]

    def test_unknown_method(self) -> None:
        """A method that nothing here unpacks is called by its name."""
        data = archive(*MEMBERS)
        data = data[:8] + b"\x09" + data[9:]
        at = data.find(b"PK\x01\x02")
        data = data[: at + 10] + b"\x09" + data[at + 11 :]
        found, _ = listed(data)
        assert found[0].refused == (
            "packed by method 9 (deflate64): not read, unpack it and give the folder"
        )

    def test_most(self) -> None:
        """No more is listed than is asked for."""
        found, _ = listed(archive(*((f"{number}", b"") for number in range(50))), 7)
        assert len(found) == 7


class TestHostile:
    """What is made to mislead."""

    def test_overlap(self) -> None:
        """Of members that share their data only one is read."""
        data = bytearray(archive(("a.log", b"0" * 10_000), ("b.log", b"x" * 10_000)))
        second = data.rfind(b"PK\x01\x02")
        data[second + 42 : second + 46] = bytes(4)  # it begins where a.log does
        found, _ = listed(bytes(data))
        assert [entry.refused for entry in found] == [
            "",
            "its data overlap with those of a.log: refused",
        ]

    @pytest.mark.parametrize("field", range(0, 46, 2))
    def test_any_field(self, field: int) -> None:
        """Whatever a number of the directory is, nothing breaks and nothing is huge."""
        whole = archive(*MEMBERS)
        at = whole.find(b"PK\x01\x02")
        for value in (0, 1, 0x7FFF, 0xFFFF):
            data = bytearray(whole)
            data[at + field : at + field + 2] = value.to_bytes(2, "little")
            found, _ = listed(bytes(data))
            assert len(found) <= 3
            assert all(entry.offset + entry.packed <= len(data) for entry in found)

    @pytest.mark.parametrize("field", range(0, 22, 2))
    def test_any_end(self, field: int) -> None:
        """The same for the record at the end, which finds the directory."""
        whole = archive(*MEMBERS)
        for value in (0, 1, 0x7FFF, 0xFFFF):
            data = bytearray(whole)
            data[-22 + field : len(data) - 20 + field] = value.to_bytes(2, "little")
            found, _ = listed(bytes(data))
            assert len(found) <= 3
            assert all(entry.offset + entry.packed <= len(data) for entry in found)


class TestDamage:
    """An archive that was cut off, or of which a part is gone."""

    @pytest.mark.parametrize("seek", [True, False])
    def test_without_directory(self, seek: bool) -> None:
        """Members are found one after the other."""
        data = archive(*MEMBERS, seek=seek)
        data = data[: data.find(b"PK\x01\x02")]
        found, told = listed(data)
        assert [(entry.name, content(data, entry)) for entry in found] == [*MEMBERS]
        assert told == [
            "its directory is lost (cut off?): members are looked for one by one"
        ]

    @pytest.mark.parametrize("seek", [True, False])
    def test_cut_off(self, seek: bool) -> None:
        """Of the member that the end cuts off the beginning is there."""
        data = archive(("a.log", b"one\n"), ("b.log", b"2\n" * 50), method=0, seek=seek)
        data = data[: data.rfind(b"b.log", 0, data.find(b"PK\x01\x02")) + 5 + 30]
        found, _ = listed(data)
        assert [(entry.name, content(data, entry)) for entry in found] == [
            ("a.log", b"one\n"),
            ("b.log", b"2\n" * 15),
        ]
        assert [entry.torn for entry in found] == [False, True]

    def test_directory_cut(self) -> None:
        """A directory that ends too early gives what it has, and this is told."""
        data = bytearray(archive(*MEMBERS))
        data[data.rfind(b"PK\x01\x02")] = 0
        found, told = listed(bytes(data))
        assert [entry.name for entry in found] == ["a.log", "d/b.log"]
        assert told[0].startswith("its directory is damaged at byte ")

    def test_no_member_there(self) -> None:
        """A member whose place holds something else is refused, the others are read."""
        data = archive(*MEMBERS)
        data = b"XX" + data[2:]
        found, _ = listed(data)
        assert [entry.refused for entry in found] == [
            "damaged: there is no member at byte 0",
            "",
            "",
        ]
        assert content(data, found[1]) == b"two\n"

    @pytest.mark.parametrize(
        "data", [b"", b"PK", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)]
    )
    def test_nothing(self, data: bytes) -> None:
        """An empty archive, and one that hardly began, have no members."""
        found, _ = listed(data)
        assert found == []
