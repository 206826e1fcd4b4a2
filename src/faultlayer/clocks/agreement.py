"""The interval in the most agreement of one-sided bounds (Marzullo 1984, as in NTP)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Shares of bounds that may be false by a little without contradicting anything:
#: applications stamp a moment after the fact, more so when they have finished.
SOFT_UPPER = 0.005
SOFT_LOWER = 0.02

#: What "a little" is: lateness beyond it contradicts enough to be seen, us.
LITTLE = 5_000.0

#: Bounds from which on some are expected to be false by anything, and how many.
MANY = 48
FALSE = 2

#: Spacings below it are those of the stamps, us.
SPACING = 500.0

#: Bounds at each edge that tell how sharp the edge is.
EDGE = 12


@dataclass(frozen=True, slots=True)
class Bounds:
    """One-sided bounds of an offset: reference times and values in us, by time."""

    at: Floats
    value: Floats

    def __len__(self) -> int:
        """Count the bounds."""
        return len(self.at)

    def between(self, start: float, end: float) -> "Bounds":
        """Give those from `start` up to, not at, `end`."""
        first, last = np.searchsorted(self.at, [start, end])
        return Bounds(self.at[first:last], self.value[first:last])

    def minus(self, line: "Line") -> "Bounds":
        """Give what is left over a line."""
        return Bounds(self.at, self.value - line.of(self.at))


@dataclass(frozen=True, slots=True)
class Line:
    """An offset that drifts: us at a reference time, and us per us."""

    anchor: float
    offset: float
    slope: float

    def of(self, at: Floats) -> Floats:
        """Give the offset at these times."""
        return self.offset + self.slope * (at - self.anchor)

    def at(self, time: float) -> float:
        """Give the offset at one time."""
        return self.offset + self.slope * (time - self.anchor)

    def plus(self, rest: "Line") -> "Line":
        """Give the line that `rest` is what is left over this one of."""
        offset = rest.offset + self.at(rest.anchor)
        return Line(rest.anchor, offset, rest.slope + self.slope)


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the offset lies: `low`, `high` beyond doubt, `point` the likeliest.

    `violated` counts the bounds that contradict it, `size` all.
    """

    low: float
    high: float
    point: float
    violated: int
    size: int


def agreed(upper: Floats, lower: Floats, *, lean: bool = True) -> Interval | None:
    """Give the interval that contradicts the fewest bounds; None without both sides.

    Of many bounds a few at both edges are not trusted, though nothing contradicts them.
    With `lean` the point is nearer to the edge whose bounds crowd closer.
    """
    if not len(upper) or not len(lower):
        return None
    ups, downs = np.sort(upper), np.sort(lower)
    # At each upper bound: the upper ones below it and the lower ones above it fail.
    failed = np.arange(len(ups)) + len(downs) - np.searchsorted(downs, ups, "right")
    high = int(np.argmin(failed))
    low = int(np.searchsorted(downs, ups[high], "right")) - 1
    if low < 0:
        return None
    left = _trusted(-downs[low::-1], len(downs), SOFT_LOWER)
    right = _trusted(ups[high:], len(ups), SOFT_UPPER)
    return Interval(
        low=-float(left[0]),
        high=float(right[0]),
        point=_point(-left, right) if lean else float(right[0] - left[0]) / 2,
        violated=int(failed[high]),
        size=len(ups) + len(downs),
    )


def _trusted(edge: Floats, count: int, share: float) -> Floats:
    """Give an edge, ascending from the sharpest bound, without those not trusted."""
    if count < MANY:
        return edge
    late = int(np.searchsorted(edge, edge[0] + LITTLE, "right")) - 1
    late = min(late, int(np.ceil(share * count)))
    return edge[min(max(FALSE, late), len(edge) - 1) :]


def _point(downs: Floats, ups: Floats) -> float:
    """Choose within the interval: nearer to the edge whose bounds crowd closer."""
    low, high = float(downs[0]), float(ups[0])
    gap_low, gap_high = _gap(downs), _gap(ups)
    sharp, dull = min(gap_low, gap_high), max(gap_low, gap_high)
    if not np.isfinite(dull) or dull <= 2 * sharp:
        return (low + high) / 2
    return low + (high - low) * gap_low / (gap_low + gap_high)


def _gap(edge: Floats) -> float:
    few = min(EDGE, len(edge))
    if few == 1:
        return np.inf
    return max(SPACING, abs(float(edge[few - 1] - edge[0])) / (few - 1))
