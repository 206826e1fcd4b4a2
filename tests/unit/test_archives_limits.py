"""Bombs end at a limit that a user can raise."""

import gzip
import hashlib
from pathlib import Path

import pytest
from tests.unit.packing import (
    ONE,
    PACKS,
    TWO,
    Pack,
    contents,
    found,
    read,
    tar,
    tgz,
    zipped,
)

from faultlayer.errors import SourceError
from faultlayer.find import Limits

BOMB = b"0" * 3_000_000
SMALL = Limits(floor=1_000_000)


class TestLimits:
    """What unpacks to too much is stopped, the option is named, the rest is read."""

    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
    def test_plain_file(self, tmp_path: Path, kind: str) -> None:
        """A compressed file gives no more than the limit."""
        result = found(tmp_path, {"x.log": PACKS[kind](BOMB), "y.log": ONE}, SMALL)
        bomb, fine = result.sources
        data, opened = read(bomb)
        assert data == BOMB[:1_000_000]
        assert opened.problems == [
            "stopped after 1000000 bytes: it unpacks to far more than its size; "
            "a larger --max-ratio reads on"
        ]
        stored = (tmp_path / "logs/x.log").read_bytes()
        assert opened.sha256 == hashlib.sha256(stored).hexdigest()
        assert read(fine)[0] == ONE
        more = Limits(floor=1_000_000, ratio=100_000)
        data, opened = read(found(tmp_path, {}, more).sources[0])
        assert (data, opened.problems) == (BOMB, [])

    def test_ratio_of_ordinary_logs(self, tmp_path: Path) -> None:
        """Beyond the floor a log of an ordinary ratio is read to its end."""
        limits = Limits(floor=1000)
        (source,) = found(tmp_path, {"x.log.gz": gzip.compress(TWO)}, limits).sources
        assert read(source)[0] == TWO

    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
    def test_tar(self, tmp_path: Path, kind: str) -> None:
        """A compressed archive stops within the member that is too much."""
        files = {"a.log": ONE, "bomb.log": BOMB, "c.log": ONE}
        result = found(
            tmp_path, {"x": tar(files, kind), "y": tgz({"d.log": TWO})}, SMALL
        )
        texts = contents(result)
        assert list(texts) == ["logs/x!a.log", "logs/x!bomb.log", "logs/y!d.log"]
        assert 0 < len(texts["logs/x!bomb.log"]) <= 1_000_000
        why = (
            "stopped: it unpacks to more than 200 times its size; "
            "--max-ratio raises the limit"
        )
        assert result.lost == [("logs/x", why)]
        assert result.sources[1].problems[0].endswith(why)

    def test_zip(self, tmp_path: Path) -> None:
        """So does a member of a zip."""
        files = {"bomb.log": BOMB, "c.log": ONE}
        result = found(tmp_path, {"x.zip": zipped(files)}, SMALL)
        bomb, fine = result.sources
        data, opened = read(bomb)
        assert 900_000 < len(data) <= 1_000_000
        assert "--max-ratio" in opened.problems[0]
        assert read(fine)[0] == ONE

    @pytest.mark.parametrize("pack", [tar, tgz, zipped])
    def test_bombs_share_a_limit(self, tmp_path: Path, pack: Pack) -> None:
        """Many compressed members together give no more than one would."""
        bomb = gzip.compress(BOMB, mtime=0)
        files = {f"{number}.log.gz": bomb for number in range(9)}
        result = found(tmp_path, {"x": pack(files)}, SMALL)
        sizes = [len(data) for data in contents(result).values()]
        assert len(sizes) == 9
        most = max(SMALL.floor, 200 * (tmp_path / "logs/x").stat().st_size)
        assert 0.9 * most < sum(sizes) <= most

    def test_bomb_in_a_bomb(self, tmp_path: Path) -> None:
        """Layers that are each within the limit are not so together."""
        data = BOMB
        for _ in range(4):
            data = zipped({f"{number}.zip": data for number in range(3)})
        limits = Limits(floor=1_000_000, ratio=10)
        result = found(tmp_path, {"x.zip": data, "y.log": ONE}, limits)
        texts = contents(result)
        assert texts["logs/y.log"] == ONE
        assert sum(map(len, texts.values())) <= 1_000_000 + len(ONE)

    def test_overlapping(self, tmp_path: Path) -> None:
        """Members of a zip that share their data are read once."""
        count = 50
        data = bytearray(zipped({f"{number:02}.log": BOMB for number in range(count)}))
        first = data.find(b"PK\x01\x02")
        at = first
        for _ in range(count):
            data[at + 42 : at + 46] = bytes(4)
            at = data.find(b"PK\x01\x02", at + 4)
        result = found(tmp_path, {"x.zip": bytes(data)})
        assert len(result.sources) == 1
        assert len(result.lost) == count - 1
        assert result.lost[0][1] == "its data overlap with those of 00.log: refused"

    @pytest.mark.parametrize(
        ("stated", "problem"),
        [
            (
                10,
                "stopped after 10 bytes: the archive says that it ends there, "
                "and it goes on",
            ),
            (2**31, f"it has {len(TWO)} bytes, the archive says {2**31}"),
        ],
    )
    def test_lie_about_the_size(
        self, tmp_path: Path, stated: int, problem: str
    ) -> None:
        """A stated size is a limit, and when it is wrong this is told."""
        data = bytearray(zipped({"a.log": TWO}))
        at = data.find(b"PK\x01\x02")
        data[at + 24 : at + 28] = stated.to_bytes(4, "little")
        (source,) = found(tmp_path, {"x.zip": bytes(data)}).sources
        text, opened = read(source)
        assert text == TWO[:stated]
        assert opened.problems == [problem]

    def test_unpacked(self, tmp_path: Path) -> None:
        """All archives together unpack to no more than is allowed."""
        files = {"a.tgz": tgz({"a.log": TWO}), "b.zip": zipped({"b.log": TWO})}
        why = (
            f"stopped: archives unpack to more than {len(TWO)} bytes in all; "
            "--max-unpacked raises the limit"
        )
        result = found(tmp_path, files, Limits(unpacked=len(TWO)))
        assert [path for path, _ in result.lost] == ["logs/a.tgz", "logs/b.zip"]
        assert {reason for _, reason in result.lost} == {why}
        result = found(tmp_path, files, Limits(unpacked=3 * len(TWO)))
        assert result.lost == []
        assert sorted(contents(result)) == ["logs/a.tgz!a.log", "logs/b.zip!b.log"]

    @pytest.mark.parametrize("pack", [tar, tgz, zipped])
    def test_members(self, tmp_path: Path, pack: Pack) -> None:
        """Of an archive no more members are read than are allowed, nested ones too."""
        inner = pack({f"{number}.log": ONE for number in range(4)})
        files = {"x": pack({"a.log": ONE, "in": inner, "z.log": ONE}), "y.log": ONE}
        result = found(tmp_path, files, Limits(members=4))
        assert sorted(contents(result)) == [
            "logs/x!a.log",
            "logs/x!in!0.log",
            "logs/x!in!1.log",
            "logs/y.log",
        ]
        assert result.lost == [
            (
                "logs/x!in",
                "more than 4 members: the others are not read; "
                "--max-members raises the limit",
            )
        ]
        assert len(found(tmp_path, {}, Limits(members=7)).sources) == 7

    @pytest.mark.parametrize("pack", [tar, tgz, zipped])
    def test_depth(self, tmp_path: Path, pack: Pack) -> None:
        """Archives deeper than allowed are named and not opened."""
        data = pack({"x.log": ONE})
        for _ in range(3):
            data = pack({"in": data, "a.log": ONE})
        result = found(tmp_path, {"x": data}, Limits(depth=3))
        assert sorted(contents(result)) == [
            "logs/x!a.log",
            "logs/x!in!a.log",
            "logs/x!in!in!a.log",
        ]
        assert result.lost == [
            (
                "logs/x!in!in!in",
                "an archive within 3 others: not opened; --max-depth raises the limit",
            )
        ]
        assert "logs/x!in!in!in!x.log" in contents(found(tmp_path, {}, Limits(depth=4)))

    def test_compressed_without_end(self, tmp_path: Path) -> None:
        """Layer upon layer of compression counts as depth."""
        data = ONE
        for _ in range(9):
            data = gzip.compress(data)
        with pytest.raises(SourceError, match="nothing to read") as error:
            found(tmp_path, {"x.gz": data})
        assert "--max-depth" in error.value.hint
