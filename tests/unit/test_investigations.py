"""Investigations as files and as a command: parameters, errors, what is never pasted."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from faultlayer import investigations
from faultlayer.case import Case
from faultlayer.cli import run
from faultlayer.errors import DefinitionError, UsageError

Build = Callable[..., Case]

GOOD = """\
-- title: Events of a kind
-- param kind: text = access; which
-- column n: how many
SELECT count(*) AS n
FROM events
WHERE events.kind = $kind
ORDER BY n
"""


def own(tmp_path: Path, text: str, name: str = "mine") -> Path:
    """Write an investigation of a user's own, and give its folder."""
    folder = tmp_path / "own"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.sql").write_text(text, "utf-8")
    return folder


def ask(
    case: Case, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    """Run `query` on a case; gives the exit code, stdout and stderr."""
    code = run(["query", str(case.path), *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_list_names_all(
    build_case: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a name there is a list, under topics, as text and as JSON."""
    case = build_case()
    code, out, _ = ask(case, capsys)
    assert code == 0
    names = [one.name for one in investigations.load()]
    assert len(names) >= 30
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert [name for name in listed if name in names] == names
    code, out, _ = ask(case, capsys, "--format", "json")
    assert [one["name"] for one in json.loads(out)] == names


@pytest.mark.parametrize("name", [one.name for one in investigations.load()])
def test_each_runs_through_the_command(
    name: str, build_case: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a case as it is on disk, with the columns that the header documents."""
    code, out, err = ask(build_case(), capsys, name, "--format", "csv")
    assert (code, err) == (0, "")
    one = investigations.pick(investigations.load(), name)
    assert out.splitlines()[0].split(",") == list(one.columns)


def test_clocks(build_case: Build, capsys: pytest.CaptureFixture[str]) -> None:
    """Offset and bounds in seconds, as the table has them in microseconds."""
    clock = {
        "clock_id": "model/engine-0",
        "segment": 0,
        "anchor_ts": datetime(2026, 11, 30, 14, 20),  # noqa: DTZ001
        "offset_us": 28_802_500_000,
        "lo_us": 28_802_300_000,
        "hi_us": 28_802_900_000,
        "drift_ppm": 12.34567,
        "pairs": 7,
        "support": 0.98765,
        "status": "tied",
        "method": "shared request ids",
        "time_zone_us": 28_800_000_000,
    }
    _, out, _ = ask(build_case(clocks=[clock]), capsys, "clocks", "--format", "jsonl")
    row = json.loads(out)
    assert (row["offset_s"], row["error_s"], row["zone_h"]) == (28802.5, 0.4, 8.0)
    assert (row["drift_ppm"], row["support"], row["pairs"]) == (12.346, 0.9877, 7)


def test_rejects(build_case: Build, capsys: pytest.CaptureFixture[str]) -> None:
    """They are counted by log and reason, the most first, with the first as example."""
    rejects = [
        {
            "source_id": 1,
            "line": line,
            "lines": 1,
            "byte_offset": 10 * line,
            "byte_length": 10,
            "reason": reason,
            "text": text,
        }
        for line, reason, text in (
            (9, "no pattern", "second"),
            (7, "no pattern", "first"),
            (8, "torn", "{"),
        )
    ]
    case = build_case(rejects=rejects)
    _, out, _ = ask(case, capsys, "rejects", "--format", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [
        (row["reason"], row["records"], row["bytes"], row["first_line"], row["example"])
        for row in rows
    ] == [("no pattern", 2, 20, 7, "first"), ("torn", 1, 10, 8, "{")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["top_user"], "perhaps top_users"),
        (["heat"], "perhaps gpu_heat"),
        (["xyz"], "faultlayer query CASE lists them"),
        (["causes", "--param", "top=1"], "causes has no parameters"),
        (["top_users", "--param", "tpo=1"], "perhaps top; its parameters: top, layer"),
        (["top_users", "--param", "top"], "wants NAME=VALUE"),
        (["top_users", "--param", "top=x"], "top is an integer, not 'x'"),
        (["top_users", "--param", "top=99999999999999999999"], "top is an integer"),
        (["top_users", "--param", "top=1", "--param", "top=2"], "given twice"),
        (["slow_headers", "--param", "threshold_ms=nan"], "is a number"),
        (["bursts", "--param", "window=5"], "for example --param window=30s"),
        (["bursts", "--param", "window=0s"], "window is a duration"),
        (["slow_hops", "--param", "since=noon"], "since is a time"),
        (["--param", "top=1"], "which investigation?"),
        (["--show"], "which investigation?"),
        (["causes", "--queries", "nowhere"], "nowhere is no folder"),
    ],
)
def test_a_wrong_word_is_told(
    words: list[str],
    message: str,
    build_case: Build,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, nothing on stdout, and what was perhaps meant."""
    code, out, err = ask(build_case(), capsys, *words)
    assert (code, out) == (2, "")
    assert message in err


def test_values_have_their_types() -> None:
    """Parameters are bound as what they are, and an open one as NULL."""
    one = investigations.pick(investigations.load(), "failures_over_time")
    assert one.values(["since=2026-11-30T14:00+02:00", "bucket=1h30m"]) == {
        "bucket": timedelta(hours=1, minutes=30),
        "layer": None,
        "since": datetime(2026, 11, 30, 12),  # noqa: DTZ001
        "until": None,
    }


def test_a_value_is_never_sql(
    build_case: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    """What looks like SQL is text that fits nothing."""
    hostile = "layer=' OR 1=1; DROP VIEW verdicts; --"
    code, out, _ = ask(
        build_case(), capsys, "troubles", "--param", hostile, "--format", "json"
    )
    assert (code, out) == (0, "[]\n")


def test_files_of_ones_own(
    build_case: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are listed last, run like the others, and printed by --show."""
    case = build_case()
    folder = own(tmp_path, GOOD)
    code, out, _ = ask(case, capsys, "--queries", str(folder))
    assert code == 0
    assert [line.split() for line in out.splitlines()[-2:]] == [
        ["own"],
        ["mine", "Events", "of", "a", "kind"],
    ]
    words = ["mine", "--queries", str(folder), "--format", "csv"]
    assert ask(case, capsys, *words, "--param", "kind=none")[1] == "n\n0\n"
    assert ask(case, capsys, "mine", "--queries", str(folder), "--show")[1] == GOOD
    one_file = str(folder / "mine.sql")
    assert ask(case, capsys, "mine", "--queries", one_file)[0] == 0


def test_parquet_is_written_whole(build_case: Build, tmp_path: Path) -> None:
    """-o chooses the format by the name of the file."""
    target = tmp_path / "causes.parquet"
    case = build_case()
    assert run(["query", str(case.path), "causes", "-o", str(target)]) == 0
    assert pq.read_table(target).column("cause").to_pylist() == ["model.engine_dead"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1", "mine.sql:1: header lacks title"),
        (
            GOOD.replace("-- param kind: text = access; which\n", ""),
            "$kind is no param",
        ),
        (GOOD.replace("text = access", "word = access"), "param kind is no `TYPE"),
        (GOOD.replace("text = access", "integer = x"), "'x' is no integer"),
        (GOOD.replace("$kind", "'access'"), "param kind is not used"),
        (GOOD.replace("SELECT", "SELEC"), "mine.sql:4: "),
        (GOOD.replace("FROM events", "FROM evnts"), "mine.sql:5: "),
        (GOOD.replace("AS n\n", "AS m\n").replace("BY n", "BY m"), "it returns m"),
        (GOOD + "; SELECT 1", "an investigation is one SELECT"),
        ("-- title: x\nCOPY events TO 'out.csv'", "an investigation is one SELECT"),
        ("-- title: x\n", "no statement"),
    ],
)
def test_a_broken_file_is_told(
    text: str,
    message: str,
    build_case: Build,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 7, nothing on stdout, and the place in the file."""
    folder = own(tmp_path, text)
    code, out, err = ask(build_case(), capsys, "mine", "--queries", str(folder))
    assert (code, out) == (7, "")
    assert message in err


def test_a_name_of_ours_is_taken(tmp_path: Path) -> None:
    """An own file does not silently replace a built-in one."""
    folder = own(tmp_path, GOOD, "causes")
    with pytest.raises(DefinitionError, match="a built-in investigation is called"):
        investigations.load(folder)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """A file in another encoding is a broken definition, not a crash."""
    folder = own(tmp_path, GOOD)
    (folder / "other.sql").write_bytes(b"-- title: \xff\nSELECT 1")
    with pytest.raises(DefinitionError, match="cannot be read"):
        investigations.load(folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match=r"no file that ends in \.sql"):
        investigations.load(empty)


@pytest.mark.parametrize(
    "relation",
    ["read_csv('{file}')", "read_text('{file}')", "'{file}'", "glob('{file}')"],
)
def test_an_own_file_reads_the_case_alone(
    relation: str,
    build_case: Build,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What somebody sent cannot read what else is on this machine."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nsecret\n")
    text = f"-- title: x\nSELECT * FROM {relation.format(file=secret)}\n"
    words = ["mine", "--queries", str(own(tmp_path, text))]
    code, out, _ = ask(build_case(), capsys, *words)
    assert (code, out) == (7, "")


def test_a_fault_while_it_runs_is_the_files(
    build_case: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value that cannot be cast shows only then; the file is named all the same."""
    text = "-- title: x\nSELECT CAST(events.kind AS BIGINT) AS n\nFROM events\n"
    folder = own(tmp_path, text)
    code, _, err = ask(build_case(), capsys, "mine", "--queries", str(folder))
    assert code == 7
    assert "mine.sql" in err


def test_a_case_of_another_version_is_told(build_case: Build) -> None:
    """A table without a column that we read is a foreign case, not a crash."""
    case = build_case()
    table = pq.read_table(case.path / "settings.parquet").drop_columns(["number"])
    pq.write_table(table, case.path / "settings.parquet")
    assert run(["query", str(case.path), "causes"]) == 6
