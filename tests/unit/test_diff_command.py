"""`faultlayer diff` as it is called: output, formats, windows, exit codes."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.unit.conftest import Build, Rows
from tests.unit.two_sides import worse

from faultlayer import changes, changes_screen
from faultlayer.changes import Change
from faultlayer.cli import run


def ask(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """Run `diff`; gives the exit code, stdout and stderr."""
    code = run(["diff", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def both(tmp_path: Path, build_case: Build) -> tuple[Path, Path]:
    """Give the quiet and the worse side as whole cases."""
    cases = []
    for name, rows in zip(("quiet", "worse"), worse(), strict=True):
        plain: dict[str, Rows] = {
            "findings": [],
            "incidents": [],
            "conditions": [],
            "aliases": [],
        }
        cases.append(build_case(tmp_path / name, **(plain | rows)).path)
    return cases[0], cases[1]


def test_table(
    both: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Totals, then the most surprising with both shares and the interval."""
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = ask(capsys, *both)
    assert (code, err) == (0, "")
    assert "worse  80 attempts, 20 failed, 25 %" in out
    assert "more than chance, corrected for 5 comparisons" in out
    assert "1  new  model.cuda_oom, model m-a  0 % (0 of 40)  50 % (20 of 40)" in out
    assert "4 more rows are about the same failures" in out
    monkeypatch.setenv("COLUMNS", "40")
    narrow = ask(capsys, *both)[1]
    assert "1 new model.cuda_oom, model m-a\n    0 % (0 of 40)" in narrow
    assert all(len(text) <= 60 for text in narrow.splitlines()[3:])


def test_equal_cases(
    both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Are said to be, and as data there is nothing but the header."""
    code, out, _ = ask(capsys, both[1], both[1])
    assert code == 0
    assert "no difference that is more than chance" in out
    out = ask(capsys, both[1], both[1], "--format", "csv")[1]
    assert out.splitlines()[0].startswith("number,change,certainty,measure,layer,")
    assert len(out.splitlines()) == 1
    rows = json.loads(ask(capsys, both[1], both[1], "--all", "--format", "json")[1])
    assert {row["change"] for row in rows} == {"same"}


def test_data(
    both: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same rows in each format, twice the same bytes, and in a file by its name."""
    out = ask(capsys, *both, "--format", "csv")[1]
    assert ask(capsys, *both, "--format", "csv")[1] == out
    lines = list(csv.DictReader(io.StringIO(out)))
    assert [(row["number"], row["part_of"]) for row in lines] == [
        ("1", ""),
        *[("", "1")] * 4,
    ]
    assert len(ask(capsys, *both, "--format", "jsonl")[1].splitlines()) == 5
    for suffix in ("parquet", "csv", "json", "md", "txt"):
        target = tmp_path / f"out.{suffix}"
        assert ask(capsys, *both, "-o", target)[:2] == (0, "")
        assert target.stat().st_size > 100
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 5
    assert (tmp_path / "out.csv").read_text() == out


@pytest.mark.checkout
def test_columns_are_documented(
    root: Path, both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/diff.md has every column and certainty."""
    page = (root / "docs" / "diff.md").read_text("utf-8")
    header = ask(capsys, *both, "--format", "csv")[1].splitlines()[0]
    words = [*header.split(","), changes.SURE, changes.BURSTS, changes.FEW]
    words += [changes.UNTESTED, changes.FAILED, changes.CONDITIONS]
    assert [word for word in words if f"`{word}`" not in page] == []


def test_two_windows_of_one_case(
    both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The first forty seconds against the rest; a zone is heeded, a day is known."""
    code, out, _ = ask(
        capsys,
        both[1],
        *("--base-window", "..2026-11-30T20:00:41+08:00"),
        *("--window", "12:00:41.."),  # of the day of the case
    )
    assert code == 0
    assert "worse ..2026-11-30 12:00:41  40 attempts, 20 failed, 50 %" in out
    assert "worse 2026-11-30 12:00:41..  40 attempts, 0 failed, 0 %" in out


def _mistakes() -> Iterator[Any]:
    yield ["{worse}"], 2, "with what is"
    yield ["nowhere", "{worse}"], 6, "no case at nowhere"
    yield ["{worse}", "nowhere"], 6, "no case at nowhere"
    yield ["{worse}", "{quiet}", "--window", "noon"], 2, "is no FROM..TO"
    yield (
        ["{worse}", "--window", "2026-11-30..2026-11-29", "--base-window", ".."],
        2,
        "ends before it begins",
    )
    yield (
        ["{worse}", "--window", "2026-11-30..", "--base-window", "2026-11-29.."],
        2,
        "the two windows share time",
    )


@pytest.mark.parametrize(("words", "code", "message"), list(_mistakes()))
def test_mistakes(
    words: list[str],
    code: int,
    message: str,
    both: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each is told on stderr with the exit code of the contract."""
    given = [word.format(quiet=both[0], worse=both[1]) for word in words]
    ended = ask(capsys, *given)
    assert ended[:2] == (code, "")
    assert message in ended[2]


def test_a_damaged_case(
    both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A torn table ends with 6 and the next step."""
    (both[1] / "attempts.parquet").write_bytes(b"PAR1")
    code, out, err = ask(capsys, *both)
    assert (code, out) == (6, "")
    assert "is damaged" in err


def test_an_empty_case(
    both: tuple[Path, Path],
    tmp_path: Path,
    build_case: Build,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is said which side has nothing."""
    empty = build_case(
        tmp_path / "empty", attempts=[], verdicts=[], findings=[], conditions=[]
    ).path
    code, out, _ = ask(capsys, empty, both[1])
    assert code == 0
    assert "worse  80 attempts\n" in out
    assert "empty has no attempts\nnothing to compare" in out
    code, out, err = ask(capsys, empty, both[1], "--format", "json")
    assert (code, json.loads(out)) == (0, [])
    assert "BASE has no attempts" in err


def test_other_definitions_are_warned_of(
    both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Verdicts of other rules differ for that reason."""
    file = both[1] / "case.json"
    manifest = json.loads(file.read_text("utf-8"))
    file.write_text(
        json.dumps(
            {
                **manifest,
                "tool_version": "0.0.9",
                "definitions": {"queries/rules/x.sql": "00"},
                "values": [{"section": "limits", "name": "burst", "value": 3}],
            }
        )
    )
    err = ask(capsys, *both)[2]
    assert "CASE by 0.0.9; what differs may be due to that" in err
    assert "other formats, signatures or rules: queries/rules/x.sql" in err
    assert "limits and thresholds" not in err  # BASE did not need that limit


def test_hostile_names() -> None:
    """A name cannot steer the terminal, nor show a key."""
    keys = dict.fromkeys(changes.KEYS) | {
        "user_id": "\x1b[31mred\nline",
        "model": "m api_key=verysecretvalue",
    }
    text = changes_screen.about(Change(changes.FAILED, keys, 0, 1, 10, 10))
    assert "\x1b" not in text
    assert "\n" not in text
    assert "verysecret" not in text
