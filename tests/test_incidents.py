"""Incidents: when they began and ended, what belongs to them, and what they follow from."""

from collections.abc import Iterable, Mapping
from typing import Any

from faultlayer import assets, queries, rule_bench
from faultlayer.rule_records import START, RuleCase

Record = Mapping[str, Any]
LIBRARY = queries.library(assets.builtin("queries"))


def exchange(number: int, at: float, status: int = 200, **more: Any) -> Record:
    """Write an access record of half a second that ends at `at`."""
    return {
        "log": "access",
        "kind": "access",
        "id": f"r-{number}",
        "at": at,
        "took": 0.5,
        "status": status,
        "forwarded": True,
        "upstream_hops": 1,
        **more,
    }


def sent(number: int, at: float, engine: str) -> Record:
    """Write where the harness sent a request."""
    return {
        "log": "app",
        "kind": "request_forwarded",
        "id": f"r-{number}",
        "at": at,
        "engine": engine,
    }


def incidents(records: Iterable[Record], columns: str) -> list[tuple[Any, ...]]:
    """Judge the records and give columns of the incidents, times in seconds."""
    return told(records, f"SELECT {columns} FROM incidents ORDER BY incident_id")


def told(records: Iterable[Record], statement: str) -> list[tuple[Any, ...]]:
    """Judge the records and give the rows of a statement, times in seconds."""
    case = RuleCase("", "", 1, "incidents", tuple(records))
    prepared = rule_bench.prepared(case, LIBRARY, seed=3)
    prepared.verdicts()
    rows = prepared.con.execute(statement).fetchall()
    return [tuple(_seconds(value) for value in row) for row in rows]


def _seconds(value: Any) -> Any:
    return (value - START).total_seconds() if hasattr(value, "year") else value


#: A stray bad request, three minutes of good ones, a minute in which each second one is
#: bad, good ones again.
STRETCH = [
    exchange(0, 10.0, 400),
    *(exchange(n, 20.0 + n) for n in range(1, 181)),
    *(exchange(n, 20.0 + n, 400 if n % 2 else 200) for n in range(181, 241)),
    *(exchange(n, 20.0 + n) for n in range(241, 301)),
]


def test_onset_is_where_the_share_of_failures_changes() -> None:
    """The stray failure belongs to the incident, and does not tell when it began.

    Of request 181, which ends at 201 s, to request 239: 59 attempts, 30 bad.
    """
    found = incidents(
        STRETCH, "attempts, ts_start, ts_onset, ts_over, traffic, share, ts_recovered"
    )
    assert found == [(31, 9.5, 200.5, 259.0, 60, 0.5, 259.0)]


def test_failures_up_to_the_last_record_have_no_end() -> None:
    """Nobody who is served afterwards shows that it is over."""
    [row] = incidents(STRETCH[:240], "ts_over, ts_recovered, recover_s, target_met")
    assert row == (259.0, None, None, None)


def death(log: str, at: float) -> Record:
    """Write an engine's word that it is dead."""
    return {"log": log, "kind": "engine_dead", "at": at, "severity": "error"}


def ready(log: str, at: float) -> Record:
    """Write an engine's word that it is up."""
    return {"log": log, "kind": "engine_ready", "at": at}


def served(number: int, at: float, engine: str, status: int = 502) -> list[Record]:
    """Write an exchange with an engine, in both logs."""
    return [sent(number, at - 0.4, engine), exchange(number, at, status)]


def test_two_engines_that_die_at_once_are_two_incidents() -> None:
    """Each has its victims, its end and its target."""
    records = [
        death("engine", 100.0),
        death("engine-1", 101.0),
        *served(1, 105.0, "engine-0"),
        *served(2, 106.0, "engine-0"),
        *served(3, 107.0, "engine-1"),
        ready("engine", 150.0),
        ready("engine-1", 450.0),
    ]
    found = incidents(
        records, "scope, attempts, ts_trouble, ts_recovered, target_s, target_met"
    )
    assert found == [
        ("engine-0", 2, 100.0, 150.0, 300.0, True),
        ("engine-1", 1, 101.0, 450.0, 300.0, False),
    ]


def test_a_restart_loop_is_one_incident() -> None:
    """Deaths with service between, further apart than the pause that ends an incident."""
    records = [
        death("engine", 100.0),
        *served(1, 105.0, "engine-0"),
        ready("engine", 150.0),
        *served(2, 300.0, "engine-0", 200),
        death("engine", 500.0),
        *served(3, 505.0, "engine-0"),
        ready("engine", 550.0),
    ]
    found = incidents(records, "scope, attempts, ts_onset, ts_recovered")
    assert found == [("engine-0", 2, 104.5, 550.0)]


