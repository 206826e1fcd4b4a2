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
