"""What an archive may not do, it cannot: paths, links, devices, damage."""

import gzip
import io
import random
import stat
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.packing import (
    ONE,
    PACKS,
    TWO,
    Pack,
    contents,
    found,
    nodes,
    read,
    some_lines,
    tar,
    tgz,
    zipped,
)

from faultlayer.blocks import open_source
from faultlayer.find import find


class TestHostile:
    """What is refused, and that the rest is read."""

    @pytest.mark.parametrize("pack", [tar, tgz, zipped])
    def test_names(self, tmp_path: Path, pack: Pack) -> None:
        """Paths that lead out are refused by name; no file is written by its own name."""
        names = ["../a.log", "/etc/a.log", "b/../../a.log", "C:/a.log", "x" * 5000]
        result = found(
            tmp_path, {"x": pack({**dict.fromkeys(names, ONE), "fine.log": TWO})}
        )
        assert contents(result) == {"logs/x!fine.log": TWO}
        assert result.lost == [
            ("logs/x!../a.log", "path that leads out of the archive: refused"),
            ("logs/x!/etc/a.log", "absolute path: refused"),
            ("logs/x!C:/a.log", "absolute path: refused"),
            ("logs/x!b/../../a.log", "path that leads out of the archive: refused"),
            ("logs/x!" + "x" * 4096, "name of more than 4096 characters: refused"),
        ]
        written = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert {path.name for path in written} <= {"x", "000001", "000002"}

    def test_windows_names(self, tmp_path: Path) -> None:
        """Backslashes are slashes where there are none of those."""
        data = zipped({"d?a.log": ONE, "..?b.log": ONE}).replace(b"?", b"\\")
        result = found(tmp_path, {"x.zip": data})
        assert contents(result) == {"logs/x.zip!d/a.log": ONE}
        assert [path for path, _ in result.lost] == ["logs/x.zip!../b.log"]

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_nodes(self, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
        """Links and devices are told and left alone."""
        data = nodes(
            ("soft", tarfile.SYMTYPE, "/etc/shadow"),
            ("hard", tarfile.LNKTYPE, "fine.log"),
            ("dev", tarfile.CHRTYPE, ""),
            ("pipe", tarfile.FIFOTYPE, ""),
        )
        result = found(tmp_path, {"x": pack(data)})
        assert contents(result) == {"logs/x!fine.log": b"fine\n"}
        assert result.skipped == [
            ("logs/x!dev", "not read: device file"),
            ("logs/x!hard", "not followed: hard link to fine.log"),
            ("logs/x!pipe", "not read: named pipe"),
            ("logs/x!soft", "not followed: symbolic link to /etc/shadow"),
        ]

    def test_zip_link(self, tmp_path: Path) -> None:
        """A link in a zip is none to follow either."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as packed:
            info = zipfile.ZipInfo("soft")
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            packed.writestr(info, "/etc/passwd")
            packed.writestr("fine.log", b"fine\n")
        result = found(tmp_path, {"x.zip": out.getvalue()})
        assert contents(result) == {"logs/x.zip!fine.log": b"fine\n"}
        assert result.skipped == [("logs/x.zip!soft", "not read: symbolic link")]

    def test_encrypted(self, tmp_path: Path) -> None:
        """A member with a password is named, the others are read."""
        data = bytearray(zipped({"secret.log": ONE, "fine.log": TWO}))
        for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.find(mark) + place] |= 1
        result = found(tmp_path, {"x.zip": bytes(data)})
        assert contents(result) == {"logs/x.zip!fine.log": TWO}
        assert result.lost == [
            (
                "logs/x.zip!secret.log",
                "encrypted: not read, unpack it with its password and give the folder",
            )
        ]

    def test_control_characters(self, tmp_path: Path) -> None:
        """A name that would steer a terminal stays text."""
        name = "a\x1b[2J\n\r\u202eb.log"
        (source,) = found(tmp_path, {"x": tgz({name: ONE})}).sources
        assert source.member == name
        assert read(source)[0] == ONE

    def test_name_that_is_no_text(self, tmp_path: Path) -> None:
        """Bytes of a name that are no text are spelled out."""
        data = tar({"caf?.log": ONE}).replace(b"caf?", b"caf\xe9")
        block = bytearray(data)
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block[:512])
        (source,) = found(tmp_path, {"x": bytes(block)}).sources
        assert source.member == "caf\\xe9.log"


class TestDamage:
    """Of a damaged archive all that decodes is read."""

    @pytest.mark.parametrize("kind", PACKS)
    def test_cut_tar(self, tmp_path: Path, kind: str) -> None:
        """What stands before the end is there, and that it ends is told."""
        data = tar({"a.log": ONE, "b.log": TWO, "c.log": ONE}, kind)
        end = len(data) * 3 // 4 if kind else data.find(b"c.log") - 10_000
        data = data[:end]
        result = found(tmp_path, {"x": data, "y.log": ONE})
        texts = contents(result)
        assert texts["logs/y.log"] == ONE
        if kind in {"", "gz", "xz"}:
            assert texts["logs/x!a.log"] == ONE
            assert TWO.startswith(texts["logs/x!b.log"])
            assert len(texts["logs/x!b.log"]) > len(TWO) // 3
            (cut,) = result.sources[1].problems
            assert cut.startswith("cut off: ")
            assert cut.endswith(f" of its {len(TWO)} bytes are there")
        told = [why for _, why in result.lost]
        told += read(result.sources[0])[1].problems
        if kind:
            assert any("is cut off by the end of the file" in why for why in told)

    def test_cut_zip(self, tmp_path: Path) -> None:
        """A zip without its end is read member by member."""
        data = zipped({"a.log": ONE, "b.log": TWO})
        data = data[: data.find(b"PK\x01\x02") - 5000]
        result = found(tmp_path, {"x.zip": data})
        first, second = result.sources
        assert read(first)[0] == ONE
        text, opened = read(second)
        assert TWO.startswith(text)
        assert text
        assert opened.problems[0].startswith("cut off: ")
        assert result.lost[0][1].startswith("its directory is lost")

    def test_bad_checksum(self, tmp_path: Path) -> None:
        """That a member is not what was packed is told."""
        data = bytearray(zipped({"a.log": TWO}))
        at = data.find(b"PK\x01\x02")
        data[at + 16] ^= 1
        (source,) = found(tmp_path, {"x.zip": bytes(data)}).sources
        text, opened = read(source)
        assert text == TWO
        assert opened.problems == [
            "it does not agree with its checksum: some of it may be false"
        ]

    def test_hole_in_the_stream(self, tmp_path: Path) -> None:
        """Behind a damaged part the next member is found."""
        parts = [
            tar({f"{number}.log": some_lines(2000, number)}) for number in (1, 2, 3)
        ]
        stored = [bytearray(gzip.compress(part, mtime=0)) for part in parts]
        stored[1][len(stored[1]) // 2] ^= 0xFF
        result = found(tmp_path, {"x.tgz": b"".join(map(bytes, stored))})
        texts = contents(result)
        assert texts["logs/x.tgz!1.log"] == some_lines(2000, 1)
        assert texts["logs/x.tgz!3.log"] == some_lines(2000, 3)
        assert some_lines(2000, 2).startswith(texts["logs/x.tgz!2.log"][:1000])
        assert len(result.lost) >= 1

    @pytest.mark.parametrize("pack", [tar, tgz, zipped])
    @pytest.mark.parametrize("seed", range(30))
    def test_any_byte(self, tmp_path: Path, pack: Pack, seed: int) -> None:
        """Whatever bytes change, nothing breaks."""
        rng = random.Random(seed)
        inner = pack({"in.log": some_lines(20), "b.gz": gzip.compress(some_lines(9))})
        data = bytearray(pack({"a.log": some_lines(50), "n": inner, "c.log": ONE}))
        for _ in range(rng.randint(1, 20)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        result = found(tmp_path, {"x": bytes(data), "y.log": ONE})
        assert contents(result)["logs/y.log"] == ONE


def test_memory(tmp_path: Path) -> None:
    """A member is in memory in pieces only, and on disk packed."""
    size = 40_000_000
    line = some_lines(1)
    data = line * (size // len(line))
    logs, spill = tmp_path / "logs", tmp_path / "spill"
    logs.mkdir()
    spill.mkdir()
    with tarfile.open(logs / "x.tgz", "w:gz", compresslevel=1) as packed:
        info = tarfile.TarInfo("a.log")
        info.size = len(data)
        packed.addfile(info, io.BytesIO(data))
    del data
    tracemalloc.start()
    (source,) = find([str(logs)], spill).sources
    with open_source(source, 1 << 20) as opened:
        for _ in opened:
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert opened.bytes == source.size == size // len(line) * len(line)
    assert peak < 12 << 20
    assert sum(file.stat().st_size for file in spill.rglob("*") if file.is_file()) < 1e6
