"""What was archived twice is counted once, and nothing that merely looks alike is lost."""

import gzip
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from tests.unit.copied import Parsed, kept, line, lines


class TestWhole:
    """Files that are in another one as a whole."""

    @pytest.mark.parametrize(
        ("copy", "original"),
        [
            ("app.log.1", "app.log"),
            ("app.log.gz", "app.log"),
            ("app.log.bak", "app.log"),
            ("app (1).log", "app.log"),
            ("old/app.log", "app.log"),
        ],
    )
    def test_equal(self, tmp_path: Path, copy: str, original: str) -> None:
        """Of two equal files that with the plainest name keeps its records."""
        text = lines(0, 50)
        data = gzip.compress(text.encode()) if copy.endswith("gz") else text
        assert kept(tmp_path, {copy: data, original: text}) == {
            f"logs/{copy}": 0,
            f"logs/{original}": 50,
        }

    def test_row(self, tmp_path: Path) -> None:
        """The source stays, says where it is counted, and one reject holds its bytes."""
        parsed = Parsed(tmp_path, {"app.log.1": lines(0, 9), "app.log": lines(0, 20)})
        copy, original = parsed.results
        where = "in logs/app.log from byte 0 on"
        assert copy.problems == [
            f"archived twice: all its 9 records are counted {where}"
        ]
        assert (copy.events, copy.rejects, copy.lines) == (0, 1, 9)
        assert copy.format == original.format == "harness_app"
        row = pl.read_parquet(parsed.rejects(1)).row(0, named=True)
        assert (row["line"], row["lines"], row["byte_offset"]) == (1, 9, 0)
        assert (row["byte_length"], row["reason"]) == (copy.bytes, f"counted {where}")
        assert row["text"].startswith("request accepted")
        assert original.problems == []

    def test_prefix(self, tmp_path: Path) -> None:
        """A file that was copied and then grew holds its copy."""
        files = {
            "app.log.1": lines(0, 30),
            "app.log": lines(0, 80),
            "x/app.log": lines(0, 10),
        }
        assert kept(tmp_path, files) == {
            "logs/app.log": 80,
            "logs/app.log.1": 0,
            "logs/x/app.log": 0,
        }

    def test_torn_copy(self, tmp_path: Path) -> None:
        """A copy may end within a line, or begin within one."""
        text = lines(0, 40)
        files = {
            "app.log": text,
            "head/app.log": text[:1000],
            "tail/app.log": text[-1000:],
        }
        assert kept(tmp_path, files) == {
            "logs/app.log": 40,
            "logs/head/app.log": 0,
            "logs/tail/app.log": 0,
        }

    def test_excerpt(self, tmp_path: Path) -> None:
        """What was cut out of a log counts there."""
        text = lines(0, 40)
        parsed = Parsed(tmp_path, {"app.log": text, "app-1.log": lines(12, 20)})
        parsed.check()
        assert parsed.kept() == {"logs/app-1.log": 0, "logs/app.log": 40}
        place = len(lines(0, 12))
        assert (
            parsed.results[0]
            .problems[0]
            .endswith(f"in logs/app.log from byte {place} on")
        )

    def test_long(self, tmp_path: Path) -> None:
        """Files longer than what is looked at first are compared to their ends."""
        text = lines(0, 3000)
        changed = lines(0, 2500) + line(2500, "other") + lines(2501, 3000)
        assert len(text) > 200_000
        assert kept(tmp_path / "a", {"x/app.log": text, "app.log": text}) == {
            "logs/app.log": 3000,
            "logs/x/app.log": 0,
        }
        assert kept(tmp_path / "b", {"x/app.log": text, "app.log": changed}) == {
            "logs/app.log": 3000,
            "logs/x/app.log": 3000,
        }

    def test_in_an_archive(self, tmp_path: Path) -> None:
        """The folder that an archive was unpacked to keeps the records."""
        text = lines(0, 20).encode()
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            info = tarfile.TarInfo("v/app.log")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
        assert kept(tmp_path, {"a.tar": out.getvalue(), "z/v/app.log": text}) == {
            "logs/a.tar!v/app.log": 0,
            "logs/z/v/app.log": 20,
        }

    def test_tracebacks_and_blanks(self, tmp_path: Path) -> None:
        """Records of several lines and empty lines stay accounted for."""
        text = (
            line(1)
            + "\n"
            + line(2).replace("INFO", "ERROR")
            + "Traceback (most recent call last):\n"
            + '  File "x.py", line 1, in f\n'
            + "KeyError: 'k'\n"
            + "\n\n"
            + line(3)
            + "rubbish\n"
        )
        found = kept(tmp_path, {"app.log": text, "app.log.1": text})
        assert found == {"logs/app.log": 3, "logs/app.log.1": 0}


