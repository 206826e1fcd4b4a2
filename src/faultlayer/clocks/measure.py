"""The interval of a clock's offset along one line, between two breaks."""

import numpy as np

from faultlayer.clocks.agreement import Bounds, Floats, Line
from faultlayer.clocks.buckets import Buckets, cut
from faultlayer.clocks.clock import Segment
from faultlayer.clocks.stabbing import through

#: Bounds of a bucket, where a line is steep and to measure; so few show no slope.
COARSE = 64
FEW = 3
FINE_SIZES = (64, 256, 512, 2048, 8192)

#: What the slope of a line may be off before it is measured, us per us.
UNSURE = 50e-6

#: What a clock that did not keep to one line may stray from its parts, us.
STRAY = 2_000.0

#: What all records of a kind may be late by without a contradiction, us: half of it
#: would move the point.
LATE_US = 9_000.0

#: Bounds that fail by less than this are of late records, others of other requests, us.
NEAR_US = 500_000.0

#: So many late ones, and this part of those that hold by as little, are no accident.
SEVERAL = 30
LATE_SHARE = 0.04

#: Buckets at most: what is shorter than a day's part of these is one moment.
MOST = 400

#: What the rate of a clock may change by within a segment, us per us; twice as much
#: for one that did not keep to one line.
WANDER = 2e-6

#: The part of the intervals whose width counts: requests that queue make others wide.
NARROW = 0.1

#: An interval says something of the slope that is within so many times that width.
TELLING = 3

_HALVINGS = 40

#: Ways from one slope to another that are tried, the longest first.
_PARTS = np.linspace(0.95, 0, 20)


