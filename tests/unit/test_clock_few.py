"""Clocks that few requests tie: what a band has to allow that no bound contradicts."""

import numpy as np
import pytest

from faultlayer.clocks.agreement import Bounds
from faultlayer.clocks.clock import Segment
from faultlayer.clocks.estimate import segments

START = 1.79e15  # some day of 2026, us since 1970
HOUR = 3_600e6
DRIFT = 15e-6


def held(found: list[Segment], hour: float, truth: float) -> bool:
    """Tell whether the band holds this offset, us, so many hours after the start."""
    at = START + hour * HOUR
    one = next(part for part in found if part.end is None or at < part.end)
    moved = one.slope * (at - (one.anchor or 0.0))
    return bool(one.low + moved <= truth <= one.high + moved)


def test_a_late_record_turns_no_band_away() -> None:
    """A first record late by 3.6 ms tilts all lines, and the band goes on before it.

    From 2 to 22 h a bound an hour on either side, 4 ms off, none from 10 to 14 h: two
    hours before and after the band holds still. The clock drifts by 15 ppm. At 2 h a
    line is at 3.6 ms or above, at 4 h at 2.9 or below, at 22 h at -3.5 or above: it
    falls by 0.35 ms an hour, from 4.3 ms at 0 h on.
    """
    hours = np.array([2.0, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 18, 19, 20, 21, 22])
    at, ahead = START + hours * HOUR, DRIFT * hours * HOUR
    lower = ahead - 4e3
    lower[[0, -1]] = ahead[[0, -1]] + [3.6e3, -3.5e3]
    upper = ahead + 4e3
    upper[2] = ahead[2] + 2.9e3
    (one,) = segments(Bounds(at, upper), Bounds(at, lower))
    for hour in (0.1, 2, 12, 22, 23.9):
        assert held([one], hour, DRIFT * hour * HOUR)
    assert one.high - one.low < 26e3


@pytest.mark.parametrize("swing_us", [15e3, 40e3])
def test_a_clock_that_keeps_to_no_line_is_held(swing_us: float) -> None:
    """The rate goes up and down with the warmth of a day: all requests are in the band."""
    hours = np.linspace(0, 24, 61)
    ahead = swing_us * np.sin(hours * np.pi / 12)
    at = START + hours * HOUR
    found = segments(Bounds(at, ahead + 4e3), Bounds(at, ahead - 4e3))
    assert all(held(found, *pair) for pair in zip(hours, ahead, strict=True))
    between = (hours[1:] + hours[:-1]) / 2
    truth = swing_us * np.sin(between * np.pi / 12)
    assert all(held(found, *pair) for pair in zip(between, truth, strict=True))
    assert max(one.high - one.low for one in found) < 5 * swing_us


def test_late_records_are_no_wander() -> None:
    """What the same request's other bound contradicts widens nothing."""
    hours = np.linspace(0, 24, 25)
    at = START + hours * HOUR
    lower = np.full(25, -4e3)
    lower[[3, 9]] = 30e3
    (one,) = segments(Bounds(at, np.full(25, 4e3)), Bounds(at, lower))
    assert held([one], 9, 0.0)
    assert one.high - one.low < 26e3


def test_a_steep_end_or_one_without_agreement_is_of_its_neighbour() -> None:
    """The rate wanders, and the last requests of the day say nothing: the clock goes on.

    Whatever the last segment is, it holds to the end.
    """
    random = np.random.default_rng(4)
    since = np.sort(random.random(3_000)) * 24 * HOUR
    ahead = 60e3 * np.sin(since / HOUR * np.pi / 8)
    upper = ahead + 3e3 + random.exponential(1e3, 3_000)
    lower = ahead - 3e3 - random.exponential(1e3, 3_000)
    upper[-40:] -= 5e6
    lower[-40:] += 5e6
    found = segments(Bounds(START + since, upper), Bounds(START + since, lower))
    assert found[-1].end is None
    assert all(abs(one.slope) <= 600e-6 for one in found)
    edge = since[-41] / HOUR
    inside = [
        held(found, at / HOUR, off)
        for at, off in zip(since[:-40], ahead[:-40], strict=True)
    ]
    assert np.mean(inside) > 0.99
    assert held(found, edge, ahead[-41])


@pytest.mark.parametrize("requests", [60, 400, 3_000])
def test_stamps_of_a_flush_tie_no_clock(requests: int) -> None:
    """All that is written every five seconds is late by any part of them."""
    random = np.random.default_rng(5)
    since = np.sort(random.random(requests)) * 24 * HOUR
    late = random.uniform(0, 5e6, (2, requests))
    upper = late[0] + 3e3 + random.exponential(1e3, requests)
    lower = late[1] - 3e3 - random.exponential(4e6, requests)
    at = START + since
    assert segments(Bounds(at, upper), Bounds(at, lower)) == []
