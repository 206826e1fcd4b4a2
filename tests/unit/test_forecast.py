"""What pools will be charged: tried on held-out hours, and worked out by hand."""

import math
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

from faultlayer import assets, database, investigations, queries

BEGIN = datetime(2026, 11, 2)  # noqa: DTZ001 - cases hold UTC without a zone; a Monday
HOUR = timedelta(hours=1)
(FORECAST,) = (
    query
    for query in queries.load(assets.builtin("queries"), "tables")
    if query.name == "forecast"
)

Row = dict[str, Any]


def steady(chance: random.Random, hour: int) -> float:
    """Give charges of an hour that vary by a fifth, whatever the hour."""
    del hour
    return max(0.0, chance.gauss(100, 20))


def weekly(chance: random.Random, hour: int) -> float:
    """Give charges of an hour of a day with an empty night, and of quiet weekends."""
    day, of_day = hour // 24 % 7, hour % 24
    high = math.sin((of_day - 6) / 16 * math.pi) if 6 <= of_day <= 22 else 0
    return (
        200 * (0.15 + high) * (0.3 if day > 4 else 1) * chance.lognormvariate(0, 0.25)
    )


def bursty(chance: random.Random, hour: int) -> float:
    """Give charges of an hour that is mostly idle, else one of a heavy tail."""
    del hour
    return 0.0 if chance.random() < 0.6 else chance.lognormvariate(3, 1.4)


def ask(
    amounts: Sequence[float | None],
    *,
    used: float | None = None,
    limit: float = 0.8,
) -> tuple[list[Row], Row]:
    """Forecast a user whose hours were charged so; None is an hour that is not there.

    Gives the hours to come, and what the investigation says. The pool holds 10,000,
    and its snapshot, where `used` is given, is of the end of the ledger.
    """
    hours = [(number, one) for number, one in enumerate(amounts) if one is not None]
    # Half an hour in which the ledger ends, and which is left out.
    hours.append((len(amounts), 1.0))
    ledger = pl.DataFrame(
        {
            "ts": [BEGIN + HOUR * number + HOUR / 2 for number, _ in hours],
            "amount": [float(one) for _, one in hours],
        }
    ).with_columns(
        entry=pl.lit("charge"),
        user_id=pl.lit("u-1"),
        project_id=pl.lit(None, pl.String),
        tenant_id=pl.lit(None, pl.String),
    )
    con = database.connect()
    con.register("ledger", ledger.to_arrow())
    con.execute(
        "CREATE TABLE balances (level TEXT, level_id TEXT, ts TIMESTAMP,"
        " event_id BIGINT, pool_used DOUBLE, pool_limit DOUBLE)"
    )
    if used is not None:
        con.execute(
            "INSERT INTO balances VALUES ('user', 'u-1', $ts, 1, $used, 10000)",
            {"ts": BEGIN + HOUR * (len(amounts) + 0.9), "used": used},
        )
    con.execute(f"CREATE VIEW forecast AS {FORECAST.statement}")
    ahead = database.rows(con, "FROM forecast WHERE ts IS NOT NULL ORDER BY ts")
    one = investigations.pick(investigations.load(), "quota_forecast")
    (told,) = database.rows(con, one.query.statement, {"limit": limit})
    con.close()
    return ahead, told


@pytest.mark.parametrize("days", [14, 28])
@pytest.mark.parametrize("kind", [steady, weekly, bursty])
def test_the_band_covers_held_out_hours(
    kind: Callable[[random.Random, int], float], days: int
) -> None:
    """Of the week that follows, 90 to 99 % of the hours lie in the band of 95 %."""
    inside = 0
    for seed in (1, 2):
        chance = random.Random(seed)
        amounts = [kind(chance, hour) for hour in range((days + 7) * 24)]
        ahead, _ = ask(amounts[: days * 24])
        for row, amount in zip(ahead[:168], amounts[days * 24 :], strict=True):
            inside += row["low"] <= amount <= row["high"]
    assert 0.9 <= inside / 336 <= 0.99


def test_a_steady_ledger_is_a_straight_line() -> None:
    """At 10 an hour, 7,000 of 10,000 used are 8,000 at the end of the hundredth hour."""
    ahead, told = ask([10.0] * 28 * 24, used=7000)
    assert len(ahead) == 28 * 24
    assert {(row["low"], row["expected"], row["high"]) for row in ahead} == {
        (10, 10, 10)
    }
    end = BEGIN + HOUR * 28 * 24
    assert ahead[0]["ts"] == end
    assert told["crossing_ts"] == told["crossing_earliest_ts"] == end + HOUR * 99
    assert told["per_day"] == 240
    assert told["hours"] == 28 * 24
    assert told["refused"] is None


def test_the_upper_end_of_the_band_crosses_first() -> None:
    """What varies may reach a share earlier than expected, and what is reached is."""
    amounts = [5.0, 15.0, 5.0, 20.0, 5.0] * 135
    _, told = ask(amounts, used=7000)
    assert told["crossing_earliest_ts"] < told["crossing_ts"]
    _, told = ask(amounts, used=7000, limit=0.7)
    assert told["crossing_earliest_ts"] == told["crossing_ts"] == BEGIN + HOUR * 675
    _, told = ask(amounts)
    assert told["crossing_ts"] is told["used_ratio"] is None


def test_a_missing_day_was_not_idle() -> None:
    """A day without a single entry is one that the logs lack; it counts for nothing."""
    amounts: list[float | None] = [10.0 for _ in range(20 * 24)]
    amounts[240:264] = [None] * 24
    ahead, told = ask(amounts)
    assert told["hours"] == 19 * 24
    assert {row["expected"] for row in ahead} == {10}
    assert len(ahead) == 7 * 24  # without the shape of a week, a week is all


def test_too_little_history_is_refused() -> None:
    """Under two weeks there is no forecast, and it is said."""
    ahead, told = ask([10.0] * (14 * 24 - 1), used=100)
    assert ahead == []
    assert told["refused"] == (
        "too little history: 13 whole days in the ledger, 14 are needed"
    )
    assert told["used_ratio"] == 0.01
    assert len(ask([10.0] * 14 * 24)[0]) == 168