def measured(
    upper: Bounds,
    lower: Bounds,
    line: Line,
    start: float | None,
    end: float | None,
    wander: float,
    *,
    bent: bool,
) -> Segment | None:
    """Give the interval along about this line from `start` to `end`, all in us.

    Of a clock whose rate changes at either (`bent`) it holds between buckets, too.

    None where no part of the bounds agrees with itself.
    """
    first = -np.inf if start is None else start
    last = np.inf if end is None else end
    ups, downs = upper.between(first, last), lower.between(first, last)
    base = _straight(ups, downs, line)
    found = _sharpest(ups, downs, base, wander)
    if not len(found):
        return None
    turned = _steady(found, base) or _turned(found, base)
    if turned is not None:
        again = _sharpest(ups, downs, turned, wander)
        if len(again):
            base, found = turned, again
    point, low, high = _band(found, wander)
    low, high = min(low, point - LATE_US / 2), max(high, point + LATE_US / 2)
    if wander > WANDER:
        stray = STRAY
        if bent:
            stray += wander * float(np.median(found.end - found.start)) / 2
        low, high = low - stray, high + stray
    line = base.plus(Line(base.anchor, point, 0.0))
    low -= _late(line.of(downs.at) - downs.value)
    high += _late(ups.value - line.of(ups.at))
    anchor = float(found.centre[0] + found.centre[-1]) / 2
    offset = base.at(anchor)
    size = int(found.size.sum())
    return Segment(
        start,
        end,
        anchor,
        offset + point,
        base.slope,
        offset + low,
        offset + high,
        -(-size // 2),
        1 - 2 * int(found.violated.sum()) / size,
    )


def _sharpest(upper: Bounds, lower: Bounds, line: Line, wander: float) -> Buckets:
    """Give the good buckets about a line, of the size whose intervals are narrowest.

    Larger ones have more bounds for their edges, and pay for the wander within.
    """
    ups, downs = upper.minus(line), lower.minus(line)
    tries = [cut(ups, downs, count, MOST, wander) for count in FINE_SIZES]
    good = [found.where(found.good) for found in tries]
    several = [found for found in good if len(found) >= FEW]
    return min(
        several or [found for found in good if len(found)],
        key=lambda found: float(np.quantile(found.high - found.low, NARROW)),
        default=good[0],
    )


def _steady(found: Buckets, base: Line) -> Line | None:
    """Give a line without drift where one passes through all intervals: most clocks.

    A few minutes with wide bounds allow any slope, and show none.
    """
    if len(found) < FEW:
        return None
    level = base.of(found.centre)
    low, high = float((level + found.low).max()), float((level + found.high).min())
    if low > high:
        return None
    return Line(float(found.centre[0]), (low + high) / 2, 0.0)


def _turned(found: Buckets, base: Line) -> Line | None:
    """Give a line through all intervals about another one.

    Its slope is as near as can be to that of their points, which keep to the sharper
    edge: between wide intervals most lines pass.
    """
    line, margin = through(found, slice(None), UNSURE)
    if margin <= 0 or len(found) < 2:  # noqa: PLR2004
        return None
    good, bad = line.slope, _slope(found)
    best = line
    for slope in [bad, *(good + (bad - good) * part for part in _PARTS)]:
        moved = slope * (found.centre - line.anchor)
        floor, ceiling = (found.low - moved).max(), (found.high - moved).min()
        if floor <= ceiling:
            offset = float(np.median(found.point - moved))
            offset = min(max(offset, float(floor)), float(ceiling))
            best = Line(line.anchor, offset, slope)
            break
    return base.plus(best)


def _slope(found: Buckets) -> float:
    """Give the slope of the points of intervals: the middle of what pairs of them show.

    Of pairs that are at least half of the whole time apart; a few odd ones move none.
    """
    width = found.high - found.low
    found = found.where(width <= TELLING * np.quantile(width, NARROW))
    half = np.searchsorted(found.centre, (found.centre[0] + found.centre[-1]) / 2)
    first, last = np.arange(half)[:, None], np.arange(half, len(found))[None, :]
    apart = found.centre[last] - found.centre[first]
    far = apart >= np.ptp(found.centre) / 2
    return float(np.median(((found.point[last] - found.point[first]) / apart)[far]))


def _straight(upper: Bounds, lower: Bounds, line: Line) -> Line:
    """Look at a steep line again: a spoilt bucket can have bent it within a wide band."""
    steep = abs(line.slope)
    if steep <= WANDER:
        return line
    found = cut(upper.minus(line), lower.minus(line), COARSE, MOST, steep)
    good = found.where(found.good)
    if len(good) < 2:  # noqa: PLR2004
        return line
    turned, margin = through(good, slice(None), 2 * steep)
    return line.plus(turned) if margin > 0 else line


def _tilt(found: Buckets) -> float:
    """Give how steep a line through all intervals can be, us per us."""
    since = found.centre - found.centre[0]

    def fits(slope: float) -> bool:
        ceiling = (found.high - slope * since).min()
        return bool(ceiling >= (found.low - slope * since).max())

    steepest = 0.0
    for outer in (-UNSURE, UNSURE):
        good, bad = 0.0, outer
        for _ in range(_HALVINGS if fits(good) else 0):
            middle = (good + bad) / 2
            good, bad = (middle, bad) if fits(middle) else (good, middle)
        steepest = max(steepest, abs(good))
    return steepest


def _band(found: Buckets, wander: float) -> tuple[float, float, float]:
    """Give point, low and high that hold from the first bound to the last.

    What one bucket says holds for another too, less by what the rate may be off times
    their distance. Within the first and last one the line runs on, as steep as it can.
    """
    tilt = _tilt(found)
    rate = wander + tilt
    apart = rate * np.abs(found.centre[:, None] - found.centre[None, :])
    low = (_smooth(found.low)[None, :] - apart).max(axis=1)
    high = (_smooth(found.high)[None, :] + apart).min(axis=1)
    share = float(np.median((found.point - found.low) / (found.high - found.low)))
    point = float(np.median(low + share * (high - low)))
    beyond = tilt * np.array(
        [found.centre[0] - found.start[0], found.end[-1] - found.centre[-1]]
    )
    low[[0, -1]] -= beyond
    high[[0, -1]] += beyond
    return point, min(float(low.min()), point), max(float(high.max()), point)


def _late(room: Floats) -> float:
    """Give what many records of one side seem to be late by, us; else 0.

    `room` is how far they are within their bounds. Of stamps of whole seconds only those
    show it that are written as a second begins, too few for the others to outvote.
    """
    by = -room[(room < 0) & (room > -NEAR_US)]
    if len(by) < SEVERAL:
        return 0.0
    usual = float(by.mean())
    held = int(((room >= 0) & (room <= usual)).sum())
    return usual if len(by) >= LATE_SHARE * held else 0.0


def _smooth(edge: Floats) -> Floats:
    """Give the median of each and its neighbours: one false bound moves none."""
    if len(edge) < FEW:
        return edge
    around = np.stack([edge[:-2], edge[1:-1], edge[2:]])
    middle = np.median(around, axis=0)
    return np.concatenate([[edge[0]], middle, [edge[-1]]])
