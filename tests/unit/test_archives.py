"""Members of archives are sources like files; what an archive may not do, it cannot."""

import bz2
import gzip
import hashlib
import io
import itertools
import lzma
import random
import stat
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from faultlayer.blocks import Opened, open_source
from faultlayer.errors import SourceError
from faultlayer.find import Found, Limits, Source, find

Files = dict[str, bytes]
Pack = Callable[[Files], bytes]

PACKS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


def tar(files: Files, kind: str = "") -> bytes:
    """Make a tar archive, compressed or not."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return PACKS[kind](out.getvalue())


def tgz(files: Files) -> bytes:
    """Make a tar.gz."""
    return tar(files, "gz")


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Make a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return out.getvalue()


def stored_zip(files: Files) -> bytes:
    """Make a zip archive that compresses nothing."""
    return zipped(files, zipfile.ZIP_STORED)


def nodes(*members: tuple[str, bytes, str]) -> bytes:
    """Make a tar archive of links and devices, and a log at its end."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for name, kind, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            packed.addfile(info)
        info = tarfile.TarInfo("fine.log")
        info.size = 5
        packed.addfile(info, io.BytesIO(b"fine\n"))
    return out.getvalue()


def some_lines(count: int, seed: int = 7) -> bytes:
    """Give lines that compress to about a third."""
    rng = random.Random(seed)
    return b"".join(
        b"%06d POST /v1/chat/completions %s\n"
        % (line, rng.randbytes(12).hex().encode())
        for line in range(count)
    )


def found(tmp_path: Path, files: Files, limits: Limits | None = None) -> Found:
    """Write files and find what is in them."""
    logs = tmp_path / "logs"
    spill = tmp_path / f"spill{len(list(tmp_path.glob('spill*')))}"
    spill.mkdir(parents=True)
    for name, data in files.items():
        file = logs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return find([str(logs)], spill, limits)


def read(source: Source) -> tuple[bytes, Opened]:
    """Read a source, after a check that size and hash are those of the member."""
    with open_source(source) as opened:
        data = b"".join(block.data for block in opened)
    if not source.compression and not opened.problems:
        assert opened.sha256 == hashlib.sha256(data).hexdigest()
        assert opened.file_bytes == opened.stored_bytes == source.size == len(data)
    return data, opened


def contents(result: Found) -> Files:
    """Give what can be read, by path."""
    return {source.path: read(source)[0] for source in result.sources}


ONE, TWO = b"one\n", some_lines(3000)


