"""What `faultlayer diff` names between two sides, and what it keeps quiet about."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.unit.conftest import Rows, table
from tests.unit.two_sides import NOON, attempts, worse

from faultlayer import changes, changes_screen, comparing, schema
from faultlayer.case import Case
from faultlayer.changes import Comparison
from faultlayer.counted import Part

DAY = timedelta(days=1)
CAUSES = {
    "harness.plugin_failed": 0.02,
    "quota.exceeded": 0.01,
    "client.abort": 0.006,
    "model.cuda_oom": 0.002,
}
SHARES = {"m-a": 0.3, "m-b": 0.5, "m-c": 0.2}


def saved(folder: Path, rows: dict[str, Rows]) -> Case:
    """Write these tables alone, as a case has them; others are empty then."""
    folder.mkdir()
    for name, own in rows.items():
        target = folder / f"{name}.parquet"
        pq.write_table(table(schema.TABLES[name], own), target)
    return Case(folder, {})


def compared(
    tmp_path: Path, base: dict[str, Rows], case: dict[str, Rows], **options: Any
) -> Comparison:
    """Compare two cases of these tables."""
    parts = [
        Part(saved(tmp_path / name, rows))
        for name, rows in (("one", base), ("two", case))
    ]
    return comparing.compare(parts[0], parts[1], **options)


def told(found: Comparison, *, parts: bool = False) -> list[str]:
    """Spell what a comparison names as more than chance."""
    return [
        f"{change.change} {changes_screen.about(change)}"
        for change in found.found
        if change.certainty == changes.SURE and (parts or change.part_of is None)
    ]


def day(seed: int, *, risen: bool) -> dict[str, Rows]:
    """Invent a day of retries; with `risen` m-b's plugins fail twice as often at night.

    The second half of the day is as the first else: same shares, own attempts.
    """
    chance = random.Random(seed)
    outcomes: list[tuple[str | None, dict[str, Any]]] = []
    request = 0
    while len(outcomes) < 16_000:
        request += 1
        served = chance.choices(list(SHARES), list(SHARES.values()))[0]
        user = f"u-{chance.randrange(40)}"
        for attempt in range(1, 4):
            late = len(outcomes) >= 8000
            cause = None
            for name, share in CAUSES.items():
                twice = risen and late and served == "m-b" and name.startswith("har")
                # Who has failed will fail again more often.
                odds = share * (2 if twice else 1) * (10 if attempt > 1 else 1)
                if cause is None and chance.random() < odds:
                    cause = name
            outcomes.append(
                (
                    cause,
                    {
                        "model": served,
                        "user_id": user,
                        "request_id": f"r-{request}",
                        "attempt": attempt,
                        "ts_end": NOON + len(outcomes) * DAY / 16_000,
                    },
                )
            )
            if cause is None:
                break
    return attempts(*outcomes[:16_000])


def halves(folder: Path, seed: int, *, risen: bool) -> Comparison:
    """Compare the first half of a day with the second."""
    case = saved(folder / str(seed), day(seed, risen=risen))
    noon = NOON + DAY / 2
    return comparing.compare(Part(case, None, noon), Part(case, noon, None))


@pytest.mark.deep
def test_a_quiet_day_says_nothing(tmp_path: Path) -> None:
    """Two halves of one day, twenty times: no difference is named."""
    named = [told(halves(tmp_path, seed, risen=False)) for seed in range(20)]
    assert named == [[]] * 20


@pytest.mark.deep
def test_a_cause_that_doubles_for_one_model_comes_first(tmp_path: Path) -> None:
    """Twenty times out of twenty, and nothing else that is not a part of it."""
    named = [told(halves(tmp_path, seed, risen=True)) for seed in range(20)]
    first = "rose harness.plugin_failed, model m-b"
    assert [texts[:1] for texts in named] == [[first]] * 20


def test_numbers(tmp_path: Path) -> None:
    """0 of 40 against 20 of 40, by hand.

    Each of the 40 users is a clump of one attempt of m-a. The exact test has the table
    and its mirror image: p = 2 * C(40, 20) / C(80, 20) = 7.798e-08.
    """
    found = compared(tmp_path, *worse())
    assert found.attempts == (80, 80)
    first = found.found[0].row()
    assert (first["change"], first["cause"], first["model"]) == (
        "new",
        "model.cuda_oom",
        "m-a",
    )
    assert (first["base_value"], first["base_attempts"]) == (0, 40)
    assert (first["case_value"], first["case_attempts"]) == (20, 40)
    assert (first["base_share"], first["case_share"], first["difference"]) == (
        0,
        0.5,
        0.5,
    )
    # All attempts, their layer, their cause; m-a, the cause for m-a. Of a user one
    # attempt failed at most: that could never be significant, and costs nothing.
    assert found.tested == 5
    # The least of the two about models, which have a quarter of alpha.
    assert first["p"] == pytest.approx(4 * 2 * 7.798e-08, rel=1e-3)
    # Wilson at 99 %: 0 of 40 up to 0.14226, 20 of 40 from 0.31175 to 0.68825.
    assert first["difference_low"] == pytest.approx(0.5 - 0.23588, abs=1e-3)
    assert first["difference_high"] == pytest.approx(0.5 + 0.18825, abs=1e-3)


def test_the_same_failures_are_told_once(tmp_path: Path) -> None:
    """The narrowest is told, what sums it up is a part of it."""
    found = compared(tmp_path, *worse())
    assert told(found) == ["new model.cuda_oom, model m-a"]
    assert sorted(told(found, parts=True)) == [
        "new all attempts",
        "new layer model",
        "new model m-a",
        "new model.cuda_oom",
        "new model.cuda_oom, model m-a",
    ]
    assert {change.part_of for change in found.found} == {None, 1}


def test_of_few_attempts_the_failures_say_more(tmp_path: Path) -> None:
    """13 of one user's 30 are also 13 of his model's 150, and those of one user."""
    sides = [
        attempts(
            *[
                (
                    cause if user == 4 and n < 13 else None,
                    {
                        "model": f"m-{user % 2}",
                        "user_id": f"u-{user}",
                        "ts_end": NOON + timedelta(minutes=2 * n, seconds=user),
                    },
                )
                for n in range(30)
                for user in range(10)
            ]
        )
        for cause in (None, "quota.exceeded")
    ]
    found = compared(tmp_path, *sides)
    [first] = [change for change in found.found if change.number == 1]
    assert changes_screen.about(first) == "quota.exceeded, user u-4"


def test_what_fell_is_told_too(tmp_path: Path) -> None:
    """The other way round it is gone."""
    base, case = worse()
    assert told(compared(tmp_path, case, base)) == ["gone model.cuda_oom, model m-a"]


def test_two_causes_are_two_changes(tmp_path: Path) -> None:
    """Causes come before the sum of them, though that is further from chance."""
    fine, _ = worse()
    case = attempts(
        *[
            (
                "model.cuda_oom" if served == "m-a" else "quota.exceeded",
                {"model": served, "user_id": f"u-{n}"},
            )
            if n < 20
            else (None, {"model": served, "user_id": f"u-{n}"})
            for n in range(40)
            for served in ("m-a", "m-b")
        ]
    )
    assert told(compared(tmp_path, fine, case)) == [
        "new model.cuda_oom, model m-a",
        "new quota.exceeded, model m-b",
    ]


def test_one_burst_is_no_proof(tmp_path: Path) -> None:
    """A user who fails thirty times within a minute is said apart."""
    rest: list[tuple[str | None, dict[str, Any]]] = [
        (None, {"user_id": f"u-{n}"}) for n in range(300)
    ]
    burst: list[tuple[str | None, dict[str, Any]]] = [
        ("client.bad_request", {"user_id": "u-x"})
    ]
    found = compared(tmp_path, attempts(*rest), attempts(*rest[30:], *burst * 30))
    assert told(found) == []
    assert [c.keys["cause"] for c in found.found if c.certainty == changes.BURSTS] == [
        "client.bad_request",
        None,
        None,
    ]


def test_rare_causes_and_conditions_are_listed(tmp_path: Path) -> None:
    """What one side alone has is said, with no claim."""
    fine: list[tuple[str | None, dict[str, Any]]] = [(None, {"user_id": "u-1"})] * 9
    trouble = {
        "condition_id": 1,
        "layer": "model",
        "cause": "model.engine_dead",
        "ts_start": NOON,
    }
    base = attempts(*fine, ("client.abort", {"user_id": "u-2"}))
    case = attempts(*fine) | {"conditions": [trouble]}
    found = compared(tmp_path, base, case)
    assert [
        (c.change, c.measure, c.keys["cause"], c.certainty) for c in found.found
    ] == [
        ("gone", changes.FAILED, "client.abort", changes.FEW),
        ("new", changes.CONDITIONS, "model.engine_dead", changes.UNTESTED),
    ]


def _timed(*durations: float) -> Rows:
    return [
        {
            "event_id": number,
            "source_id": 1,
            "kind": "access",
            "duration_ms": duration,
            "message": "POST /v1/chat/completions?x=1 HTTP/1.1",
        }
        for number, duration in enumerate(durations, 1)
    ]


def test_slower_answers(tmp_path: Path) -> None:
    """From 1..200 ms to 1001..1200 ms: the median goes from 100 to 1100."""
    rows = attempts(*[(None, {"model": "m-a"})] * 200)
    parts = []
    for name, more in (("one", 0), ("two", 1000)):
        case = saved(tmp_path / name, rows)
        (case.path / "events").mkdir()
        events = _timed(*(n + more for n in range(1, 201)))
        target = case.path / "events" / "00001.parquet"
        pq.write_table(table(schema.EVENTS_RAW, events), target)
        parts.append(Part(case))
    slower = comparing.compare(parts[0], parts[1]).found
    assert [(c.measure, c.change, c.base, c.case) for c in slower] == [
        ("p50 ms", "rose", 100, 1100),
        ("p95 ms", "rose", 190, 1190),
    ]
    assert comparing.compare(parts[0], parts[0]).found == []


def test_windows_are_half_open(tmp_path: Path) -> None:
    """An attempt that ends where windows meet is in the later one."""
    case = saved(tmp_path / "one", attempts(*[(None, {})] * 10))
    edge = NOON + timedelta(seconds=5)
    found = comparing.compare(Part(case, None, edge), Part(case, edge, None))
    assert found.attempts == (4, 6)
