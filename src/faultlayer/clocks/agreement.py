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

#: What bounds may be multiples of, but for a constant, us; without any sign of that ms.
GRIDS = (1e6, 1e5, 1e4)
FINEST = 1e3

#: Share of bounds that are on a grid, if they are; how many are looked at, and how many
#: it takes to see anything.
ON_GRID = 0.9
SOME = 1000
SEEN = 4

#: Bounds at each edge that tell how sharp the edge is: at most so many, of few a third,
#: but no fewer than these.
EDGE = 12
LEAST_EDGE = 3

#: So many times as many bounds at the first two values of a grid as at the third: there
#: are only two.
TWO = 8


@dataclass(frozen=True, slots=True)
class Bounds:
    """One-sided bounds of an offset: reference times and values in us, by time.

    The values were multiples of `grid`, but for a constant, before any line was taken
    from them.
    """

    at: Floats
    value: Floats
    grid: float = FINEST

    def __len__(self) -> int:
        """Count the bounds."""
        return len(self.at)

    def between(self, start: float, end: float) -> "Bounds":
        """Give those from `start` up to, not at, `end`."""
        first, last = self.at.searchsorted([start, end])
        return Bounds(self.at[first:last], self.value[first:last], self.grid)

    def minus(self, line: "Line") -> "Bounds":
        """Give what is left over a line."""
        return Bounds(self.at, self.value - line.of(self.at), self.grid)

    def negated(self) -> "Bounds":
        """Give the bounds of the negative offset, which are of the other side."""
        return Bounds(self.at, -self.value, self.grid)

    def gridded(self) -> "Bounds":
        """Find the grid that stamps of a coarse clock leave in the values."""
        some = self.value[:: max(1, len(self) // SOME)]
        for grid in GRIDS if len(some) >= SEEN else ():
            _, counts = np.unique(np.round(some) % grid, return_counts=True)
            if counts.max() >= ON_GRID * len(some):
                return Bounds(self.at, self.value, grid)
        return self


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


def agreed(
    upper: Floats, lower: Floats, grids: tuple[float, float] = (FINEST, FINEST)
) -> Interval | None:
    """Give the interval that contradicts the fewest bounds; None without both sides.

    Of many bounds a few at both edges are not trusted, though nothing contradicts them.
    `grids` are those of the upper and the lower bounds, in us.
    """
    if not len(upper) or not len(lower):
        return None
    ups, downs = np.sort(upper), np.sort(lower)
    low, high, violated = _fewest(ups, downs)
    if low < 0:
        return None
    left = -_trusted(-downs[low::-1], len(downs), SOFT_LOWER)
    right = _trusted(ups[high:], len(ups), SOFT_UPPER)
    return Interval(
        low=float(left[0]),
        high=float(right[0]),
        point=leaning(right, left, grids),
        violated=violated,
        size=len(ups) + len(downs),
    )


def level(upper: Floats, lower: Floats) -> float:
    """Give the middle of what contradicts the fewest bounds, all of them trusted."""
    ups, downs = np.sort(upper), np.sort(lower)
    low, high, _ = _fewest(ups, downs)
    return float(ups[high] + downs[low]) / 2 if low >= 0 else float(ups[0])


def _fewest(ups: Floats, downs: Floats) -> tuple[int, int, int]:
    """Give the places of the lower and the upper bound between which fewest fail.

    And how many those are. There may be no lower bound below (-1).
    """
    # At each upper bound: the upper ones below it and the lower ones above it fail.
    failed = np.arange(len(ups)) + len(downs) - downs.searchsorted(ups, "right")
    high = int(failed.argmin())
    low = int(downs.searchsorted(ups[high], "right")) - 1
    return low, high, int(failed[high])


def trusted(ups: Floats, downs: Floats) -> tuple[Floats, Floats]:
    """Leave out of bounds that agree, the sharpest first, those that are not trusted."""
    right = _trusted(ups, len(ups), SOFT_UPPER)
    return right, -_trusted(-downs, len(downs), SOFT_LOWER)


def _trusted(edge: Floats, count: int, share: float) -> Floats:
    """Give an edge, ascending from the sharpest bound, without those not trusted."""
    if count < MANY:
        return edge
    late = int(edge.searchsorted(edge[0] + LITTLE, "right")) - 1
    late = min(late, int(np.ceil(share * count)))
    return edge[min(max(FALSE, late), len(edge) - 1) :]


def leaning(ups: Floats, downs: Floats, grids: tuple[float, float]) -> float:
    """Choose within an interval: nearer to the edge whose bounds crowd closer.

    Both sides from the sharpest bound on. The truth lies about as far beyond an edge as
    its bounds are apart. On a grid they say nothing of where between two of its values,
    and a clock that shows whole seconds has an edge of half a second; but where all
    lie at two values, the truth is between them as the counts are.
    """
    low, high = float(downs[0]), float(ups[0])
    above, below = _edge(ups, grids[0]), _edge(downs, grids[1])
    told = [
        (edge.gap, sign * edge.within)
        for edge, sign in ((below, 1.0), (above, -1.0))
        if edge.within is not None
    ]
    if told:
        within = min(told)[1]
        return min(high, low + within) if within >= 0 else max(low, high + within)
    sharp, dull = min(above.gap, below.gap), max(above.gap, below.gap)
    if not np.isfinite(dull) or dull <= 2 * sharp:
        return (low + high) / 2
    return low + (high - low) * below.gap / (above.gap + below.gap)


@dataclass(frozen=True, slots=True)
class _Edge:
    """How far apart the bounds at an edge are; how far within the truth is, if they say."""

    gap: float
    within: float | None = None


def _edge(edge: Floats, grid: float) -> _Edge:
    few = min(EDGE, len(edge), max(LEAST_EDGE, len(edge) // 3))
    if few == 1:
        return _Edge(np.inf)
    gap = max(grid / 2, abs(float(edge[few - 1] - edge[0])) / (few - 1))
    if grid > FINEST:
        first, second, third = np.bincount(
            np.minimum(np.rint(np.abs(edge - edge[0]) / grid), 3).astype(np.int64),
            minlength=4,
        )[:3]
        both = int(first + second)
        if both >= SEEN and TWO * third <= both:
            return _Edge(grid / both, grid * float(first) / both)
    return _Edge(gap)
