"""A clock that few requests tie: the lines that contradict the fewest bounds, exactly."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from faultlayer.clocks.agreement import Bounds, Floats, Line, leaning, level, trusted
from faultlayer.clocks.breaks import cheapest
from faultlayer.clocks.stabbing import STEEPEST, widest

Flags = NDArray[np.bool_]

#: Bounds a side that are tried against each other.
TRIED = 256

#: More contradictions than this share, and more than one, ask for a break.
FEW_FALSE = 0.03

#: Contradictions that a break has to save, beside half of all.
SAVED = 3

#: Part of the contradictions that a first break has to save, so that more are tried.
PROMISE = 6

#: Bounds that each side of a break needs.
LEAST = 6

#: What a bound may be false by without any other to contradict it, us.
LATE_US = 4_000.0

#: What the slope of a line may be off, us per us: as far as clocks drift by themselves.
UNSURE = 50e-6

#: What the rate of a clock may change by, us per us: so far it strays from a line.
STRAY = 4e-6

_CHUNK = 4096
_EQUAL_US = 0.5
_SLOPES = 33
_NEAR = np.arange(-2, 2)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch on one line; band `low` to `high` around it holds from `start` to `end`.

    `low` and `high` are offsets at the line's anchor, all times and offsets in us.
    """

    start: float
    end: float
    line: Line
    low: float
    high: float
    violated: int
    size: int


def stretches(upper: Bounds, lower: Bounds) -> list[Stretch]:
    """Give the stretches of a clock with few bounds; needs a bound on either side."""
    found = _stretches(_thinned(upper, -1), _thinned(lower, 1))
    ends = [
        np.inf if one is found[-1] else np.nextafter(one.end, np.inf) for one in found
    ]
    starts = [-np.inf, *ends]
    bends = [False, *(_bends(*both) for both in pairwise(found)), False]
    return [
        _leant(one, upper.between(start, end), lower.between(start, end), any(bent))
        for one, start, end, bent in zip(
            found, starts, ends, pairwise(bends), strict=False
        )
    ]


def _bends(left: Stretch, right: Stretch) -> bool:
    """Tell whether two lines meet: the rate changed, and the clock was not set."""
    at = (left.end + right.start) / 2
    room = max(one.high - one.low for one in (left, right))
    return abs(left.line.at(at) - right.line.at(at)) <= room


def _leant(one: Stretch, upper: Bounds, lower: Bounds, bent: bool) -> Stretch:
    """Move the line within its band to where all bounds say that the offset is.

    And widen the band where of many bounds a few are not trusted, and of a clock that
    keeps to no line as far as it strayed, and can stray between two bounds.
    """
    left_ups, left_downs = upper.minus(one.line), lower.minus(one.line)
    ups, downs = left_ups.value, left_downs.value
    ups, downs = np.sort(ups[ups >= 0]), -np.sort(-downs[downs <= 0])
    if not len(ups) or not len(downs):
        return one
    base = one.line.offset
    sure_up, sure_down = trusted(ups, downs)
    low = min(one.low, base + float(sure_down[0]) - LATE_US)
    high = max(one.high, base + float(sure_up[0]) + LATE_US)
    room = one.high - one.low
    above = _strayed(left_downs, left_ups, room)
    below = _strayed(left_ups.negated(), left_downs.negated(), room)
    if above or below or bent:
        between = STRAY * _longest(np.union1d(upper.at, lower.at)) / 2
        low = min(low, base - below) - between
        high = max(high, base + above) + between
    offset = base + leaning(ups, downs, (upper.grid, lower.grid))
    line = replace(one.line, offset=min(max(offset, low), high))
    return replace(one, line=line, low=low, high=high)


