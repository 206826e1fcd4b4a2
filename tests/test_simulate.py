"""Invented days: the analysis finds their truth, and the same seed gives the same bytes."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.scorer import score

from faultlayer.analyze import analyze
from faultlayer.cli import run
from faultlayer.simulate.arrivals import Arrivals
from faultlayer.simulate.day import BURST_LIMIT, KINDS, SECOND, Clock, Day, draw
from faultlayer.simulate.outcomes import TURNED_AWAY, Way
from faultlayer.simulate.write import FILES, write

REQUESTS = 600
# Together they have every kind of incident.
SEEDS = (1, 2, 3)


def made(seed: int, folder: Path, requests: int = REQUESTS) -> Path:
    """Write a day without showing progress."""
    folder.mkdir()
    write(seed, requests, folder, lambda _: None)
    return folder


def truth(day: Path) -> list[dict[str, Any]]:
    """Give the lines of a day's truth."""
    return [json.loads(line) for line in (day / "truth.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "seed",
    [SEEDS[0], *(pytest.param(one, marks=pytest.mark.deep) for one in SEEDS[1:])],
)
def test_the_analysis_finds_the_truth(seed: int, tmp_path: Path) -> None:
    """Each failed attempt has its layer and cause, each condition and clock is found."""
    day = made(seed, tmp_path / "day")
    analyze([str(day / "logs")], tmp_path / "case")
    result = score(tmp_path / "case", day / "truth.jsonl")
    assert result.wrong_proven == []
    assert result.problems == []


def test_the_seeds_above_have_every_kind_of_incident() -> None:
    """Else a kind could be wrong and no test would notice."""
    drawn = {one.kind for seed in SEEDS for one in draw(seed, REQUESTS).incidents}
    assert drawn == set(KINDS)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """And another seed gives others, though the same files."""
    days = [
        made(seed, tmp_path / name) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    one, same, other = (
        {file: (day / file).read_bytes() for file in FILES} for day in days
    )
    assert one == same
    assert all(one[file] != other[file] for file in FILES if "config" not in file)


def test_the_truth_counts_itself(tmp_path: Path) -> None:
    """It has every request once, retries beside, and the number of failed attempts."""
    lines = truth(made(1, tmp_path / "day"))
    attempts = [line for line in lines if "request_id" in line]
    assert sum(line["attempt"] == 1 for line in attempts) == REQUESTS
    failed = sum("cause" in line for line in attempts)
    assert lines[-1] == {"expect_verdicts": failed}
    assert failed > 0


def test_a_root_is_the_line_that_shows_it(tmp_path: Path) -> None:
    """Line numbers count the lines of tracebacks, too."""
    day = made(1, tmp_path / "day")
    [death] = [line for line in truth(day) if line.get("condition") == "model.cuda_oom"]
    path, _, number = death["root"].rpartition(":")
    text = (day / path).read_bytes().split(b"\n")[int(number) - 1]
    assert b"EngineCore encountered a fatal error." in text
    path, _, number = death["also"][0].rpartition(":")
    text = (day / path).read_bytes().split(b"\n")[int(number) - 1]
    assert b"AsyncLLM output_handler failed." in text


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Lines are in the order of time, though a request ends after its chunk."""
    monkeypatch.setattr("faultlayer.simulate.arrivals._CHUNK", 4)
    day = made(1, tmp_path / "day")
    stamps = [
        json.loads(line)["ts"]
        for line in (day / "logs/quota/ledger.jsonl").read_text().splitlines()
    ]
    assert stamps == sorted(stamps)
    assert len(stamps) > REQUESTS


def test_a_burst_is_counted_over_chunks() -> None:
    """Of 30 requests within 4.5 s the first 20 pass, wherever the chunk ends."""
    day = draw(1, REQUESTS)
    rows = next(iter(Arrivals(day).chunks()))[1].head(30)
    rows = rows.with_columns(
        start=pl.Series(np.arange(30) * 150_000 + 40 * SECOND),
        user=pl.lit(900),
        prompt=pl.lit(50),
        leaves=pl.lit(None, pl.Int64),
        denied=pl.lit(value=False),
        plugin=pl.lit(value=False),
    ).cast(rows.schema)
    way = Way(day)
    outcomes = [
        outcome
        for part in (rows.head(12), rows.tail(18))
        for outcome in way.take(part)["outcome"]
    ]
    assert outcomes == ["served"] * BURST_LIMIT + ["burst"] * (30 - BURST_LIMIT)


def test_who_is_turned_away_reaches_no_engine() -> None:
    """And whoever is served ends after it began."""
    for seed in SEEDS:
        day = draw(seed, REQUESTS)
        way = Way(day)
        for _, chunk in Arrivals(day).chunks():
            rows = way.take(chunk)
            away = rows.filter(pl.col("outcome").is_in(TURNED_AWAY))
            assert not away["sent"].any()
            assert (rows["end"] > rows["start"]).all()
            assert (rows["cause"].is_null() == (rows["outcome"] == "served")).all()


def test_a_clock_drifts_from_midnight_on() -> None:
    """After 10 hours at +20 ppm a clock that was 1 s behind is 0.28 s behind."""
    midnight = draw(1, 1).midnight
    clock = Clock(midnight, -1 * SECOND, 20, 3600)
    ten = 36_000 * SECOND
    assert clock.ahead_at(ten) == -280_000
    assert clock.at(ten, "%H:%M:%S.%3f") == "10:59:59.720"


@pytest.mark.parametrize("requests", [1, 20, 150])
def test_few_requests_make_a_day_as_well(requests: int, tmp_path: Path) -> None:
    """With fewer incidents, which take no more than half of the requests."""
    day = draw(1, requests)
    assert sum(one.requests for one in day.incidents) <= requests / 2
    lines = truth(made(1, tmp_path / "day", requests))
    assert sum(line.get("attempt") == 1 for line in lines) == requests


def test_incidents_are_apart() -> None:
    """So that each failure has one cause."""

    def gaps(day: Day) -> list[int]:
        spans = [(one.start, one.end) for one in day.incidents]
        return [b[0] - a[1] for a, b in pairwise(spans)]

    for seed in range(2000):
        day = draw(seed, REQUESTS)
        assert min(gaps(day), default=SECOND * 1200) >= SECOND * 1200
        assert day.incidents[0].start >= 3600 * SECOND
        assert day.incidents[-1].end < 23 * 3600 * SECOND


class TestCommand:
    """`faultlayer simulate`, in a folder of its own."""

    @pytest.fixture(autouse=True)
    def _there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    @pytest.fixture
    def simulate(
        self, capsys: pytest.CaptureFixture[str]
    ) -> Callable[..., tuple[int, str]]:
        """Give the command; it gives the exit code and what it says."""

        def call(*more: str) -> tuple[int, str]:
            code = run(["simulate", "--requests", "20", "-o", "a day", *more])
            told = capsys.readouterr()
            assert told.out == ""
            return code, told.err

        return call

    def test_it_names_the_next_step(
        self, simulate: Callable[..., tuple[int, str]]
    ) -> None:
        """Which can be copied, and beside the day it leaves nothing."""
        code, told = simulate()
        assert code == 0
        assert told.endswith("next: faultlayer analyze 'a day/logs'\n")
        assert [path.name for path in Path().iterdir()] == ["a day"]
        files = {
            path.relative_to("a day").as_posix()
            for path in Path("a day").rglob("*")
            if path.is_file()
        }
        assert files == FILES

    def test_a_day_is_replaced_when_forced_only(
        self, simulate: Callable[..., tuple[int, str]]
    ) -> None:
        """Without --force it stays."""
        simulate()
        before = Path("a day/truth.jsonl").read_bytes()
        code, told = simulate("--seed", "2")
        assert code == 2
        assert "holds an invented day already" in told
        assert Path("a day/truth.jsonl").read_bytes() == before
        assert simulate("--seed", "2", "--force")[0] == 0
        assert Path("a day/truth.jsonl").read_bytes() != before
        assert [path.name for path in Path().iterdir()] == ["a day"]

    @pytest.mark.parametrize("file", ["mine.txt", "logs/nginx/other.log", "README.md"])
    def test_nothing_foreign_is_touched(
        self, simulate: Callable[..., tuple[int, str]], file: str
    ) -> None:
        """Not with --force either."""
        Path("a day", file).parent.mkdir(parents=True)
        Path("a day", file).write_text("mine")
        code, told = simulate("--force")
        assert code == 2
        assert "is not empty" in told
        assert Path("a day", file).read_text() == "mine"
        assert [path.name for path in Path().iterdir()] == ["a day"]

    def test_what_breaks_off_leaves_nothing(
        self,
        simulate: Callable[..., tuple[int, str]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A full disk ends it with a message."""

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("faultlayer.simulate.lines.truth", full)
        code, told = simulate()
        assert code == 2
        assert "No space left on device" in told
        assert list(Path().iterdir()) == []
