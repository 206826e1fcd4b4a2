"""From one-sided bounds of a clock's offset to segments with an interval each."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from faultlayer.clocks import sparse
from faultlayer.clocks.agreement import LITTLE, Bounds, Floats, Line
from faultlayer.clocks.breaks import place
from faultlayer.clocks.buckets import Buckets, cut
from faultlayer.clocks.clock import Segment
from faultlayer.clocks.stabbing import STEEPEST, Run, stab, through

#: Bounds on the poorer side below which every line is tried.
SPARSE = 600

#: Bounds a side that are tried against each other.
TRIED = 256

#: Bounds of a bucket while looking for breaks, joining what one line fits, measuring.
COARSE = 64
JOINING = 512
FINE_SIZES = (256, 512, 2048, 8192)

#: What the slope of a line may be off before it is measured, us per us.
UNSURE = 50e-6

#: Buckets from which on a piece can do without the first or last, which a break may spoil.
LONG = 8

#: Share of coarse buckets that may be spoilt where two lines hardly differ: while
#: requests queue on one side, a false bound on the other contradicts nothing.
OUTVOTED = 0.15

#: More breaks than these, and than one in so many buckets: not one clock, or stamps
#: that are not those of the events.
FEW_BREAKS = 2
CALM = 12

#: What a clock that did not keep to one line may stray from its parts, us.
STRAY = 2_000.0

#: Buckets at most: what is shorter than a day's part of these is one moment.
MOST = 400

#: What the rate of a clock may change by within a segment, us per us; twice as much
#: for one that did not keep to one line.
WANDER = 2e-6

#: Rounds in which the lines found make the buckets sharper.
ROUNDS = 3


def segments(upper: Bounds, lower: Bounds) -> list[Segment]:
    """Give the segments of a clock whose offset has these bounds, sorted by time.

    None when a side has no bound, since then nothing holds the offset from that side,
    and none when the bounds do not agree on anything.
    """
    if not len(upper) or not len(lower):
        return []
    if min(len(upper), len(lower)) < SPARSE:
        return _sparse(upper, lower)
    return _dense(upper, lower)


def _sparse(upper: Bounds, lower: Bounds) -> list[Segment]:
    found = sparse.stretches(_thinned(upper, -1), _thinned(lower, 1))
    ends = [(left.end + right.start) / 2 for left, right in pairwise(found)]
    return [
        Segment(
            start,
            end,
            one.line.anchor,
            one.line.offset,
            one.line.slope,
            one.low,
            one.high,
            -(-one.size // 2),
            1 - 2 * one.violated / one.size,
        )
        for one, start, end in zip(found, [None, *ends], [*ends, None], strict=True)
    ]


def _thinned(bounds: Bounds, sign: int) -> Bounds:
    """Keep of many bounds the sharpest of every few that follow each other."""
    if len(bounds) <= TRIED:
        return bounds
    parts = np.array_split(np.arange(len(bounds)), TRIED)
    kept = np.array([part[np.argmax(sign * bounds.value[part])] for part in parts])
    return Bounds(bounds.at[kept], bounds.value[kept])


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, and the span of the `buckets` that it passes through.

    `sure_first` ends the first bucket and `sure_last` begins the last one: a break may
    lie within either.
    """

    first: float
    last: float
    sure_first: float
    sure_last: float
    buckets: int
    line: Line


def _dense(upper: Bounds, lower: Bounds) -> list[Segment]:
    coarse = cut(upper, lower, COARSE, MOST, STEEPEST)
    good = coarse.where(coarse.good)
    if 2 * len(good) < len(coarse) or not len(good):
        return []
    pieces = [_piece(good, run, None) for run in stab(good)]
    for _ in range(ROUNDS):
        pieces = _refined(upper, lower, pieces)
    pieces = _merged(upper, lower, pieces)
    if len(pieces) - 1 > max(FEW_BREAKS, len(good) / CALM):
        return []
    breaks = [
        place(upper, lower, left.sure_last, right.sure_first, left.line, right.line)
        for left, right in pairwise(pieces)
    ]
    wander = WANDER if len(pieces) == 1 else 2 * WANDER
    found = []
    for piece, start, end in zip(pieces, [None, *breaks], [*breaks, None], strict=True):
        segment = _measured(upper, lower, piece, start, end, wander)
        if segment is not None:
            found.append(segment)
    return found