def _strayed(downs: Bounds, ups: Bounds, room: float) -> float:
    """Give how far above its line, 0, these bounds prove a clock at some time, us.

    They do where a lower one is above the line by more than a record is late, and no
    upper one of about that time below it: then none is false. By the upper ones the
    clock was not further above than that, nor by more than `room` from the lower one.
    """
    farthest = LATE_US + STRAY * float(np.ptp(downs.at))
    above = np.flatnonzero((downs.value > LATE_US) & (downs.value <= farthest))
    if not len(above):
        return 0.0
    value = downs.value[above]
    near = np.searchsorted(ups.at, downs.at[above])[:, None] + _NEAR
    near = np.clip(near, 0, len(ups) - 1)
    drifted = UNSURE * np.abs(ups.at[near] - downs.at[above][:, None])
    ceiling = (ups.value[near] + drifted).min(axis=1)
    top = np.minimum(ceiling, value + room)
    return float(top[ceiling >= value].max(initial=0.0))


def _longest(at: Floats) -> float:
    """Give the longest time between two bounds, us."""
    return float(np.diff(at).max(initial=0.0))


def _thinned(bounds: Bounds, sign: int) -> Bounds:
    """Keep of many bounds the sharpest of every few that follow each other."""
    if len(bounds) <= TRIED:
        return bounds
    parts = np.array_split(np.arange(len(bounds)), TRIED)
    kept = np.array([part[np.argmax(sign * bounds.value[part])] for part in parts])
    return Bounds(bounds.at[kept], bounds.value[kept], bounds.grid)


