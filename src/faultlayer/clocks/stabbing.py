"""The fewest straight lines that pass through all intervals of an offset."""

from dataclasses import dataclass

import numpy as np

from faultlayer.clocks.agreement import Floats, Line
from faultlayer.clocks.buckets import Buckets

#: Slopes that a clock can have: quartz is within 100 ppm, a slewing one within 600.
STEEPEST = 600e-6

#: A bad bucket is passed over when so many after it fit the line.
NEXT = 4

_SLOPES = 17
_ZOOMS = 12


@dataclass(frozen=True, slots=True)
class Run:
    """Buckets `first` up to, not with, `end`, that one line passes through."""

    first: int
    end: int
    line: Line


def stab(found: Buckets, steepest: float = STEEPEST) -> list[Run]:
    """Give runs of buckets from the left, each as long as a line can make it.

    A bucket that no line takes but that the ones after it pass over is left out: its
    number lies within a run all the same.
    """
    runs: list[Run] = []
    first = 0
    while first < len(found):
        taken, end = _longest(found, first, steepest)
        runs.append(Run(first, end, through(found, taken, steepest)[0]))
        first = end
    return runs


def _longest(found: Buckets, first: int, steepest: float) -> tuple[list[int], int]:
    """Give the buckets that a line from `first` on takes, and where the next begins."""
    taken = [first]
    at = first + 1
    while at < len(found):
        size = _gallop(found, taken, at, steepest)
        taken += range(at, at + size)
        at += size
        if at >= len(found):
            break
        after = list(range(at + 1, min(at + 1 + NEXT, len(found))))
        if len(after) < NEXT or not _fits(found, [*taken, *after], steepest):
            break
        at += 1
    return taken, at


def _gallop(found: Buckets, taken: list[int], at: int, steepest: float) -> int:
    """Count the buckets from `at` on that join those taken without a contradiction."""
    left = len(found) - at
    if _fits(found, [*taken, *range(at, at + left)], steepest):
        return left
    good, step = 0, 1
    while good + step <= left and _fits(
        found, [*taken, *range(at, at + good + step)], steepest
    ):
        good += step
        step *= 2
    bad = min(good + step, left)
    while bad - good > 1:
        middle = (good + bad) // 2
        if _fits(found, [*taken, *range(at, at + middle)], steepest):
            good = middle
        else:
            bad = middle
    return good


def _fits(found: Buckets, chosen: list[int], steepest: float) -> bool:
    return through(found, chosen, steepest)[1] >= 0


def through(
    found: Buckets, chosen: list[int] | slice, steepest: float = STEEPEST
) -> tuple[Line, float]:
    """Give the line with the widest margin to all intervals, and that margin in us.

    The margin is negative where no line passes through all of them.
    """
    at = found.centre[chosen]
    anchor = (at[0] + at[-1]) / 2
    since = at - anchor
    return widest(since, found.high[chosen], since, found.low[chosen], anchor, steepest)


def widest(
    up_at: Floats,
    up: Floats,
    down_at: Floats,
    down: Floats,
    anchor: float,
    steepest: float = STEEPEST,
) -> tuple[Line, float]:
    """Give the line that keeps furthest below `up` and above `down`, and its margin.

    Times are relative to the anchor. The gap between both is concave in the slope: a
    grid that zooms in finds its top.
    """
    low, high = -steepest, steepest
    best, gap, middle = 0.0, -np.inf, 0.0
    for _ in range(_ZOOMS):
        slopes = np.linspace(low, high, _SLOPES)
        ceiling = (up[None, :] - slopes[:, None] * up_at[None, :]).min(axis=1)
        floor = (down[None, :] - slopes[:, None] * down_at[None, :]).max(axis=1)
        gaps = ceiling - floor
        top = int(np.argmax(gaps))
        if gaps[top] > gap:
            best, gap = float(slopes[top]), float(gaps[top])
            middle = float(ceiling[top] + floor[top]) / 2
        step = (high - low) / (_SLOPES - 1)
        low, high = slopes[top] - step, slopes[top] + step
        low, high = max(low, -steepest), min(high, steepest)
    return Line(anchor, middle, best), gap / 2
