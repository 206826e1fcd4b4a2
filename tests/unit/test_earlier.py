"""What an earlier run has read is taken over, and the case is as if it had not been."""

import gzip
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.unit.copied import definitions, line, lines

from faultlayer import intake, schema
from faultlayer.case import NOTES, CaseWriter
from faultlayer.find import find
from faultlayer.parse import SourceResult, parse_source
from faultlayer.write import Writer

CLIENTS = "".join(
    f'10.0.0.{n} - - [30/Nov/2026:05:00:{n:02d} +0000] "GET /v1/models HTTP/1.1" 200 2 '
    '"-" "curl"\n'
    for n in range(60)
)
DEATH = "CRITICAL 11-30 05:00:07 [core.py:1] EngineCore encountered a fatal error.\n"


class Folder:
    """A folder of logs that is read again and again into one case."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.read: list[str] = []

        def noted(source: Any, *args: Any, **kwargs: Any) -> SourceResult:
            self.read.append(source.path.removeprefix("logs/"))
            return parse_source(source, *args, **kwargs)

        monkeypatch.setattr("faultlayer.parse.parse_source", noted)

    def put(self, **files: str | bytes) -> None:
        """Write files of these names, with `_` for a dot."""
        (self.path / "logs").mkdir(exist_ok=True)
        for name, data in files.items():
            file = self.path / "logs" / name.replace("_", ".")
            file.write_bytes(data if isinstance(data, bytes) else data.encode())

    def results(self, case: str = "case") -> list[dict[str, Any]]:
        """Read all files into a case, finished as far as that goes, and give the rows."""
        self.read.clear()
        sources = find([str(self.path / "logs")]).sources
        with CaseWriter(self.path / case) as writer:
            results = intake.read(sources, definitions(), writer)
            writer.finish({})
        return [result.row() for result in results]

    def again(self) -> list[str]:
        """Read once more, and give what was parsed; it must be as from nothing."""
        results = self.results()
        parsed = sorted(self.read)
        assert results == self.results("fresh")
        assert self.parts("case") == self.parts("fresh")
        shutil.rmtree(self.path / "fresh")
        return parsed

    def parts(self, case: str) -> dict[str, bytes]:
        """Give the files of events and rejects."""
        return {
            path.relative_to(self.path / case).as_posix(): path.read_bytes()
            for path in sorted((self.path / case).glob("*/*.parquet"))
        }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Give a folder of three logs that were read once."""
    made = Folder(tmp_path, monkeypatch)
    made.put(access_log=CLIENTS, app_log=lines(0, 9) + "torn\n", web_log=CLIENTS * 2)
    made.results()
    assert sorted(made.read) == ["access.log", "app.log", "web.log"]
    return made


def test_nothing_changed(folder: Folder) -> None:
    """Then nothing is parsed, a third time neither."""
    assert folder.again() == []
    assert folder.again() == []


def test_what_changed_is_parsed(folder: Folder) -> None:
    """A file that grew, one of the same size with another byte."""
    folder.put(app_log=lines(0, 10), web_log=(CLIENTS * 2).replace("curl", "wget", 1))
    assert folder.again() == ["app.log", "web.log"]


def test_numbers_move(folder: Folder) -> None:
    """A file in front and one that went away give the others new numbers."""
    folder.put(aa_log=lines(20, 24))
    assert folder.again() == ["aa.log"]
    (folder.path / "logs" / "access.log").unlink()
    assert folder.again() == []


def test_a_new_name(folder: Folder) -> None:
    """A log that was rotated, or is called otherwise, is the same log."""
    (folder.path / "logs" / "app.log").rename(folder.path / "logs" / "app.log.1")
    (folder.path / "logs" / "web.log").rename(folder.path / "logs" / "web.txt")
    assert folder.again() == []


def test_compressed_since(folder: Folder) -> None:
    """Other bytes are another file, whatever they unpack to."""
    (folder.path / "logs" / "app.log").unlink()
    folder.put(app_log_gz=gzip.compress((lines(0, 9) + "torn\n").encode()))
    assert folder.again() == ["app.log.gz"]


