"""From one-sided bounds of a clock's offset to segments with an interval each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from faultlayer.clocks import sparse
from faultlayer.clocks.agreement import LITTLE, Bounds, Line
from faultlayer.clocks.breaks import Break, place
from faultlayer.clocks.buckets import Buckets, cut
from faultlayer.clocks.clock import Segment
from faultlayer.clocks.measure import MOST, WANDER, measured
from faultlayer.clocks.stabbing import STEEPEST, Run, stab, through

#: Bounds on the poorer side below which every line is tried.
SPARSE = 600

#: Bounds of a bucket while looking for breaks, and of a short log at least so many.
COARSE = 64
SMALLEST = 16

#: Bounds of a bucket while joining what one line fits.
JOINING = 512

#: Buckets that a log with few requests is cut into all the same, for both.
BUCKETS = 48
TO_JOIN = 12

#: Buckets from which on a piece can do without the first or last, which a break may spoil.
LONG = 8

#: Bounds that a line may fail more than another that is not wanted.
FEW = 2
FEW_SHARE = 0.02

#: Share of coarse buckets that may be spoilt where two lines hardly differ: while
#: requests queue on one side, a false bound on the other contradicts nothing.
OUTVOTED = 0.15

#: Intervals count as narrow that are within so many times the width of the narrowest
#: part of all.
SHARP = 3
SHARPEST = 0.1

#: More breaks than these, and than one in so many buckets: not one clock, or stamps
#: that are not those of the events.
FEW_BREAKS = 2
CALM = 12

#: A rate that changes at one in so many buckets is still followed where they agree, by
#: this share of their bounds.
MOVING = 5
AGREED = 0.9

#: Share of the bounds of a side that may fail by so little: if it is larger, the stamps
#: are late by all kinds of time.
LATE_MOST = 0.2
MINUTE_US = 60e6

#: Lines this near at a break meet there, us: nobody sets a clock by so little, since
#: what keeps it (ntpd below 128 ms) changes its rate instead.
MET_US = 50_000.0

#: Rounds in which the lines found make the buckets sharper.
ROUNDS = 3


def segments(upper: Bounds, lower: Bounds) -> list[Segment]:
    """Give the segments of a clock whose offset has these bounds, sorted by time.

    None when a side has no bound, since then nothing holds the offset from that side,
    and none when the bounds do not agree on anything.
    """
    if not len(upper) or not len(lower):
        return []
    upper, lower = upper.gridded(), lower.gridded()
    if min(len(upper), len(lower)) < SPARSE:
        return _sparse(upper, lower)
    return _dense(upper, lower)


def _sparse(upper: Bounds, lower: Bounds) -> list[Segment]:
    found = sparse.stretches(upper, lower)
    ends = [(left.end + right.start) / 2 for left, right in pairwise(found)]
    little = LITTLE + sparse.STRAY * (found[-1].end - found[0].start)
    if _late(upper, lower, [one.line for one in found], ends, little):
        return []
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


def _size(upper: Bounds, lower: Bounds, usual: int, buckets: int, least: int) -> int:
    """Give the bounds of a bucket: fewer than usual where there are few."""
    return min(usual, max(least, min(len(upper), len(lower)) // buckets))


def _dense(upper: Bounds, lower: Bounds) -> list[Segment]:
    size = _size(upper, lower, COARSE, BUCKETS, SMALLEST)
    coarse = cut(upper, lower, size, MOST, STEEPEST)
    good = coarse.where(coarse.good)
    if 2 * len(good) < len(coarse) or not len(good):
        return []
    pieces = [_piece(good, run, None) for run in stab(good)]
    for _ in range(ROUNDS):
        pieces = _refined(upper, lower, pieces, size)
    pieces = _bridged(upper, lower, _merged(upper, lower, pieces))
    lines = [piece.line for piece in pieces]
    edges = [(left.last + right.first) / 2 for left, right in pairwise(pieces)]
    if _restless(upper, lower, pieces, good) or _late(
        upper, lower, lines, edges, LITTLE
    ):
        return []
    while True:
        breaks = [_break(upper, lower, *both).at for both in pairwise(pieces)]
        bends = [False, *map(_bends, pieces, pieces[1:], breaks), False]
        wander = WANDER if len(pieces) == 1 else 2 * WANDER
        found = [
            measured(upper, lower, piece.line, start, end, wander, bent=any(bent))
            for piece, start, end, bent in zip(
                pieces, [None, *breaks], [*breaks, None], pairwise(bends), strict=True
            )
        ]
        known = [
            one if one is not None and abs(one.slope) <= STEEPEST else None
            for one in found
        ]
        if all(known):
            return [one for one in known if one is not None]
        # What a piece without an interval holds, or too steep for a clock, is its
        # neighbours'.
        pieces = [one for one, its in zip(pieces, known, strict=True) if its]
        if not pieces:
            return []


def _bends(left: _Piece, right: _Piece, at: float) -> bool:
    """Tell whether two lines meet: the rate changed, and the clock was not set."""
    return abs(left.line.at(at) - right.line.at(at)) <= MET_US


def _restless(
    upper: Bounds, lower: Bounds, pieces: list[_Piece], good: Buckets
) -> bool:
    """Tell whether a clock of these buckets breaks too often to be one clock.

    Stamps that are not those of the events break lines, too, and buckets agree less.
    """
    places = [_break(upper, lower, *both).at for both in pairwise(pieces)]
    steps = len(places) - sum(map(_bends, pieces, pieces[1:], places))
    agreed = 1 - 2 * int(good.violated.sum()) / int(good.size.sum())
    followed = MOVING if agreed >= AGREED else CALM
    return steps > max(FEW_BREAKS, len(good) / CALM) or len(places) > max(
        FEW_BREAKS, len(good) / followed
    )


def _late(
    upper: Bounds,
    lower: Bounds,
    lines: Sequence[Line],
    edges: Sequence[float],
    little: float,
) -> bool:
    """Tell whether stamps are not those of the events: written at every flush, say.

    Then many of one side fail their line, the next from each edge on, by up to a minute
    and by more than a little; those of other requests fail by any time.
    """
    spans = list(pairwise([-np.inf, *edges, np.inf]))
    for side, sign in ((upper, -1.0), (lower, 1.0)):
        late = 0
        for line, span in zip(lines, spans, strict=True):
            by = sign * side.between(*span).minus(line).value
            late += int(((by > little) & (by < MINUTE_US)).sum())
        if late > max(FEW, LATE_MOST * len(side)):
            return True
    return False


def _piece(found: Buckets, run: Run, under: Line | None) -> _Piece:
    line = run.line if under is None else under.plus(run.line)
    first, last = run.first, run.end - 1
    return _Piece(
        float(found.start[first]),
        float(found.end[last]),
        float(found.end[first]),
        float(found.start[last]),
        run.end - run.first,
        line,
    )


def _refined(
    upper: Bounds, lower: Bounds, pieces: list[_Piece], size: int
) -> list[_Piece]:
    """Look at what is left over each line, where smaller steps show."""
    result = []
    edges = [(left.last + right.first) / 2 for left, right in pairwise(pieces)]
    for piece, start, end in zip(
        pieces, [-np.inf, *edges], [*edges, np.inf], strict=True
    ):
        ups = upper.between(start, end).minus(piece.line)
        downs = lower.between(start, end).minus(piece.line)
        found = cut(ups, downs, size, MOST, 2 * WANDER)
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


def _bridged(upper: Bounds, lower: Bounds, pieces: list[_Piece]) -> list[_Piece]:
    """Leave out short pieces that run across a step, where one break explains as much."""
    result = [pieces[0]]
    for piece, after in pairwise([*pieces[1:], pieces[-1]]):
        if after is not piece and piece.buckets < LONG:
            span = piece.first, np.nextafter(piece.last, np.inf)
            ups, downs = upper.between(*span), lower.between(*span)
            own = place(ups, downs, *span, piece.line, piece.line).failed
            one = place(ups, downs, *span, result[-1].line, after.line).failed
            if one <= own + max(FEW, FEW_SHARE * (len(ups) + len(downs))):
                continue
        result.append(piece)
    return result


def _break(upper: Bounds, lower: Bounds, left: _Piece, right: _Piece) -> Break:
    last, first = left.sure_last, right.sure_first
    return place(upper, lower, last, first, left.line, right.line)


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
    size = _size(ups, downs, JOINING, TO_JOIN, COARSE)
    line = _common(ups, downs, size, 0.0, spoilt)
    if line is None and _alike(left, right):
        line = _common(ups, downs, 4 * size, OUTVOTED, 1)
    if line is None:
        line = _through_sharp(ups, downs, size)
    if line is None:
        return None
    whole = left.line.plus(line)
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


def _through_sharp(upper: Bounds, lower: Bounds, count: int) -> Line | None:
    """Give a line through the narrow intervals, if it contradicts the others' few bounds.

    In a queue intervals are wide, and what falls into one by a false bound contradicts
    nothing there; before and after it no line that follows it would hold.
    """
    found = cut(upper, lower, count, MOST, 2 * WANDER)
    found = found.where(found.good)
    width = found.high - found.low
    if not len(found):
        return None
    found = found.where(width <= SHARP * np.quantile(width, SHARPEST))
    line, margin = through(found, slice(None))
    return line if margin >= 0 and _holds(upper, lower, line) else None


def _holds(upper: Bounds, lower: Bounds, line: Line) -> bool:
    """Tell whether in no stretch a line fails clearly more bounds than it must."""
    found = cut(upper, lower, COARSE, MOST, 0.0)
    at = np.concatenate(
        [
            upper.at[line.of(upper.at) > upper.value],
            lower.at[line.of(lower.at) < lower.value],
        ]
    )
    stretch = np.searchsorted(found.start, at, side="right") - 1
    failed = np.bincount(np.maximum(stretch, 0), minlength=len(found))
    return bool((failed <= found.violated + FEW + FEW_SHARE * found.size).all())
