"""Clocks of gateways that name requests anew: tied by the exchanges alone, or not at all."""

import random

import duckdb
import pytest

from faultlayer.clocks import exchanges
from faultlayer.clocks.clock import Clock, constant

EDGE = {"edge": Clock("edge", "reference", "most requests", (constant(0, 0, 0),))}
START_US = 1_795_000_000_000_000


def seen(
    edge: list[tuple[float, float, int]], gateway: list[tuple[float, float, int]]
) -> duckdb.DuckDBPyConnection:
    """Give a case of two logs of exchanges: second of the end, ms that it took, status."""
    con = duckdb.connect()
    con.execute("CREATE TABLE sources (source_id BIGINT, clock_id VARCHAR)")
    con.execute("INSERT INTO sources VALUES (1, 'edge'), (2, 'gateway')")
    con.execute(
        "CREATE TABLE events_raw (event_id BIGINT, source_id BIGINT, kind VARCHAR,"
        " ts_raw TIMESTAMP, ts_precision_us BIGINT, duration_ms DOUBLE, status INTEGER,"
        " message VARCHAR)"
    )
    for source, log, end in ((1, edge, " HTTP/1.1"), (2, gateway, "")):
        for number, (at, took, status) in enumerate(log):
            con.execute(
                "INSERT INTO events_raw VALUES (?, ?, 'access', make_timestamp(?),"
                " 1000000, ?, ?, ?)",
                [
                    source * 1000 + number,
                    source,
                    START_US + int(at) * 1_000_000,
                    took,
                    status,
                    f"POST /v1/chat/completions{end}",
                ],
            )
    return con


def traffic(count: int) -> list[tuple[float, float, int]]:
    """Give exchanges at irregular times, a few of them refused."""
    dice = random.Random(count)
    at = 0.0
    made = []
    for _ in range(count):
        at += dice.uniform(0.5, 9.0)
        status = dice.choice([200, 200, 200, 403, 429])
        took = dice.uniform(300, 2500) if status == 200 else dice.uniform(2, 9)
        made.append((at, round(took, 3), status))
    return made


@pytest.mark.parametrize("ahead", [0.0, 2.0, -3.0, 8 * 3600 + 2.0])
def test_the_offset_at_which_the_exchanges_meet(ahead: float) -> None:
    """Also where the gateway's stamps are of another zone and its clock is off."""
    edge = traffic(40)
    gateway = [(at + ahead, took - 1.5, status) for at, took, status in edge]
    (clock,) = exchanges.match(seen(edge, gateway), EDGE, ["gateway"])
    assert clock.status == "tied"
    assert clock.whole.low <= ahead * 1e6 <= clock.whole.high
    assert clock.whole.pairs == len(edge)


def test_another_server_is_not_tied() -> None:
    """Its exchanges meet those of the edge only by chance."""
    assert exchanges.match(seen(traffic(40), traffic(41)), EDGE, ["gateway"]) == []


def test_regular_traffic_is_not_tied() -> None:
    """Like exchanges at like distances meet at one offset as well as at the next."""
    edge = [(5.0 * n, 30.0, 200) for n in range(40)]
    gateway = [(at, took - 1, status) for at, took, status in edge]
    assert exchanges.match(seen(edge, gateway), EDGE, ["gateway"]) == []


def test_a_longer_exchange_is_not_one_behind_the_edge() -> None:
    """What lies behind cannot take longer."""
    edge = traffic(40)
    gateway = [(at, took + 500, status) for at, took, status in edge]
    assert exchanges.match(seen(edge, gateway), EDGE, ["gateway"]) == []
