"""Members of archives are sources like files; what an archive may not do, it cannot."""

import gzip
import hashlib
import itertools
import lzma
from pathlib import Path

import pytest
from tests.unit.packing import (
    ONE,
    PACKS,
    TWO,
    Files,
    Pack,
    contents,
    found,
    read,
    stored_zip,
    tar,
    tgz,
    zipped,
)

from faultlayer.errors import SourceError
from faultlayer.find import find


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