def _piece(found: Buckets, run: Run, under: Line | None) -> _Piece:
    line = run.line
    if under is not None:
        line = Line(
            line.anchor, line.offset + under.at(line.anchor), line.slope + under.slope
        )
    first, last = run.first, run.end - 1
    return _Piece(
        float(found.start[first]),
        float(found.end[last]),
        float(found.end[first]),
        float(found.start[last]),
        run.end - run.first,
        line,
    )


def _refined(upper: Bounds, lower: Bounds, pieces: list[_Piece]) -> list[_Piece]:
    """Look at what is left over each line, where smaller steps show."""
    result = []
    edges = [(left.last + right.first) / 2 for left, right in pairwise(pieces)]
    for piece, start, end in zip(
        pieces, [-np.inf, *edges], [*edges, np.inf], strict=True
    ):
        ups = upper.between(start, end).minus(piece.line)
        downs = lower.between(start, end).minus(piece.line)
        found = cut(ups, downs, COARSE, MOST, 2 * WANDER)
        good = found.where(found.good)
        if not len(good):
            result.append(piece)
            continue
        result += [_piece(good, run, piece.line) for run in stab(good)]
    return result


def _merged(upper: Bounds, lower: Bounds, pieces: list[_Piece]) -> list[_Piece]:
    """Join neighbours that one line fits: what parted them was a bad bucket."""
    result = [pieces[0]]
    for piece in pieces[1:]:
        both = _joined(upper, lower, result[-1], piece)
        if both is None:
            result.append(piece)
        else:
            result[-1] = both
    return result


def _joined(upper: Bounds, lower: Bounds, left: _Piece, right: _Piece) -> _Piece | None:
    first = left.sure_first if left.buckets >= LONG else left.first
    last = right.sure_last if right.buckets >= LONG else right.last
    ups, downs = (
        side.between(first, np.nextafter(last, np.inf)).minus(left.line)
        for side in (upper, lower)
    )
    # Coarser buckets: a few false bounds cannot hold one aside, least of all where the
    # lines hardly differ.
    # One that holds a break is spoilt, but a piece of several is no accident.
    spoilt = 1 if min(left.buckets, right.buckets) == 1 else 0
    line = _common(ups, downs, JOINING, 0.0, spoilt)
    if line is None and _alike(left, right):
        line = _common(ups, downs, 4 * JOINING, OUTVOTED, 1)
    if line is None:
        return None
    whole = Line(
        line.anchor,
        line.offset + left.line.at(line.anchor),
        line.slope + left.line.slope,
    )
    buckets = left.buckets + right.buckets
    return _Piece(
        left.first, right.last, left.sure_first, right.sure_last, buckets, whole
    )


def _common(
    upper: Bounds, lower: Bounds, count: int, outvoted: float, spoilt: int
) -> Line | None:
    """Give a line through all good buckets but the share that others may outvote."""
    found = cut(upper, lower, count, MOST, 2 * WANDER)
    if int((~found.good).sum()) > spoilt:
        return None
    found = found.where(found.good)
    for _ in range(1 + int(outvoted * len(found))):
        if len(found) < 2:  # noqa: PLR2004
            return None
        line, margin = through(found, slice(None))
        if margin >= 0:
            return line
        level = line.of(found.centre)
        off = np.maximum(found.low - level, level - found.high)
        found = found.where(np.arange(len(found)) != np.argmax(off))
    return None


def _alike(left: _Piece, right: _Piece) -> bool:
    """Tell whether two lines are within a few milliseconds of each other throughout."""
    times = (left.first, left.last, right.first, right.last)
    return all(abs(left.line.at(t) - right.line.at(t)) <= 2 * LITTLE for t in times)