class TestOverlap:
    """Files that share an end and a beginning."""

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("app.log.1", "app.log"),
            ("a/app.log", "b/app.log"),
            ("0800.log", "0830.log"),
        ],
    )
    def test_windows(self, tmp_path: Path, first: str, second: str) -> None:
        """The later one keeps what only it has."""
        parsed = Parsed(tmp_path, {first: lines(0, 60), second: lines(40, 90)})
        parsed.check()
        assert parsed.kept() == {f"logs/{first}": 60, f"logs/{second}": 30}
        later = next(one for one in parsed.results if one.path.endswith(second))
        assert later.problems == [
            f"archived twice: 20 of its 50 records are counted in logs/{first} "
            f"from byte {len(lines(0, 40))} on"
        ]
        events = pl.read_parquet(parsed.events(later.source_id))
        assert events["line"].to_list() == [*range(21, 51)]

    def test_three_windows(self, tmp_path: Path) -> None:
        """Each record is kept once, whoever else has it."""
        files = {
            "1.log": lines(0, 50),
            "2.log": lines(20, 70),
            "3.log": lines(40, 90),
        }
        assert kept(tmp_path, files) == {
            "logs/1.log": 50,
            "logs/2.log": 20,
            "logs/3.log": 20,
        }

    def test_torn_end(self, tmp_path: Path) -> None:
        """A record that the first file has in part is kept whole in the second."""
        files = {"app.log.1": lines(0, 50)[:-20], "app.log": lines(40, 60)}
        parsed = Parsed(tmp_path, files)
        parsed.check()
        events = pl.read_parquet(parsed.events(2))
        assert events["line"].to_list() == [*range(10, 21)]

    def test_rotated(self, tmp_path: Path) -> None:
        """Files of a rotated set that merely follow one another are left alone."""
        probe = line(30, "probe", request=None)
        files = {
            "app.log.1": lines(0, 30) + probe,
            "app.log": probe + lines(31, 60),
        }
        assert kept(tmp_path, files) == {"logs/app.log.1": 31, "logs/app.log": 30}


def test_document(tmp_path: Path) -> None:
    """Records that stand on one line are told apart by their bytes."""
    rows = ", ".join(
        f'{{"ts": "2026-11-30T05:26:{second:02d}Z", "event": "deny",'
        f' "request_id": "r-{second}-aaaa", "user": "u-1", "amount": 3}}'
        for second in range(20)
    )
    found = kept(
        tmp_path, {"a/ledger.json": f"[{rows}]\n", "ledger.json": f"[{rows}]\n"}
    )
    assert found == {"logs/a/ledger.json": 0, "logs/ledger.json": 20}


@pytest.mark.parametrize(
    "order", [("a/app.log", "b/app.log"), ("b/app.log", "a/app.log")]
)
def test_order(tmp_path: Path, order: Sequence[str]) -> None:
    """Which file was written first does not matter."""
    text = lines(0, 10)
    assert kept(tmp_path, dict.fromkeys(order, text)) == {
        "logs/a/app.log": 10,
        "logs/b/app.log": 0,
    }