def test_a_long_pause_ends_an_incident() -> None:
    """Two deaths that are hours apart are no loop."""
    records = [
        death("engine", 100.0),
        *served(1, 105.0, "engine-0"),
        ready("engine", 150.0),
        death("engine", 7300.0),
        *served(3, 7305.0, "engine-0"),
        ready("engine", 7350.0),
    ]
    assert len(incidents(records, "incident_id")) == 2


def test_it_is_named_and_noticed() -> None:
    """Named by the engine's own word, noticed by the probe twelve seconds on."""
    records = [
        death("engine", 100.0),
        *served(1, 101.0, "engine-0"),
        {
            "log": "app",
            "kind": "health_check_failed",
            "at": 112.5,
            "engine": "engine-0",
        },
        ready("engine", 150.0),
    ]
    found = incidents(records, "ts_onset, ts_named, named_s, ts_noticed, detect_s")
    assert found == [(100.5, 100.0, 0.0, 112.5, 12.0)]


def test_what_was_done_before_did_not_notice_it() -> None:
    """Who stops an engine has not noticed its end; who starts it 30 s later has.

    A probe may fail before the first request does.
    """
    stop = {"log": "app", "kind": "operator_stop", "at": 99.0, "engine": "engine-0"}
    start = {"log": "app", "kind": "engine_start", "at": 130.5, "engine": "engine-0"}
    probe = {**stop, "kind": "health_check_failed", "at": 99.5}
    records = [
        death("engine", 100.0),
        *served(1, 101.0, "engine-0"),
        ready("engine", 150.0),
    ]
    columns = "ts_onset, ts_noticed, detect_s"
    assert incidents([*records, stop], columns) == [(100.5, None, None)]
    assert incidents([*records, stop, start], columns) == [(100.5, 130.5, 30.0)]
    assert incidents([*records, probe], columns) == [(100.5, 99.5, 0.0)]


#: The engine dies; the same requests come again and are refused by the edge.
RETRIED = [
    death("engine", 100.0),
    *served(1, 105.0, "engine-0"),
    *served(2, 106.0, "engine-0"),
    ready("engine", 120.0),
    *(
        exchange(number, 130.0 + number, 429, forwarded=False, upstream_hops=0)
        for number in (1, 2)
    ),
    *(
        {
            "log": "app",
            "kind": "burst_limit",
            "id": f"r-{number}",
            "at": 129.9 + number,
            "status": 429,
            "user_id": "u-1",
        }
        for number in (1, 2)
    ),
]


def test_retries_of_failed_requests_follow_from_what_failed_them() -> None:
    """The second incident names the first as its root, and the chain of the first ends in it.

    Whoever reads the chain sees the user whose limit it was, and no number.
    """
    found = incidents(RETRIED, "cause, retries, root_incident_id, follows")
    assert found == [
        ("model.engine_dead", 0, None, None),
        ("quota.burst_limit", 2, 1, "2 of its 2 had failed there before"),
    ]
    chain = told(
        RETRIED,
        "SELECT cause, attempts, because FROM cascades WHERE kind = 'follows'",
    )
    assert chain == [
        ("quota.burst_limit", 2, "u-1: 2 of its 2 had failed there before")
    ]


def test_a_few_failures_among_many_are_held_to_no_target() -> None:
    """One bad request of three hundred is nobody's outage."""
    [row] = incidents(
        [exchange(0, 10.0, 400), *(exchange(n, 20.0 + n) for n in range(1, 301))],
        "attempts, target_s, target_met",
    )
    assert row == (1, None, None)


def test_a_cascade_is_in_order_and_says_where_the_order_is_open() -> None:
    """What is nearer than the clocks are sure is not after for certain."""
    records = [
        death("engine", 100.0),
        *served(1, 100.0005, "engine-0"),
        {
            "log": "app",
            "kind": "health_check_failed",
            "at": 112.5,
            "engine": "engine-0",
        },
        ready("engine", 150.0),
    ]
    case = RuleCase("", "", 1, "cascade", tuple(records))
    prepared = rule_bench.prepared(case, LIBRARY, seed=3)
    prepared.verdicts()
    rows = prepared.con.execute(
        "SELECT step, kind, after_certainly FROM cascades ORDER BY step"
    ).fetchall()
    assert rows == [
        (1, "cause", None),
        (2, "failures", False),
        (3, "noticed", True),
        (4, "over", True),
    ]