def test_a_damaged_file_is_read_each_time(folder: Folder) -> None:
    """How much of it is read depends on more than its bytes."""
    folder.put(cut_log_gz=gzip.compress(lines(30, 90).encode())[:-9])
    assert folder.again() == ["cut.log.gz"]
    assert folder.again() == ["cut.log.gz"]


def test_the_names_of_engines(folder: Folder) -> None:
    """A new engine's log concerns the records of requests in a gateway, no others."""
    sent = line(50, 'backend="engine-7"')
    folder.put(app_log=lines(0, 9) + sent)
    folder.results()
    (folder.path / "logs" / "engine-7").mkdir()
    (folder.path / "logs" / "engine-7" / "vllm.log").write_text(DEATH * 3)
    parsed = folder.again()
    assert "engine-7/vllm.log" in parsed
    assert "app.log" in parsed
    assert "access.log" not in parsed


def test_another_folder(folder: Folder) -> None:
    """The folder of an engine's log names the engine."""
    for name in ("engine-7", "engine-8"):
        (folder.path / "logs" / name).mkdir()
    log = folder.path / "logs" / "engine-7" / "vllm.log"
    log.write_text(DEATH * 3)
    folder.results()
    log.rename(folder.path / "logs" / "engine-8" / "vllm.log")
    assert "engine-8/vllm.log" in folder.again()


def test_the_year_of_others(folder: Folder) -> None:
    """A log that has no year is read anew when the dated ones tell another."""
    folder.put(engine_log=DEATH * 3)
    assert folder.again() == ["engine.log"]
    for name in ("access.log", "app.log", "web.log"):
        file = folder.path / "logs" / name
        file.write_text(file.read_text().replace("2026", "2024"))
    assert "engine.log" in folder.again()


@pytest.mark.parametrize("kind", ["events", "rejects"])
def test_a_case_that_was_changed_by_hand(folder: Folder, kind: str) -> None:
    """What does not have the noted hash is of no use."""
    part = folder.path / "case" / kind / "00002.parquet"
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    assert folder.again() == ["app.log"]


def test_another_definition(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a format is added or changed everything is parsed."""
    known = definitions()
    first = replace(known.formats[0], text=known.formats[0].text + "# more\n")
    changed = replace(known, formats=(first, *known.formats[1:]))
    monkeypatch.setattr("tests.unit.test_earlier.definitions", lambda: changed)
    assert folder.again() == ["access.log", "app.log", "web.log"]


def test_a_killed_run(folder: Folder) -> None:
    """What it had finished is taken over, the line that it was writing is not read."""
    case, left = folder.path / "case", folder.path / ".case.partial-1"
    case.rename(left)
    (left / "case.json").unlink()
    notes = (left / NOTES).read_text().splitlines(keepends=True)
    kept = [one for one in notes if '"path": "logs/web.log"' not in one]
    torn = next(one for one in notes if one not in kept)
    (left / NOTES).write_text("".join([*kept, torn[: len(torn) // 2]]))
    assert folder.again() == ["web.log"]
    assert not left.exists()


def test_a_run_that_fails_after_a_killed_one(folder: Folder) -> None:
    """It keeps what the killed one had finished, for the next."""
    left = folder.path / ".case.partial-1"
    (folder.path / "case").rename(left)
    (left / "case.json").unlink()
    with pytest.raises(ValueError, match="bug"), CaseWriter(folder.path / "case"):
        raise ValueError("bug")
    assert folder.again() == []
    assert not left.exists()


def test_the_bytes_depend_on_the_rows_alone(tmp_path: Path) -> None:
    """In handfuls of any size, with texts of which some repeat and many do not."""
    texts = [f"{number % 70_001:0120d}" for number in range(150_000)]
    rows = pl.DataFrame({"text": texts, "reason": texts}).with_columns(
        pl.lit(1).alias(column.name)
        for column in schema.REJECTS
        if column.name not in {"text", "reason"}
    )
    made = []
    for number, size in enumerate((150_000, 48_611)):
        path = tmp_path / str(number)
        with Writer(path, schema.REJECTS) as writer:
            for start in range(0, len(rows), size):
                writer.add(rows.slice(start, size))
        made.append(path.read_bytes())
    assert made[0] == made[1]
