"""Constraints that a clock violates are counted, as logged and corrected."""

import numpy as np

from faultlayer.clocks.agreement import Bounds
from faultlayer.clocks.checks import Check, count
from faultlayer.clocks.clock import Clock, Segment


def bounds(*pairs: tuple[float, float]) -> Bounds:
    """Give bounds from (time, value)."""
    return Bounds(np.array([at for at, _ in pairs]), np.array([v for _, v in pairs]))


def test_violated_constraints_are_counted() -> None:
    """A clock 5 ahead until 10, then 5 behind and drifting by 0.1, by hand."""
    upper = bounds((0, 6.0), (5, 4.0), (12, -1.0), (30, -4.0))
    lower = bounds((1, 4.0), (11, -7.0), (30, -2.0))
    segments = (
        Segment(None, 10, 0, 5, 0.0, 4, 6, 2, 1.0),
        Segment(10, None, 10, -5, 0.1, -6, -4, 3, 1.0),
    )
    tied = Clock("c", "tied", "shared request ids", segments)
    # Zero breaks the upper bounds -1 and -4, and the lower 4. The line breaks the upper
    # bounds 4 at 5 and -4 at 30, where it is -3, and the lower -2 there.
    assert count(upper, lower, tied) == Check("c", 7, 3, 3)
    assert count(upper, lower, Clock("c", "untied", "")) == Check("c", 7, 3, 3)
    better = Clock(
        "c", "tied", "", (segments[0], Segment(10, None, 10, -5, 0.05, -6, -4, 3, 1.0))
    )
    assert count(upper, lower, better) == Check("c", 7, 3, 2)
