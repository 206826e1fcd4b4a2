"""Investigations of the sample incidents say what one counts in the logs by hand."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faultlayer import database, investigations
from faultlayer.analyze import analyze
from faultlayer.case import open_case
from faultlayer.investigations import Investigation

SAMPLES = Path(__file__).resolve().parent.parent / "sample_logs"
INCIDENTS = ("engine_death", "model_busy")
ALL = investigations.load()

Row = dict[str, Any]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Analyze the sample incidents."""
    folder = tmp_path_factory.mktemp("cases")
    for name in INCIDENTS:
        analyze([str(SAMPLES / name / "logs")], folder / name)
    return {name: folder / name for name in INCIDENTS}


def asked(case: Path, name: str, *params: str) -> list[Row]:
    """Run an investigation over a case on disk."""
    one = investigations.pick(ALL, name)
    with database.reading(open_case(case).path) as con:
        result = con.execute(one.query.statement, one.values(params))
        names = [item[0] for item in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def lines(incident: str, pattern: str) -> Iterator[str]:
    """Read logs as they are, unpacked."""
    for path in sorted((SAMPLES / incident / "logs").glob(pattern)):
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        yield from text.decode().splitlines()


def exchanges(incident: str) -> list[str]:
    """Give the access lines."""
    return list(lines(incident, "nginx/harness_access*"))


def entries(incident: str) -> list[Row]:
    """Give the entries of the ledger."""
    return [json.loads(line) for line in lines(incident, "quota/ledger*")]


@pytest.mark.parametrize("incident", INCIDENTS)
@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_runs_on_a_finished_case(
    one: Investigation, incident: str, cases: dict[str, Path]
) -> None:
    """Each has its documented columns there, and the same rows when asked again."""
    with database.reading(cases[incident]) as con:
        investigations.check(con, one, one.values([]))
    assert asked(cases[incident], one.name) == asked(cases[incident], one.name)


@pytest.mark.parametrize("incident", INCIDENTS)
def test_failures_are_the_access_log_s(incident: str, cases: dict[str, Path]) -> None:
    """As many attempts and failed ones as lines, and lines with a bad status."""
    statuses = [int(re.findall(r'" (\d{3}) ', line)[0]) for line in exchanges(incident)]
    failed = sum(status >= 400 for status in statuses)
    by_cause = asked(cases[incident], "causes")
    assert sum(row["failed"] for row in by_cause) == failed
    for name in ("top_users", "top_models", "top_routes"):
        rows = asked(cases[incident], name, "top=1000")
        assert sum(row["failed"] for row in rows) == failed
    rows = asked(cases[incident], "after_retries")
    assert sum(row["attempts"] for row in rows) == len(statuses)
    over_time = asked(cases[incident], "failures_over_time", "bucket=7s")
    assert sum(row["failed"] for row in over_time) == failed


@pytest.mark.parametrize("incident", INCIDENTS)
def test_slow_answers_are_the_access_log_s(
    incident: str, cases: dict[str, Path]
) -> None:
    """The time of the upstream is the one that nginx writes."""
    slow = Counter(
        float(text)
        for line in exchanges(incident)
        for text in re.findall(r"\burt=\"?([\d.]+)", line)
        if float(text) > 2.5
    )
    rows = asked(cases[incident], "slow_answers", "threshold_ms=2500", "top=100000")
    assert slow
    assert Counter(row["response_ms"] / 1000 for row in rows) == slow


@pytest.mark.parametrize("incident", INCIDENTS)
def test_quota_is_the_ledger_s(incident: str, cases: dict[str, Path]) -> None:
    """What each user was charged and denied is the sum of the ledger's entries."""
    spent: Counter[str] = Counter()
    denied: Counter[str] = Counter()
    for entry in entries(incident):
        spent[entry["user"]] += round(1000 * entry["amount"]) * (
            entry["event"] == "charge"
        )
        denied[entry["user"]] += entry["event"] == "deny"
    rows = asked(cases[incident], "quota_flow", "bucket=1d")
    assert {row["pool"]: round(1000 * row["spent"]) for row in rows} == dict(spent)
    assert {row["pool"]: row["denied"] for row in rows} == dict(denied)


@pytest.mark.parametrize("incident", INCIDENTS)
def test_tokens_are_the_ledger_s(incident: str, cases: dict[str, Path]) -> None:
    """All minutes of a user together are what the ledger charged for."""
    wanted: Counter[str] = Counter()
    for entry in entries(incident):
        if entry["event"] == "charge":
            tokens = entry["prompt_tokens"] + entry["completion_tokens"]
            wanted[entry["user"]] += tokens
    got: Counter[str] = Counter()
    for row in asked(cases[incident], "tokens_per_minute", "top=100000"):
        got[row["user_id"]] += row["tokens"]
    assert got == wanted


def test_the_victims_of_the_death_are_the_truth_s(cases: dict[str, Path]) -> None:
    """One engine died, and took along whom the truth says."""
    truth = (SAMPLES / "engine_death" / "truth.jsonl").read_text().splitlines()
    victims = sum(json.loads(line).get("cause") == "model.cuda_oom" for line in truth)
    [death] = asked(cases["engine_death"], "engine_deaths")
    assert (death["cause"], death["engine"]) == ("model.cuda_oom", "engine-a")
    assert death["victims"] == victims


def test_clocks_are_the_truth_s(cases: dict[str, Path]) -> None:
    """Each clock that the truth knows is off as it says, within the bounds."""
    truth = [
        json.loads(line)["clock"]
        for line in (SAMPLES / "model_busy" / "truth.jsonl").read_text().splitlines()
        if '"clock"' in line
    ]
    assert truth
    known = {row["clock_id"]: row for row in asked(cases["model_busy"], "clocks")}
    with database.reading(cases["model_busy"]) as con:
        stamped = dict(con.execute("SELECT path, clock_id FROM sources").fetchall())
    for clock in truth:
        path = next(path for path in stamped if path.endswith(clock["source"]))
        row = known[stamped[path]]
        wanted = clock["offset_s"] + clock.get("time_zone_s", 0)
        assert abs(row["offset_s"] - wanted) <= row["error_s"]


@pytest.mark.parametrize("incident", INCIDENTS)
def test_joins_are_the_harness_log_s(incident: str, cases: dict[str, Path]) -> None:
    """The harness knows as many requests as it names, and all of them are joined."""
    ids = {
        entry
        for line in lines(incident, "harness/harness.log*")
        for entry in re.findall(r"\brequest_id=(\S+)", line)
    }
    [row] = [
        row
        for row in asked(cases[incident], "joins")
        if row["path"].endswith("harness/harness.log")
    ]
    assert ids
    assert (row["requests"], row["alone"]) == (len(ids), 0)