class TestKinds:
    """Which archives are opened, by content."""

    @pytest.mark.parametrize(
        "pack",
        [
            *(lambda files, kind=kind: tar(files, kind) for kind in PACKS),
            zipped,
            stored_zip,
        ],
        ids=[*(f"tar.{kind}" for kind in PACKS), "zip", "zip stored"],
    )
    @pytest.mark.parametrize("name", ["bundle.log", "bundle.tar.gz", "b.zip"])
    def test_members(self, tmp_path: Path, pack: Pack, name: str) -> None:
        """Each member is a source, whatever the archive is called."""
        files = {"a.log": ONE, "d/e/b.log": TWO, "d/c.log.gz": gzip.compress(TWO)}
        result = found(tmp_path, {name: pack(files), "plain.log": b"plain\n"})
        assert contents(result) == {
            f"logs/{name}!a.log": ONE,
            f"logs/{name}!d/e/b.log": TWO,
            f"logs/{name}!d/c.log.gz": TWO,
            "logs/plain.log": b"plain\n",
        }
        by_member = {source.member: source for source in result.sources}
        assert set(by_member) == {"a.log", "d/e/b.log", "d/c.log.gz", None}
        packed = by_member["d/c.log.gz"]
        stored = files["d/c.log.gz"]
        opened = read(packed)[1]
        assert packed.compression == "gz"
        assert opened.sha256 == hashlib.sha256(stored).hexdigest()
        assert opened.file_bytes == packed.size == len(stored)
        assert (result.skipped, result.lost) == ([], [])

    @pytest.mark.parametrize("inner", [tar, tgz, zipped, stored_zip])
    @pytest.mark.parametrize("outer", [tar, tgz, zipped, stored_zip])
    @pytest.mark.parametrize("outermost", [tar, tgz, zipped])
    def test_nested(
        self, tmp_path: Path, inner: Pack, outer: Pack, outermost: Pack
    ) -> None:
        """Archives in archives in archives are opened, in any combination."""
        files = {"x.log": TWO, "y.log.xz": lzma.compress(TWO)}
        deep = outermost(
            {"m.log": ONE, "n": outer({"d/o": inner(files), "p.log": ONE})}
        )
        result = found(tmp_path, {"q": deep})
        assert contents(result) == {
            "logs/q!m.log": ONE,
            "logs/q!n!d/o!x.log": TWO,
            "logs/q!n!d/o!y.log.xz": TWO,
            "logs/q!n!p.log": ONE,
        }
        assert (result.skipped, result.lost) == ([], [])

    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
    def test_compressed_twice(self, tmp_path: Path, kind: str) -> None:
        """A collector that compresses everything compresses the compressed too."""
        pack = PACKS[kind]
        result = found(
            tmp_path,
            {
                "a.log.gz": pack(gzip.compress(TWO)),
                "b.zip": pack(zipped({"b.log": ONE})),
                "c.tgz": pack(tgz({"c.log.1.gz": pack(gzip.compress(ONE))})),
            },
        )
        assert contents(result) == {
            "logs/a.log.gz": TWO,
            "logs/b.zip!b.log": ONE,
            "logs/c.tgz!c.log.1.gz": ONE,
        }

    def test_passed_over(self, tmp_path: Path) -> None:
        """Hidden files, cases of ours and what is no log are passed over as in folders."""
        files = {
            "./.git/config": ONE,
            "__MACOSX/._a.log": ONE,
            "._a.log": ONE,
            "./a.log": ONE,
            "old/case/case.json": b"{}",
            "old/case/sources.parquet": ONE,
            "old/case/events/00001.parquet": ONE,
            "old/b.log": ONE,
            "core": b"\x7fELF\x02",
            "app.jar": zipped({"META-INF/MANIFEST.MF": ONE, "x.class": ONE}),
        }
        for pack in (tar, tgz, zipped):
            result = found(tmp_path / pack.__name__, {"x": pack(files)})
            assert sorted(contents(result)) == ["logs/x!a.log", "logs/x!old/b.log"]
            assert result.skipped == [
                ("logs/x!app.jar", "Java archive: not read"),
                ("logs/x!core", "program or core dump: not read"),
                ("logs/x!old/case", "a case of faultlayer, not logs"),
            ]

    def test_empty(self, tmp_path: Path) -> None:
        """An archive without members is no log, and nothing is left."""
        with pytest.raises(SourceError, match="nothing to read"):
            found(tmp_path, {"x.zip": zipped({})})

    def test_without_a_folder(self, tmp_path: Path) -> None:
        """What needs a temporary file is passed over where there is none for it."""
        (tmp_path / "x.tgz").write_bytes(tgz({"a.log": ONE}))
        (tmp_path / "y.tar").write_bytes(tar({"a.log": ONE}))
        result = find([str(tmp_path)])
        assert [source.member for source in result.sources] == ["a.log"]
        assert [reason for _, reason in result.skipped] == [
            "packed in an archive: not read here"
        ]

    def test_added_again(self, tmp_path: Path) -> None:
        """A member that was added once more is a source of its own, of one set."""
        data = tar({"a.log": ONE})[:-1024].rstrip(b"\0")
        data += bytes(-len(data) % 512) + tar({"a.log": ONE + ONE})
        result = found(tmp_path, {"x.tar": data})
        assert contents(result) == {
            "logs/x.tar!a.log": ONE,
            "logs/x.tar!a.log (2)": ONE + ONE,
        }
        assert {source.set_name for source in result.sources} == {"logs/x.tar!a.log"}

    def test_sparse(self, tmp_path: Path) -> None:
        """That holes of a sparse file are left out is told."""
        block = bytearray(tar({"a.log": ONE}))
        block[156:157] = b"S"
        block[257:265] = b"ustar  \0"
        block[483:495] = b"00000001004 "
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block[:512])
        (source,) = found(tmp_path, {"x.tar": bytes(block)}).sources
        assert read(source)[0] == ONE
        assert source.problems == (
            "a sparse file: its holes, 512 zero bytes, are left out",
        )


