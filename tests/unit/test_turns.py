"""A clock that was set back shows readings twice; the order of the lines tells which."""

import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pytest

from faultlayer.analyze import analyze
from faultlayer.clocks.turns import Back, Lines, turn

START = datetime(2026, 10, 25)  # noqa: DTZ001 - written without a zone
SECOND = 1e6


def lines(
    *readings: float, spans: dict[int, tuple[float, float]] | None = None
) -> Lines:
    """Give lines read at these seconds; `spans`: between what true seconds, by line."""
    count = len(readings)
    lo, hi = np.full(count, np.nan), np.full(count, np.nan)
    for line, (first, last) in (spans or {}).items():
        lo[line - 1], hi[line - 1] = first * SECOND, last * SECOND
    reading = np.array(readings) * SECOND
    return Lines(np.arange(1, count + 1), reading, np.full(count, 1e3), lo, hi)


#: At 1000 s true time a clock that was right is set back by 2 s.
STEP = Back(1, 1000e6, 998e6, 0.0, -2e6, 5e3, -np.inf, np.inf)


def test_the_jump_is_the_turn() -> None:
    """Of two jumps that of the step's size counts, of two such that near its moment."""
    assert turn(lines(996, 997, 999.8, 998, 999, 1000), STEP) == 4
    assert turn(lines(500, 498.2, 997, 999.8, 998, 999), STEP) == 5
    assert turn(lines(500, 700, 999.9, 960, 999.8, 998.0, 999), STEP) == 6


def test_no_jump_and_no_requests_tell_nothing() -> None:
    """Then the readings alone decide."""
    assert turn(lines(996, 997, 1001, 1002), STEP) is None
    assert turn(lines(), STEP) is None


def test_requests_place_a_step_without_a_jump() -> None:
    """Nothing was written for longer than the step; the lines' requests tell."""
    true = {1: 997, 2: 999, 3: 999.5, 4: 1001.6, 5: 1001.8, 6: 1002, 7: 1003}
    spans = {line: (at - 0.1, at + 0.1) for line, at in true.items()}
    assert (
        turn(lines(997, 999, 999.5, 999.6, 999.8, 1000, 1001, spans=spans), STEP) == 4
    )
    early = {line: spans[line] for line in (1, 2, 3)}
    whole = lines(997, 999, 999.5, 999.6, spans=early | {4: (999.5, 999.7)})
    assert turn(whole, STEP) == 5  # one behind the last: all came before


def test_requests_outvote_a_jump_that_is_disorder() -> None:
    """A jump elsewhere that many requests contradict is not the step."""
    true = [990.0, 989.0, 991.0, 992.0, 993.0, 999.0, 1000.5, 1001.0, 1002.0, 1003.0]
    readings = [at if at < 1000 else at - 2 for at in true]
    spans = {line: (at - 0.1, at + 0.1) for line, at in enumerate(true, 1)}
    assert turn(lines(*readings, spans=spans), STEP) == 7


def summer(at: float) -> float:
    """Read local time at the end of summer time, in seconds ahead of UTC."""
    return 7200 if at < 3600 else 3600


def stepped(at: float) -> float:
    """Read a clock that NTP sets back by 2 s."""
    return 0.7 if at < 4000 else -1.3


def write(folder: Path, ahead: Callable[[float], float]) -> list[float]:
    """Write logs of two hours; give the true seconds of the gateway's lines."""
    dice = random.Random(5)
    served: list[tuple[float, str]] = []
    said: list[tuple[float, str]] = []
    at = 0.0
    while at < 7200:
        at += dice.expovariate(0.3)
        name = f"req-{dice.getrandbits(64):016x}"
        took = 0.05 + dice.expovariate(1.0)
        end = at + took
        served.append(
            (
                end,
                '"POST /v1/chat/completions HTTP/1.1" 200 500 "-" "c"'
                f' rt={took:.3f} uct="0.001" uht="0.02" urt="{took - 0.003:.3f}"'
                f" req_id={name} quota_used=5",
            )
        )
        words = f"harness.server: request accepted request_id={name} user=u model=m"
        said.append((at + 0.002, f"{words} stream=false"))
        words = f"harness.server: request completed request_id={name} status=200"
        said.append((end - 0.001, f"{words} prompt_tokens=3 completion_tokens=1"))
    served.sort()
    said.sort()
    for name in ("nginx", "harness"):
        (folder / name).mkdir(parents=True)
    with (folder / "nginx/access.log").open("w") as file:
        for end, text in served:
            stamp = START + timedelta(seconds=end)
            file.write(f"10.0.0.1 - - [{stamp:%d/%b/%Y:%H:%M:%S} +0000] {text}\n")
    with (folder / "harness/harness.log").open("w") as file:
        for when, text in said:
            stamp = START + timedelta(seconds=when + ahead(when))
            micro = f"{stamp.microsecond // 1000:03d}"
            file.write(f"[INFO] [{stamp:%Y-%m-%d %H:%M:%S},{micro}] {text}\n")
    return [when for when, _ in said]


@pytest.mark.parametrize("ahead", [summer, stepped])
def test_lines_before_a_step_back_keep_their_time(
    ahead: Callable[[float], float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `case.duckdb` a handful of lines at most is wrong by the step."""
    truth = write(tmp_path / "logs", ahead)
    case = tmp_path / "case"
    analyze([str(tmp_path / "logs")], case)
    monkeypatch.chdir(case)
    with duckdb.connect("case.duckdb", read_only=True) as con:
        found = con.execute(
            "SELECT epoch_us(ts) FROM events WHERE layer = 'harness'"
            " AND component <> 'nginx' ORDER BY line"
        ).fetchall()
        turns = con.execute("SELECT segment FROM turns").fetchall()
    start = (START - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001
    wrong = [
        true
        for (ts,), true in zip(found, truth, strict=True)
        if abs(ts / 1e6 - start - true) > 0.1
    ]
    assert turns == [(1,)]
    assert len(wrong) <= 3
    manifest = json.loads((case / "case.json").read_text())
    assert manifest["files"]["turns.parquet"]["rows"] == 1
