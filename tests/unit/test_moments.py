"""Outages that two logs saw tie a clock without ids, or nothing does."""

from collections.abc import Iterator, Sequence

import duckdb
import pytest

from faultlayer.clocks import moments

HOUR = 3600.0
NOON = 1_795_608_000.0  # 2026-11-25 12:00:00 UTC

_TABLES = """
CREATE TABLE parsed (
    event_id BIGINT, clock_id VARCHAR, ts_raw TIMESTAMP, ts_precision_us BIGINT,
    layer VARCHAR, kind VARCHAR, kinds VARCHAR[], severity VARCHAR, request_id VARCHAR,
    status INTEGER, duration_ms DOUBLE, message VARCHAR, engine VARCHAR
);
CREATE TABLE sources (clock_id VARCHAR, zoned BOOLEAN);
INSERT INTO sources VALUES ('edge', TRUE), ('engine', FALSE), ('zoned', TRUE);
"""


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection with empty `parsed` and the sources of three clocks."""
    with duckdb.connect() as connection:
        connection.execute(_TABLES)
        yield connection


def exchanges(con: duckdb.DuckDBPyConnection, *rows: tuple[float, float, int]) -> None:
    """Add exchanges of the edge: start in seconds after noon, seconds, status."""
    for start, took, status in rows:
        con.execute(
            """INSERT INTO parsed SELECT (SELECT count(*) FROM parsed), 'edge',
            make_timestamp(($1 * 1e6)::BIGINT), 1000000, 'harness', 'access', NULL, NULL,
            NULL, $2, $3, NULL, NULL""",
            [NOON + start + took, status, took * 1000],
        )


def words(
    con: duckdb.DuckDBPyConnection,
    *rows: tuple[float, str],
    clock: str = "engine",
    severity: str | None = "error",
    message: str | None = None,
) -> None:
    """Add records of an engine: seconds after noon by its clock, kind."""
    for ts, kind in rows:
        con.execute(
            """INSERT INTO parsed SELECT (SELECT count(*) FROM parsed), $1,
            make_timestamp(($2 * 1e6)::BIGINT), 1000000, 'model', $3, NULL, $4, NULL,
            NULL, NULL, $5, NULL""",
            [clock, NOON + ts, kind, severity, message],
        )


def tied(
    con: duckdb.DuckDBPyConnection, names: Sequence[str] = ("engine",)
) -> list[tuple[float, float, float]]:
    """Give offset, lower and upper bound in seconds of the clocks that were tied."""
    found = moments.match(con, ["edge"], list(names))
    assert {clock.status for clock in found} <= {"weak"}
    return [
        (one.whole.offset / 1e6, one.whole.low / 1e6, one.whole.high / 1e6)
        for one in found
    ]


def test_a_death_lies_between_the_last_success_and_the_first_failure(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Served until 10 s, failed at 22 s, dead at 20 s: the clock is -2..10 s ahead."""
    exchanges(con, (9, 1, 200), (20, 2, 502))
    words(con, (20, "engine_dead"))
    # Both stamps are of whole seconds: 2 s of room on either side.
    assert tied(con) == [(0.0, -4.0, 12.0)]