class TestOrder:
    """Sets, ages and labels are those of folders."""

    @pytest.mark.parametrize("pack", [tar, tgz, zipped])
    def test_rotation(self, tmp_path: Path, pack: Pack) -> None:
        """A rotated set in a folder of an archive is one log, the oldest file first."""
        names = ["v/a.log", "v/a.log.1", "v/a.log.2.gz", "w/a.log.1"]
        result = found(
            tmp_path,
            {"x": pack(dict.fromkeys(names, ONE)), "a.log.1": ONE, "a.log": ONE},
        )
        assert [(source.path, source.set_name) for source in result.sources] == [
            ("logs/a.log.1", "logs/a.log"),
            ("logs/a.log", "logs/a.log"),
            ("logs/x!v/a.log.2.gz", "logs/x!v/a.log"),
            ("logs/x!v/a.log.1", "logs/x!v/a.log"),
            ("logs/x!v/a.log", "logs/x!v/a.log"),
            ("logs/x!w/a.log.1", "logs/x!w/a.log"),
        ]

    def test_restarts(self, tmp_path: Path) -> None:
        """Numbers that kubelet gives are restarts there too."""
        pod = "pods/ai_vllm-0_6e1f0c52-3a0b/vllm"
        result = found(tmp_path, {"x": tgz({f"{pod}/1.log": ONE, f"{pod}/0.log": ONE})})
        assert {source.set_name for source in result.sources} == {f"logs/x!{pod}/*.log"}
        assert [source.label for source in result.sources] == ["vllm-0", "vllm-0"]

    @pytest.mark.parametrize(
        ("archive", "member", "set_name"),
        [
            ("app.log.2.zip", "app.log.2", "logs/app.log"),
            ("app.log.2.zip", "app.log", "logs/app.log"),
            ("app.2026-11-29.log.zip", "app.2026-11-29.log", "logs/app.log"),
            ("app.log.1.tar.gz", "app.log.1", "logs/app.log"),
            ("bundle.zip", "app.log", "logs/bundle.zip!app.log"),
            ("app.log.2.zip", "d/app.log", "logs/app.log.2.zip!d/app.log"),
        ],
    )
    def test_packed_alone(
        self, tmp_path: Path, archive: str, member: str, set_name: str
    ) -> None:
        """An archive that does no more than pack one rotated file is one of its set."""
        pack = zipped if archive.endswith("zip") else tgz
        result = found(tmp_path, {archive: pack({member: ONE}), "app.log": ONE})
        by_path = {source.path: source for source in result.sources}
        packed = by_path[f"logs/{archive}!{member}"]
        assert packed.set_name == set_name
        if set_name == "logs/app.log":
            assert [source.source_id for source in result.sources] == [1, 2]
            assert result.sources[0] is packed

    @pytest.mark.parametrize(
        ("files", "labels"),
        [
            # one archive names nobody, as one root does not
            ({"bundle.tgz": {"vllm.log": ONE}}, ["vllm"]),
            ({"gw-a.tgz": {"var/log/nginx/access.log": ONE}}, ["nginx"]),
            # several are those of different hosts
            (
                {
                    "gw-a.tgz": {"var/log/x.log": ONE},
                    "gw-b.tgz": {"var/log/x.log": ONE},
                },
                ["gw-a", "gw-b"],
            ),
            (
                {"e-0.zip": {"e-7/x.log": ONE}, "e-1.zip": {"x.log": ONE}},
                ["e-7", "e-1"],
            ),
            # of different days, they are not
            (
                {
                    "logs-20261129.tgz": {"nginx/x.log": ONE},
                    "logs-20261130.tgz": {"nginx/x.log": ONE},
                },
                ["nginx", "nginx"],
            ),
        ],
    )
    def test_labels(
        self, tmp_path: Path, files: dict[str, Files], labels: list[str]
    ) -> None:
        """Archives name who wrote the logs in them when there are several."""
        result = found(
            tmp_path,
            {
                name: zipped(inner) if name.endswith("zip") else tgz(inner)
                for name, inner in files.items()
            },
        )
        assert [source.label for source in result.sources] == labels

    def test_any_order(self, tmp_path: Path) -> None:
        """The order of the paths changes nothing, and neither does a second run."""
        found(
            tmp_path,
            {
                "a/x.tgz": tgz({"a.log": ONE, "b.log": TWO}),
                "b/x.tgz": tgz({"a.log": ONE}),
                "c.zip": zipped({"../c.log": ONE, "c.log": TWO}),
            },
        )
        given = [str(tmp_path / "logs" / name) for name in ("a/x.tgz", "b", "c.zip")]
        results = []
        for number, order in enumerate(itertools.permutations(given)):
            spill = tmp_path / f"spill-{number}"
            spill.mkdir()
            result = find(order, spill)
            files = [(s.path, s.set_name, s.label, read(s)[0]) for s in result.sources]
            results.append((files, result.skipped, result.lost))
        assert all(result == results[0] for result in results)
        assert [path for path, *_ in results[0][0]] == [
            "b/x.tgz!a.log",
            "c.zip!c.log",
            "x.tgz!a.log",
            "x.tgz!b.log",
        ]


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
