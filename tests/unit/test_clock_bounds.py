"""What the records of a gateway say of its clock, by an edge with and without durations."""

import duckdb

from faultlayer.clocks.bounds import Bounds

_TABLES = """
CREATE TABLE timing (kind VARCHAR, timing VARCHAR);
INSERT INTO timing VALUES
('request_accepted', 'before_end'), ('request_completed', 'before_end');
CREATE TABLE parsed (
    clock_id VARCHAR, source_id BIGINT, request_id VARCHAR, kind VARCHAR,
    ts_raw TIMESTAMP, ts_precision_us BIGINT, duration_ms DOUBLE, status INTEGER,
    borrowed BOOLEAN
);
"""
_SECOND = 1_000_000


def exchange(
    con: duckdb.DuckDBPyConnection, name: str, status: int, took: float | None
) -> None:
    """Add one that ends at 10 s by the edge; by the gateway it lasts from 12.5 to 14.2 s."""
    for clock, kind, ts, precision, duration in (
        ("edge", "access", 10.0, _SECOND, took and took * 1000),
        ("gateway", "request_accepted", 12.5, 1000, None),
        ("gateway", "request_completed", 14.2, 1000, None),
    ):
        con.execute(
            "INSERT INTO parsed VALUES (?, 1, ?, ?, make_timestamp(?), ?, ?, ?, FALSE)",
            [clock, name, kind, int(ts * _SECOND), precision, duration, status],
        )


def bounds(*exchanges: tuple[int, float | None]) -> tuple[list[float], list[float]]:
    """Give upper and lower bounds of the gateway's offset, in seconds."""
    with duckdb.connect() as con:
        con.execute(_TABLES)
        for number, (status, took) in enumerate(exchanges):
            exchange(con, f"r-{number}", status, took)
        asked = Bounds(con)
        asked.start("edge", "access", len(exchanges), 2)
        upper, lower = asked.of("gateway", "inner")
        return sorted(upper.value / _SECOND), sorted(lower.value / _SECOND)


def test_an_edge_with_durations_bounds_by_start_and_end() -> None:
    """Begun at 8 s, ended before 11 s: 12.5 s is at most 4.5 s ahead, 14.2 s at least 3.2 s."""
    assert bounds((200, 2.0)) == ([4.503, 6.203], [1.498, 3.198])


def test_an_edge_without_durations_has_the_answer_when_the_gateway_gave_it() -> None:
    """The end alone: 14.2 s is at least 3.2 s ahead, and at most 5.2 s."""
    assert bounds((200, None)) == ([5.201], [1.498, 3.198])


def test_a_failure_without_a_duration_says_nothing_of_the_answer() -> None:
    """The edge may have given up long before; one with a duration says no starts of others."""
    assert bounds((502, None)) == ([], [1.498, 3.198])
    assert bounds((200, None), (200, 2.0)) == ([4.503, 6.203], [1.498, 3.198])


def test_an_exchange_that_was_shipped_twice_bounds_as_once() -> None:
    """Equal records of one id are one; with another duration they are two attempts."""
    with duckdb.connect() as con:
        con.execute(_TABLES)
        for name, tries in (("r-0", (2.0, 2.0)), ("r-1", (2.0, 1.5))):
            for took in tries:
                exchange(con, name, 200, took)
        asked = Bounds(con)
        asked.start("edge", "access", 4, 2)
        upper, _ = asked.of("gateway", "inner")
        assert set(upper.value / _SECOND) == {4.503, 6.203}
        assert con.execute("SELECT count(*) FROM spans").fetchone() == (1,)