def _measured(
    upper: Bounds,
    lower: Bounds,
    piece: _Piece,
    start: float | None,
    end: float | None,
    wander: float,
) -> Segment | None:
    """Give the interval of a piece between its breaks."""
    first = -np.inf if start is None else start
    last = np.inf if end is None else end
    ups, downs = upper.between(first, last), lower.between(first, last)
    base = _straight(ups, downs, piece.line)
    ups, downs = ups.minus(base), downs.minus(base)
    lean = not (_coarse(upper) or _coarse(lower))
    found = _sharpest(ups, downs, wander, lean=lean)
    if not len(found):
        return None
    steady = _steady(cut(ups, downs, COARSE, MOST, wander), base)
    if steady is not None:
        base = steady
        ups = upper.between(first, last).minus(base)
        downs = lower.between(first, last).minus(base)
        found = _sharpest(ups, downs, wander, lean=lean)
        if not len(found):
            return None
    line, margin = through(found, slice(None), UNSURE)
    if steady is None and margin > 0 and len(found) > 1:
        ups, downs = ups.minus(line), downs.minus(line)
        found = _sharpest(ups, downs, wander, lean=lean)
    else:
        line = Line(0.0, 0.0, 0.0)
    span = float(found.centre[-1] - found.centre[0])
    rate = wander + (max(0.0, margin) / span if span else 0.0)
    point, low, high = _band(found, rate)
    if wander > WANDER:
        low, high = low - STRAY, high + STRAY
    anchor = float(found.centre[0] + found.centre[-1]) / 2
    offset = base.at(anchor) + line.at(anchor)
    size = int(found.size.sum())
    return Segment(
        start,
        end,
        anchor,
        offset + point,
        base.slope + line.slope,
        offset + low,
        offset + high,
        -(-size // 2),
        1 - 2 * int(found.violated.sum()) / size,
    )


def _steady(found: Buckets, base: Line) -> Line | None:
    """Give a line without drift where one passes through all intervals: most clocks.

    A few minutes with wide bounds allow any slope, and show none.
    """
    found = found.where(found.good)
    if len(found) < 3:  # noqa: PLR2004
        return None
    level = base.of(found.centre)
    low, high = float((level + found.low).max()), float((level + found.high).min())
    if low > high:
        return None
    return Line(float(found.centre[0]), (low + high) / 2, 0.0)


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
    if margin <= 0:
        return line
    return Line(
        turned.anchor,
        turned.offset + line.at(turned.anchor),
        turned.slope + line.slope,
    )


def _coarse(bounds: Bounds) -> bool:
    """Tell whether bounds are differences of whole seconds: those only seem to crowd."""
    some = bounds.value[:: max(1, len(bounds) // 1000)]
    return len(np.unique(np.round(some % 1e6))) < len(some) / 20


def _sharpest(upper: Bounds, lower: Bounds, wander: float, *, lean: bool) -> Buckets:
    """Give the good buckets of the size whose intervals are narrowest.

    Larger ones have more bounds for their edges, and pay for the wander within.
    """
    tries = [cut(upper, lower, count, MOST, wander, lean=lean) for count in FINE_SIZES]
    good = [found.where(found.good) for found in tries]
    return min(
        (found for found in good if len(found)),
        key=lambda found: float(np.median(found.high - found.low)),
        default=good[0],
    )


def _band(found: Buckets, rate: float) -> tuple[float, float, float]:
    """Give point, low and high that hold for all buckets, not only on average.

    What one bucket says holds for another too, less by `rate` times their distance.
    """
    apart = rate * np.abs(found.centre[:, None] - found.centre[None, :])
    low = (_smooth(found.low)[None, :] - apart).max(axis=1)
    high = (_smooth(found.high)[None, :] + apart).min(axis=1)
    share = float(np.median((found.point - found.low) / (found.high - found.low)))
    point = float(np.median(low + share * (high - low)))
    return point, min(float(low.min()), point), max(float(high.max()), point)


def _smooth(edge: Floats) -> Floats:
    """Give the median of each and its neighbours: one false bound moves none."""
    if len(edge) < 3:  # noqa: PLR2004
        return edge
    around = np.stack([edge[:-2], edge[1:-1], edge[2:]])
    middle = np.median(around, axis=0)
    return np.concatenate([[edge[0]], middle, [edge[-1]]])
