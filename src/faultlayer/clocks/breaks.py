"""The moment at which a clock went from one line to the next."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faultlayer.clocks.agreement import Bounds, Line


@dataclass(frozen=True, slots=True)
class Break:
    """A moment of the reference, us, and how many of the bounds about it it fails."""

    at: float
    failed: int


def place(
    upper: Bounds, lower: Bounds, last: float, first: float, left: Line, right: Line
) -> Break:
    """Give the break that lies about between two reference times, in us.

    It contradicts the fewest bounds: those before it are held against the line on the
    left, those after it against the one on the right. Of several such moments the
    middle.
    """
    low, high = min(last, first), max(last, first)
    room = max(high - low, 1.0)
    sides = [
        (side.between(low - room, high + room), sign)
        for side, sign in ((upper, 1.0), (lower, -1.0))
    ]
    at = np.concatenate([side.at for side, _ in sides])
    if not len(at):
        return Break((low + high) / 2, 0)
    order = np.argsort(at, kind="stable")
    before = np.concatenate([_failed(side, sign, left) for side, sign in sides])
    after = np.concatenate([_failed(side, sign, right) for side, sign in sides])
    at = at[order]
    start, end, failed = cheapest(before[order], after[order])
    starts = np.concatenate([[at[0]], at])
    ends = np.concatenate([at, [at[-1]]])
    return Break(float(starts[start] + ends[end]) / 2, failed)


def cheapest(
    before: NDArray[np.int64], after: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Give the first and last place of the best break, and how many bounds it fails.

    `before` and `after` tell for each bound, by time, whether it fails where the break
    comes after it, and before it. Place n has n bounds before it.
    """
    cost = np.concatenate([[0], np.cumsum(before)]) + np.concatenate(
        [np.cumsum(after[::-1])[::-1], [0]]
    )
    least = int(cost.min())
    start = end = int(np.argmin(cost))
    # The first stretch of equals: a second one would lie beyond a contradiction.
    while end + 1 < len(cost) and cost[end + 1] == least:
        end += 1
    return start, end, least


def _failed(side: Bounds, sign: float, line: Line) -> NDArray[np.int64]:
    return (sign * (line.of(side.at) - side.value) > 0).astype(np.int64)
