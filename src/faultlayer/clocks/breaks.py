"""The moment at which a clock went from one line to the next."""

import numpy as np

from faultlayer.clocks.agreement import Bounds, Floats, Line


def place(
    upper: Bounds, lower: Bounds, last: float, first: float, left: Line, right: Line
) -> float:
    """Give the reference time of a break that lies about between two times, in us.

    The break contradicts the fewest bounds: those before it are held against the line
    on the left, those after it against the one on the right. Of several such moments
    the middle.
    """
    low, high = min(last, first), max(last, first)
    room = max(high - low, 1.0)
    sides = [
        (side.between(low - room, high + room), sign)
        for side, sign in ((upper, 1.0), (lower, -1.0))
    ]
    at = np.concatenate([side.at for side, _ in sides])
    if not len(at):
        return (low + high) / 2
    order = np.argsort(at, kind="stable")
    before = np.concatenate([_failed(side, sign, left) for side, sign in sides])
    after = np.concatenate([_failed(side, sign, right) for side, sign in sides])
    at, before, after = at[order], before[order], after[order]
    cost = np.concatenate([[0], np.cumsum(before)]) + np.concatenate(
        [np.cumsum(after[::-1])[::-1], [0]]
    )
    best = np.flatnonzero(cost == cost.min())
    # The first stretch of equals: a second one would lie beyond a contradiction.
    end = best[0]
    while end + 1 < len(cost) and cost[end + 1] == cost.min():
        end += 1
    starts = np.concatenate([[at[0]], at])
    ends = np.concatenate([at, [at[-1]]])
    return float(starts[best[0]] + ends[end]) / 2


def _failed(side: Bounds, sign: float, line: Line) -> Floats:
    return (sign * (line.of(side.at) - side.value) > 0).astype(np.int64)