def _stretches(upper: Bounds, lower: Bounds) -> list[Stretch]:
    at = np.concatenate([upper.at, lower.at])
    value = np.concatenate([upper.value, lower.value])
    above = np.repeat([True, False], [len(upper), len(lower)])
    order = np.argsort(at, kind="stable")
    at, value, above = at[order], value[order], above[order]
    parts = _split(at, value, above, 0)
    for number, (left, right) in enumerate(pairwise(parts)):
        some = slice(left.first, right.end)
        failed = [
            _failed(
                at[some] - one.line.anchor,
                value[some],
                above[some],
                np.array([one.line.offset]),
                np.array([one.line.slope]),
            )[0].astype(np.int64)
            for one in (left, right)
        ]
        start, end, _ = cheapest(*failed)
        cut = left.first + (start + end + 1) // 2
        if min(cut - left.first, right.end - cut) >= LEAST:
            parts[number] = replace(left, end=cut)
            parts[number + 1] = replace(right, first=cut)
    return [
        _stretch(at[some], value[some], above[some], part.line)
        for part in parts
        for some in [slice(part.first, part.end)]
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """A line that fits the bounds `first` up to, not with, `end` but for `failed`."""

    first: int
    end: int
    line: Line
    failed: int


def _split(at: Floats, value: Floats, above: Flags, first: int) -> list[_Part]:
    """Cut bounds, of which the first has this number, where that saves contradictions.

    Of several steps the first that is tried may save less than half of them.
    """
    best, failed, place, saved = _search(at, value, above)
    whole = [_Part(first, first + len(at), best, failed)]
    wanted = max(1.0, FEW_FALSE * len(at))
    if not place or failed <= wanted or saved < max(SAVED, failed / PROMISE):
        return whole
    parts = _split(at[:place], value[:place], above[:place], first)
    parts += _split(at[place:], value[place:], above[place:], first + place)
    saved = failed - sum(part.failed for part in parts)
    return parts if saved >= max(SAVED * (len(parts) - 1), failed / 2) else whole


def _search(at: Floats, value: Floats, above: Flags) -> tuple[Line, int, int, int]:
    """Try the lines through all pairs of bounds: among them is a best one.

    Gives it, the bounds that it contradicts, the best place for a break (0: none), and
    how many contradictions that would save.
    """
    middle = float(at[0] + at[-1]) / 2
    since = at - middle
    # A clock that does not drift comes first: others have to contradict less.
    steady = level(value[above], value[~above])
    best = Line(middle, steady, 0.0)
    failed = int(_failed(since, value, above, np.array([steady]), np.zeros(1)).sum())
    size = len(at)
    left = np.full(size + 1, size, dtype=np.int64)
    right = np.full(size + 1, size, dtype=np.int64)
    one, other = np.triu_indices(size, 1)
    apart = since[other] - since[one]
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (value[other] - value[one]) / apart
    kept = np.flatnonzero(np.abs(slopes) <= STEEPEST)
    for start in range(0, len(kept), _CHUNK):
        some = kept[start : start + _CHUNK]
        slope = slopes[some]
        offset = value[one[some]] - slope * since[one[some]]
        wrong = _failed(since, value, above, offset, slope)
        sums = np.zeros((len(some), size + 1), dtype=np.int32)
        np.cumsum(wrong, axis=1, out=sums[:, 1:])
        total = sums[:, -1]
        left = np.minimum(left, sums.min(axis=0))
        right = np.minimum(right, (total[:, None] - sums).min(axis=0))
        top = int(np.argmin(total))
        if total[top] < failed:
            failed = int(total[top])
            best = Line(middle, float(offset[top]), float(slope[top]))
    both = left + right
    ups = np.concatenate([[0], np.cumsum(above)])
    place = np.arange(size + 1)
    downs = place - ups
    fair = (
        (np.minimum(ups, downs) >= LEAST // 2 - 1)
        & (np.minimum(ups[-1] - ups, downs[-1] - downs) >= LEAST // 2 - 1)
        & (np.minimum(place, size - place) >= LEAST)
    )
    if not fair.any():
        return best, failed, 0, 0
    choice = int(np.argmin(np.where(fair, both, 2 * size)))
    return best, failed, choice, failed - int(both[choice])


def _failed(
    since: Floats, value: Floats, above: Flags, offset: Floats, slope: Floats
) -> Flags:
    """Tell for each line and bound whether they contradict each other."""
    over = offset[:, None] + slope[:, None] * since[None, :] - value[None, :]
    return np.where(above[None, :], over, -over) > _EQUAL_US


def _stretch(at: Floats, value: Floats, above: Flags, best: Line) -> Stretch:
    """Give the middle of all lines that contradict no more than the best one."""
    over = best.of(at) - value
    held = np.where(above, over, -over) <= _EQUAL_US
    since = at - best.anchor
    ups, downs = held & above, held & ~above
    if not ups.any() or not downs.any():
        return Stretch(at[0], at[-1], best, -np.inf, np.inf, len(at), len(at))
    args = (since[ups], value[ups] + _EQUAL_US, since[downs], value[downs] - _EQUAL_US)
    if best.slope:
        best, _ = widest(*args, best.anchor)
    low, high = _around(
        best, at, value + np.where(above, LATE_US, -LATE_US), above, held
    )
    return Stretch(
        at[0],
        at[-1],
        best,
        best.offset + low,
        best.offset + high,
        int((~held).sum()),
        len(at),
    )


def _around(
    line: Line, at: Floats, value: Floats, above: Flags, held: Flags
) -> tuple[float, float]:
    """Give how far below and above a line others lie that these bounds allow.

    At their times, and half the longest time between two of them before and after.
    """
    since = at - line.anchor
    ups, downs = held & above, held & ~above
    args = (since[ups], value[ups], since[downs], value[downs])
    beyond = _longest(at) / 2
    ends = np.array([since[0] - beyond, since[-1] + beyond])
    low, high = 0.0, 0.0
    for slope in _slopes(*args, line.slope):
        ceiling = (args[1] - slope * args[0]).min() - line.offset
        floor = (args[3] - slope * args[2]).max() - line.offset
        moved = (slope - line.slope) * ends
        high = max(high, float((ceiling + moved).max()))
        low = min(low, float((floor + moved).min()))
    return low, high


def _slopes(
    up_at: Floats, up: Floats, down_at: Floats, down: Floats, inside: float
) -> Floats:
    """Give slopes about one that fits, as far as a line does and clocks drift."""

    def gap(slope: float) -> float:
        ceiling = (up - slope * up_at).min()
        return float(ceiling - (down - slope * down_at).max())

    ends = []
    for outer in (inside - UNSURE, inside + UNSURE):
        good, bad = inside, outer
        if gap(bad) >= 0:
            ends.append(bad)
            continue
        for _ in range(40):
            middle = (good + bad) / 2
            good, bad = (middle, bad) if gap(middle) >= 0 else (good, middle)
        ends.append(good)
    return np.linspace(ends[0], ends[1], _SLOPES)
