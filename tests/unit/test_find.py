"""What is read, in which order, under which name."""

import bz2
import gzip
import itertools
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from faultlayer.errors import SourceError
from faultlayer.find import Found, find


def write(folder: Path, *names: str, data: bytes = b"line\n") -> Path:
    """Write files of the same content and give their folder."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return folder


def paths(found: Found) -> list[str]:
    """Give the display paths in order."""
    return [source.path for source in found.sources]


class TestPaths:
    """Files, folders and globs."""

    def test_folder(self, tmp_path: Path) -> None:
        """A folder is read to its depths, numbered in order, hidden names left out."""
        logs = write(
            tmp_path / "logs",
            "b/deep/er/z.log",
            "a.log",
            "b/.DS_Store",
            ".git/config.log",
        )
        found = find([str(logs)])
        assert [(source.source_id, source.path) for source in found.sources] == [
            (1, "logs/a.log"),
            (2, "logs/b/deep/er/z.log"),
        ]
        assert found.skipped == []

    def test_lone_file(self, tmp_path: Path) -> None:
        """A lone file is called by its name, hidden or not."""
        write(tmp_path, "nginx/access.log", "nginx/.hidden.log")
        files = [
            str(tmp_path / "nginx" / name) for name in (".hidden.log", "access.log")
        ]
        assert paths(find(files)) == [".hidden.log", "access.log"]

    def test_glob(self, tmp_path: Path) -> None:
        """A glob that the shell left alone is expanded, also over folders."""
        write(tmp_path, "logs/a/x.log", "logs/b/c/y.log", "logs/b/c/y.txt")
        assert paths(find([str(tmp_path / "logs/**/*.log")])) == ["x.log", "y.log"]

    def test_glob_characters_in_a_name(self, tmp_path: Path) -> None:
        """A name that exists is taken as it stands."""
        write(tmp_path, "a[1].log", "a1.log")
        assert paths(find([str(tmp_path / "a[1].log")])) == ["a[1].log"]

    @pytest.mark.parametrize("name", ["nothere.log", "no*.log", ""])
    def test_missing(self, tmp_path: Path, name: str) -> None:
        """A path that leads to nothing is an error that names it and the next step."""
        path = str(tmp_path / name) if name else ""
        with pytest.raises(SourceError) as error:
            find([path])
        assert str(error.value).startswith(f"{path}: no ")
        assert error.value.hint

    @pytest.mark.parametrize("names", [(), (".hidden",)])
    def test_nothing(self, tmp_path: Path, names: tuple[str, ...]) -> None:
        """A folder without visible files is an error that names it."""
        write(tmp_path, *names)
        with pytest.raises(SourceError, match=f"nothing to read in {tmp_path}"):
            find([str(tmp_path)])

    def test_twice(self, tmp_path: Path) -> None:
        """What several paths lead to is read once, named from the outermost folder."""
        logs = write(tmp_path / "logs", "nginx/access.log", "nginx/error.log")
        os.link(logs / "nginx/error.log", logs / "nginx/same.log")
        (logs / "nginx/current.log").symlink_to("access.log")
        given = [
            str(logs / "nginx/access.log"),
            str(logs / "nginx"),
            str(logs),
            f"{logs}/nginx/../nginx/error.log",
            str(logs / "nginx/current.log"),
        ]
        for order in itertools.permutations(given):
            assert paths(find(order)) == [
                "logs/nginx/access.log",
                "logs/nginx/error.log",
            ]

    def test_any_order(self, tmp_path: Path) -> None:
        """The order of the paths changes nothing."""
        write(tmp_path, "a/x.log", "b/x.log", "b/x.log.1", "c/y.log", "c/z.zip.log")
        given = [str(tmp_path / name) for name in ("a/x.log", "b", "c/y.log", "c", "b")]
        expected = find(given)
        for order in itertools.permutations(given):
            assert find(order) == expected

    def test_same_names(self, tmp_path: Path) -> None:
        """Roots of one name are told apart by as much of their parents as it takes."""
        write(tmp_path, "gw-a/logs/x.log", "gw-b/logs/x.log", "gw-b/logs/x.log.1")
        write(tmp_path, "eu/1/x.log", "us/1/x.log", "us/1/y.log")
        folders = [str(tmp_path / name / "logs") for name in ("gw-a", "gw-b")]
        assert paths(find(folders)) == [
            "gw-a/logs/x.log",
            "gw-b/logs/x.log.1",
            "gw-b/logs/x.log",
        ]
        files = [
            str(tmp_path / name) for name in ("eu/1/x.log", "us/1/x.log", "us/1/y.log")
        ]
        assert paths(find(files)) == ["eu/1/x.log", "us/1/x.log", "us/1/y.log"]

    def test_names_do_not_depend_on_the_place(self, tmp_path: Path) -> None:
        """The same folder at another place gives the same sources but for the file."""
        there = [
            write(tmp_path / place / "logs", "a_b_1f/0.log", "x.log.1")
            for place in "pq"
        ]
        first, second = (
            [
                (source.path, source.set_name, source.label)
                for source in find([str(logs)]).sources
            ]
            for logs in there
        )
        assert first == second

    def test_undecodable_name(self, tmp_path: Path) -> None:
        """A name that is no text is spelled out and still read."""
        name = os.fsdecode(b"caf\xe9.log")
        try:
            (tmp_path / name).write_bytes(b"x\n")
        except OSError:
            pytest.skip("this file system takes no such name")
        (source,) = find([str(tmp_path)]).sources
        assert source.path == f"{tmp_path.name}/caf\\xe9.log"
        assert source.file is not None
        assert source.file.read_bytes() == b"x\n"


class TestPassedOver:
    """What is not read, and how this is told."""

    def test_links(self, tmp_path: Path) -> None:
        """Links are followed within their folder only."""
        write(tmp_path, "else/secret.log")
        logs = write(tmp_path / "logs", "real/a.log", "..data/conf.yaml")
        (logs / "out.log").symlink_to(tmp_path / "else/secret.log")
        (logs / "outer").symlink_to(tmp_path / "else")
        (logs / "loop").symlink_to(logs)
        (logs / "gone.log").symlink_to("nothing")
        (logs / "conf.yaml").symlink_to("..data/conf.yaml")
        (logs / "data").symlink_to("..data")
        found = find([str(logs)])
        assert paths(found) == ["logs/conf.yaml", "logs/real/a.log"]
        assert found.skipped == [
            ("logs/data", "symbolic link to a hidden folder: not followed"),
            ("logs/gone.log", "symbolic link that leads nowhere"),
            ("logs/out.log", "symbolic link that leaves the folder: not followed"),
            ("logs/outer", "symbolic link that leaves the folder: not followed"),
        ]

    def test_given_link(self, tmp_path: Path) -> None:
        """A link that is given itself is followed and keeps its name."""
        write(tmp_path, "store/a.log")
        (tmp_path / "logs").symlink_to("store")
        assert paths(find([str(tmp_path / "logs")])) == ["logs/a.log"]

    def test_case(self, tmp_path: Path) -> None:
        """A case inside the tree is passed over, and is no input itself."""
        write(
            tmp_path, "a.log", "out/case.json", "out/events/1.parquet", "ours/case.json"
        )
        found = find([str(tmp_path)])
        top = tmp_path.name
        assert paths(found) == [f"{top}/a.log", f"{top}/ours/case.json"]
        assert found.skipped == [(f"{top}/out", "a case of faultlayer, not logs")]
        with pytest.raises(SourceError, match="this is a case"):
            find([str(tmp_path / "out")])

    def test_not_unpacked(self, tmp_path: Path) -> None:
        """What nothing here unpacks, or is no log, is named with the reason."""
        write(tmp_path, "in/a.log")
        (tmp_path / "a.lz4").write_bytes(b"\x04\x22\x4d\x18 and so on")
        (tmp_path / "b.log").write_bytes(b"7z\xbc\xaf\x27\x1c")
        (tmp_path / "core.gz").write_bytes(gzip.compress(b"\x7fELF\x02\x01"))
        (tmp_path / "system.journal").write_bytes(b"LPKSHHRH\x00\x00")
        (tmp_path / "m.bin").write_bytes(b'\x0a\x01\x00\x00\x00\x00\x00\x00{"a":')
        (tmp_path / "trace").write_bytes(b"\n\r\r\n\x1c\x00\x00\x00\x4d\x3c\x2b\x1a")
        found = find([str(tmp_path)])
        assert paths(found) == [f"{tmp_path.name}/in/a.log"]
        assert [
            (Path(path).name, reason.split(":")[0]) for path, reason in found.skipped
        ] == [
            ("a.lz4", "lz4 stream"),
            ("b.log", "7z archive"),
            ("core.gz", "program or core dump"),
            ("m.bin", "weights of a model"),
            ("system.journal", "binary journal"),
            ("trace", "packet capture"),
        ]
        assert found.lost == []
        with pytest.raises(SourceError) as error:
            find([str(tmp_path / "a.lz4")])
        assert error.value.hint.startswith("a.lz4: lz4 stream: not read")

    def test_no_regular_file(self, tmp_path: Path) -> None:
        """A pipe is passed over rather than waited for."""
        write(tmp_path, "a.log")
        os.mkfifo(tmp_path / "pipe")
        found = find([str(tmp_path)])
        assert found.skipped == [
            (f"{tmp_path.name}/pipe", "not a regular file; pipe it to - instead")
        ]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    @pytest.mark.parametrize("name", ["no/a.log", "no"])
    def test_forbidden(self, tmp_path: Path, name: str) -> None:
        """What may not be read is an error that names it."""
        write(tmp_path, "no/a.log")
        (tmp_path / name).chmod(0)
        try:
            with pytest.raises(
                SourceError, match=f"{name}: cannot be read: Permission"
            ):
                find([str(tmp_path)])
        finally:
            (tmp_path / name).chmod(0o700)

    def test_forbidden_by_the_system(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same for whoever runs the tests."""
        write(tmp_path, "a.log")

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
        with pytest.raises(
            SourceError, match=r"a\.log: cannot be read: Permission denied"
        ):
            find([str(tmp_path)])


