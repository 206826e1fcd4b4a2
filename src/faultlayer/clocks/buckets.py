"""Time cut into buckets, each with the interval that its bounds agree on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faultlayer.clocks.agreement import Bounds, Floats, agreed

#: Share of a bucket's bounds that may contradict its interval.
BAD = 0.2


@dataclass(frozen=True, slots=True)
class Buckets:
    """Intervals of an offset by time, all in us; `good` ones have few contradictions."""

    start: Floats
    end: Floats
    centre: Floats
    low: Floats
    high: Floats
    point: Floats
    violated: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the buckets."""
        return len(self.centre)

    @property
    def good(self) -> NDArray[np.bool_]:
        """Whether a bucket agrees with itself."""
        return self.violated <= BAD * self.size

    def where(self, kept: NDArray[np.bool_]) -> "Buckets":
        """Give some of the buckets."""
        names = self.__slots__
        return Buckets(*(getattr(self, name)[kept] for name in names))


def cut(upper: Bounds, lower: Bounds, count: int, most: int, rate: float) -> Buckets:
    """Cut time into at most `most` buckets that have `count` bounds on either side.

    A bound holds at its own time: at the centre of its bucket it is wider by `rate`
    (us per us) times the distance.
    """
    fewer = min(upper, lower, key=len)
    count = max(count, -(-len(fewer) // most))
    edges = np.array([-np.inf, *_edges(fewer.at, count), np.inf])
    parts = upper.at.searchsorted(edges), lower.at.searchsorted(edges)
    rows = []
    for up, up_end, down, down_end in zip(
        parts[0][:-1], parts[0][1:], parts[1][:-1], parts[1][1:], strict=True
    ):
        if up == up_end or down == down_end:
            continue
        ups_at, downs_at = upper.at[up:up_end], lower.at[down:down_end]
        first = min(ups_at[0], downs_at[0])
        last = max(ups_at[-1], downs_at[-1])
        centre = (first + last) / 2
        found = agreed(
            upper.value[up:up_end] + rate * np.abs(ups_at - centre),
            lower.value[down:down_end] - rate * np.abs(downs_at - centre),
            (upper.grid, lower.grid),
        )
        if found is not None:
            rows.append(
                (
                    first,
                    last,
                    centre,
                    found.low,
                    found.high,
                    found.point,
                    found.violated,
                    found.size,
                )
            )
    table = np.array(rows, dtype=np.float64).reshape(-1, 8).T
    counts = table[6:].astype(np.int64)
    return Buckets(*table[:6], *counts)


def _edges(at: Floats, count: int) -> Floats:
    """Give times between every `count` bounds and the next; a short rest joins the last."""
    ends = np.arange(count, len(at) - count // 2, count)
    return (at[ends - 1] + at[ends]) / 2
