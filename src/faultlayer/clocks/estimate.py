"""From one-sided bounds of a clock's offset to segments with an interval each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Share of bounds that may be false by a little without contradicting anything:
#: application logs stamp a moment after the fact.
SOFT_SHARE = 0.01

#: Bounds from which on the soft share is worth something.
MANY = 100

#: Bounds at each edge that tell how sharp the edge is.
EDGE = 12

Microseconds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one clock; all in microseconds, offset = reading minus reference."""

    offset_us: int
    lo_us: int
    hi_us: int
    pairs: int
    support: float


def segments(upper: Microseconds, lower: Microseconds) -> list[Segment]:
    """Give the segments of a clock whose offset has these upper and lower bounds.

    One segment with a constant offset for now; none when a side has no bound, since
    then nothing holds the offset from that side.
    """
    if not len(upper) or not len(lower):
        return []
    ups = np.sort(upper)
    downs = np.sort(lower)
    # At each lower bound: how many lower bounds hold there, and how many upper ones.
    held = np.arange(1, len(downs) + 1) + (len(ups) - np.searchsorted(ups, downs))
    best = int(held.max())
    low = int(np.flatnonzero(held == best)[-1])
    high = int(np.searchsorted(ups, downs[low]))
    if high == len(ups):
        return []
    soft_low = max(0, low - _soft(len(downs)))
    soft_high = min(len(ups) - 1, high + _soft(len(ups)))
    lo, hi = int(downs[soft_low]), int(ups[soft_high])
    point = _point(downs[: low + 1], ups[high:])
    return [
        Segment(
            offset_us=min(max(point, lo), hi),
            lo_us=lo,
            hi_us=hi,
            pairs=max(len(ups), len(downs)),
            support=best / (len(ups) + len(downs)),
        )
    ]


def _soft(bounds: int) -> int:
    return int(np.ceil(SOFT_SHARE * bounds)) if bounds >= MANY else 0


def _point(downs: Microseconds, ups: Microseconds) -> int:
    """Choose within the interval: nearer to the edge whose bounds crowd closer."""
    low, high = int(downs[-1]), int(ups[0])
    gap_low = _gap(downs[::-1])
    gap_high = _gap(ups)
    if gap_low is None or gap_high is None or max(gap_low, gap_high) == 0:
        return (low + high) // 2
    if max(gap_low, gap_high) <= 2 * min(gap_low, gap_high):
        return (low + high) // 2
    share = gap_low / (gap_low + gap_high)
    return round(low + share * (high - low))


def _gap(edge: Microseconds) -> float | None:
    few = min(EDGE, len(edge))
    return abs(int(edge[few - 1]) - int(edge[0])) / (few - 1) if few > 1 else None