class TestCompression:
    """The content decides, not the name."""

    @pytest.mark.parametrize(
        ("data", "compression"),
        [
            (b"line\n", ""),
            (b"", ""),
            (gzip.compress(b"line\n"), "gz"),
            (bz2.compress(b"line\n"), "bz2"),
            (bz2.compress(b""), "bz2"),
            (lzma.compress(b"line\n"), "xz"),
            (zstandard.compress(b"line\n"), "zst"),
            (
                b"\x50\x2a\x4d\x18\x01\x00\x00\x00x" + zstandard.compress(b"line\n"),
                "zst",
            ),
            (b"BZh9 is what the line begins with\n", ""),
            (b"\x1f\x8b", ""),
        ],
    )
    @pytest.mark.parametrize("name", ["x.log", "x.log.gz"])
    def test_kind(
        self, tmp_path: Path, data: bytes, compression: str, name: str
    ) -> None:
        """A wrong name does no harm."""
        (tmp_path / name).write_bytes(data)
        (source,) = find([str(tmp_path / name)]).sources
        assert source.compression == compression

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_stdin(self, tmp_path: Path, pack: type[bytes]) -> None:
        """Stdin is stored once and then read like a file."""
        program = (
            "import sys\n"
            "from pathlib import Path\n"
            "from faultlayer.find import find\n"
            "(source,) = find(['-', '-'], Path(sys.argv[1])).sources\n"
            "print(source.compression or 'plain', source.path, source.set_name,"
            " source.label, source.source_id)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            input=pack(b"line\n"),
            capture_output=True,
            check=True,
            text=False,
        )
        kind = b"plain" if pack is bytes else b"gz"
        assert done.stdout.split() == [kind, b"-", b"-", b"stdin", b"1"]
        assert (tmp_path / "stdin").read_bytes()[:2] == pack(b"line\n")[:2]

    def test_stdin_cannot_be_stored(self, tmp_path: Path) -> None:
        """A folder that takes no file gives an error, not a traceback."""
        with pytest.raises(SourceError, match="stdin cannot be stored"):
            find(["-"], tmp_path / "missing")

    def test_stdin_without_a_folder(self) -> None:
        """Who has no place to store stdin is told, and it is not read."""
        with pytest.raises(SourceError, match="stdin is not read here"):
            find(["-"])

    def test_imports_are_light(self) -> None:
        """Finding needs no DataFrame library."""
        program = "import faultlayer.find, sys; print(*sys.modules)"
        loaded = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, text=True
        ).stdout.split()
        assert not {"polars", "pyarrow", "numpy", "duckdb"} & set(loaded)