def test_of_two_stacks_that_counts_by_which_the_clock_is_right(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """By the first edge it would be in another zone, and 10 s off."""
    exchanges(con, (9, 1, 200), (20, 2, 502))
    con.execute(
        "UPDATE parsed SET clock_id = 'other', ts_raw = ts_raw + INTERVAL 2 HOUR"
    )
    exchanges(con, (29, 1, 200), (40, 2, 502))
    words(con, (20 + 2 * HOUR, "engine_dead"))
    (clock,) = moments.match(con, ["edge", "other"], ["engine"])
    assert clock.whole.offset == 0
    (alone,) = moments.match(con, ["edge"], ["engine"])
    assert alone.whole.offset / 1e6 == 2 * HOUR - 16


def test_an_outage_of_another_time_ties_nothing(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Seven minutes are neither a time zone nor a wrong clock."""
    exchanges(con, (9, 1, 200), (20, 2, 502))
    words(con, (20 + 420, "engine_dead"))
    assert tied(con) == []


def test_a_stamp_with_its_zone_has_no_other(con: duckdb.DuckDBPyConnection) -> None:
    """Eight hours are a zone of naive stamps, and an error of zoned ones."""
    exchanges(con, (9, 1, 200), (20, 2, 502))
    words(con, (20 + 8 * HOUR, "engine_dead"))
    words(con, (20 + 8 * HOUR, "engine_dead"), clock="zoned")
    assert tied(con, ("engine", "zoned")) == [(8 * HOUR, 8 * HOUR - 4, 8 * HOUR + 12)]


def test_several_deaths_are_paired_by_what_most_agree_on(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """A failure of another kind in between does not mislead."""
    exchanges(con, (9, 1, 200), (20, 2, 502), (40, 1, 200), (55, 1, 503))
    exchanges(con, (60, 1, 200), (90, 1, 502), (120, 1, 200))
    words(con, (20, "worker_died"), (30, "engine_ready"), (89, "cuda_oom"))
    # The first allows -4..12 (served again at 41: ready 30 s adds -13..12), the second
    # 89 - 91 - 2 = -4 to 89 - 61 + 2 = 30.
    assert tied(con) == [(0.0, -4.0, 12.0)]


def test_stamps_that_count_from_a_start_have_any_offset(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """What stands for 1970 is tied by its death alone."""
    exchanges(con, (9, 1, 200), (20, 2, 502))
    words(con, (300 - NOON, "engine_dead"))
    ((_, low, high),) = tied(con)
    assert (low, high) == (300 - NOON - 24, 300 - NOON - 8)


def test_a_hang_begins_with_the_last_work(con: duckdb.DuckDBPyConnection) -> None:
    """The watchdog speaks minutes later; batches came every 5 s, the last at 15 s."""
    exchanges(con, (9, 1, 200), (21, 60, 504), (30, 60, 504))
    words(con, *((at, "engine_progress") for at in (0, 5, 10, 15)), severity=None)
    words(con, (320, "watchdog_kill"), (322, "engine_dead"))
    # Work ceased at 15..20 s, after 10 s and before 81 s.
    assert tied(con) == [(0.0, 15.0 - 81 - 2, 20.0 - 10 + 2)]


def test_information_is_no_death(con: duckdb.DuckDBPyConnection) -> None:
    """A kind that an INFO record has says nothing of an end."""
    exchanges(con, (9, 1, 200), (20, 2, 502))
    words(con, (20, "worker_died"), severity="info")
    assert tied(con) == []


def test_ranks_that_waited_for_one_another_say_so_late(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Failures began at 91 s, the watchdog of NCCL spoke at 630 s, ready was at -100 s."""
    exchanges(con, (9, 1, 200), (30, 61, 504), (700, 1, 502))
    words(con, (-100, "engine_ready"), (630, "nccl_timeout"), (632, "worker_died"))
    # Trouble began between -100 and 630 s, after 10 s and before 91 s.
    assert tied(con) == [(0.0, -100.0 - 91 - 2, 630.0 - 10 + 2)]


def test_a_start_is_over_when_somebody_is_served(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Ready at 60 s; the last failure began at 50 s, the first success ended at 64 s."""
    exchanges(con, (10, 1, 503), (30, 1, 503), (50, 1, 503), (62, 2, 200))
    words(con, (2, "engine_loading"), (60, "engine_ready"), severity="info")
    assert tied(con) == [(0.0, -6.0, 12.0)]


def test_two_failures_are_no_outage_that_a_start_is_known_by(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """The same with one failure less ties nothing."""
    exchanges(con, (10, 1, 503), (50, 1, 503), (62, 2, 200))
    words(con, (2, "engine_loading"), (60, "engine_ready"), severity="info")
    assert tied(con) == []


def test_an_engine_that_never_came_up_while_nobody_was_served(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Its clock is believed within a minute; a start that failed after all is another."""
    exchanges(con, (30, 1, 502), (40, 1, 502), (50, 1, 502))
    words(con, (2, "engine_loading"), severity="info")
    words(con, (20, "weights_missing"))
    assert tied(con) == [(0.0, -32.0, 60.0)]
    words(con, (7, "weights_missing"), clock="zoned")
    assert tied(con, ("zoned",)) == [(0.0, -45.0, 60.0)]
    con.execute("DELETE FROM parsed WHERE clock_id <> 'edge'")
    words(con, (2, "engine_loading"), severity="info")
    words(con, (200, "weights_missing"))
    assert tied(con) == []


def test_one_failure_will_do_for_stamps_with_a_zone(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Of stamps without one it takes two, which they must agree with as they stand."""
    exchanges(con, (30, 1, 502))
    for clock in ("engine", "zoned"):
        words(con, (2, "engine_loading"), clock=clock, severity="info")
        words(con, (20, "weights_missing"), clock=clock)
    assert tied(con, ("engine", "zoned")) == [(0.0, -12.0, 60.0)]
    exchanges(con, (40, 1, 502))
    assert tied(con, ("engine", "zoned")) == [(0.0, -22.0, 60.0)] * 2


def test_an_engine_that_died_while_it_loaded_never_came_up(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """A log that begins with a death says nothing of a start."""
    exchanges(con, (30, 1, 502), (40, 1, 502), (50, 1, 502))
    words(con, (2, "engine_loading"), severity="info")
    words(con, (20, "cuda_oom"))
    words(con, (20, "cuda_oom"), clock="zoned")
    assert tied(con, ("engine", "zoned")) == [(0.0, -32.0, 60.0)]


def test_an_engine_that_was_at_work_did_not_start(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Neither did one that says nothing of a start."""
    exchanges(con, (30, 1, 502), (40, 1, 502), (50, 1, 502))
    words(con, (1, "engine_progress"), severity="info")
    words(con, (20, "weights_missing"))
    words(con, (20, "grammar_failure"), clock="zoned")
    assert tied(con, ("engine", "zoned")) == []


def test_the_kernel_kills_an_engine_or_another_program(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Only who is called like an engine dies of it."""
    exchanges(con, (9, 1, 200), (20, 2, 502))
    killed = "Memory cgroup out of memory: Killed process 7 (node_exporter)"
    words(con, (25, "host_oom_kill"), message=killed)
    assert tied(con) == []
    killed = "Memory cgroup out of memory: Killed process 8 (VLLM::EngineCor)"
    words(con, (20, "host_oom_kill"), message=killed)
    assert tied(con) == [(0.0, -4.0, 12.0)]


def test_an_engine_has_outages_of_its_own_among_those_of_others(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Engine b serves on while a is down; what went to both tells nothing."""
    exchanges(con, (9, 1, 200), (12, 1, 200), (20, 2, 502), (23, 1, 200), (25, 1, 200))
    con.execute(
        """UPDATE parsed SET request_id = 'r-' || event_id;
        INSERT INTO parsed SELECT 90 + number, 'gateway', NULL, 1000, 'harness',
        'request_forwarded', NULL, 'info', 'r-' || number, NULL, NULL, NULL, name
        FROM (VALUES (0, 'a'), (1, 'b'), (2, 'a'), (3, 'b'), (4, 'a'), (4, 'b'))
        AS sent (number, name)"""
    )
    words(con, (HOUR + 20, "engine_dead"))
    # The last that both served ended at 13 s, the last of a at 10 s.
    assert tied(con) == [(HOUR, HOUR - 4, HOUR + 9)]
    con.execute("UPDATE parsed SET engine = 'a' WHERE clock_id = 'engine'")
    assert tied(con) == [(HOUR, HOUR - 4, HOUR + 12)]


def test_a_probe_that_kills_ties_the_log_of_whoever_kills(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """What is killed for its probes has been in trouble before, for up to a minute."""
    exchanges(con, (0, 2, 200), (10, 2, 502), (40, 2, 502), (90, 2, 200))
    words(con, (45, "probe_kill"), clock="zoned", severity=None)
    con.execute("UPDATE parsed SET layer = 'host' WHERE kind = 'probe_kill'")
    # Killed at 45 s, the first failure ended at 12, the last served one at 2: in trouble
    # since 60 s before it was killed, or since then, with 2 s of room.
    assert tied(con, ("zoned",)) == [(0.0, -29.0, 45.0)]
