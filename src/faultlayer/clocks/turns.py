"""Which line is the first after a clock was set back: there the same readings come again.

File order tells what a reading alone cannot. Where two neighbouring lines jump back by
about the step, the clock was set; if several do, or none, the requests that the lines
belong to decide.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from faultlayer.clocks.agreement import Floats, Line
from faultlayer.clocks.clock import Clock, Segment

#: Steps back that matter, us: fewer lines than a log's own disorder come twice.
LEAST_US = 50_000.0

#: A jump of less or more than so many steps is not this step.
ABOUT = (0.5, 1.5)

#: How far from the moment of a step its jump may be read, us, unless it is the only one.
NEAR_US = 900e6

#: Lines that may contradict a jump: their ids may be those of others.
FEW = 2

#: Lines of requests that place a step without a jump.
ENOUGH = 4

_LINES = """
SELECT
    parsed.event_id - parsed.source_id * 10000000000 AS line,
    CAST(epoch_us(parsed.ts_raw) AS DOUBLE) AS reading,
    CAST(parsed.ts_precision_us AS DOUBLE) AS grain,
    {bounds}
FROM parsed
{joins}
WHERE
    parsed.source_id = $source
    AND parsed.ts_raw IS NOT NULL
    AND NOT coalesce(parsed.borrowed, FALSE)
ORDER BY parsed.event_id
"""

_BY_ID = {
    "bounds": """CAST(spans.lo AS DOUBLE) AS lo,
    CASE WHEN timing.timing = 'before_end' THEN CAST(spans.hi AS DOUBLE) END AS hi""",
    "joins": """LEFT JOIN timing
    ON parsed.kind = timing.kind AND timing.timing IN ('before_end', 'after_start')
LEFT JOIN spans
    ON hash(parsed.request_id) = spans.id_hash AND timing.kind IS NOT NULL""",
}
_BY_ORDER = {"bounds": "NULL::DOUBLE AS lo, NULL::DOUBLE AS hi", "joins": ""}

_SOURCES = """
SELECT source_id, epoch_us(first_ts), epoch_us(last_ts)
FROM sources
WHERE clock_id = $clock AND events > 0 AND first_ts IS NOT NULL
ORDER BY source_id
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """From this `line` on (from 1), a source is in a segment of its clock."""

    source_id: int
    segment: int
    line: int


@dataclass(frozen=True, slots=True)
class Back:
    """A step back into `segment`: the readings at which the old line ends, the new begins.

    `old` and `new` are the offsets there, us; `room` is what both are unsure by. What
    is read before `first` or after `last` is of other segments.
    """

    segment: int
    ends: float
    begins: float
    old: float
    new: float
    room: float
    first: float
    last: float

    @property
    def step(self) -> float:
        """How far the clock was set back, us."""
        return self.ends - self.begins


@dataclass(frozen=True, slots=True)
class Lines:
    """Stamped lines of one source in file order; all but `line` in us, NaN = unknown.

    `lo` and `hi` are the reference times between which the line was written.
    """

    line: NDArray[np.int64]
    reading: Floats
    grain: Floats
    lo: Floats
    hi: Floats

    def around(self, step: Back, line: int) -> "Lines":
        """Leave out what lies before a line, or is read far from a step."""
        kept = (
            (self.line >= line)
            & (self.reading >= step.first - step.step)
            & (self.reading <= step.last + step.step)
        )
        return Lines(
            self.line[kept],
            self.reading[kept],
            self.grain[kept],
            self.lo[kept],
            self.hi[kept],
        )


def find(con: duckdb.DuckDBPyConnection, clock: Clock, *, by_id: bool) -> list[Turn]:
    """Give the first lines after each step back, for the sources that show one.

    Reads `sources` and `parsed`, with `by_id` also `timing` and the `spans` of requests
    in reference time.
    """
    steps = list(backward(clock.segments))
    if not steps:
        return []
    found: list[Turn] = []
    query = _LINES.format(**(_BY_ID if by_id else _BY_ORDER))
    for source, first, last in con.execute(
        _SOURCES, {"clock": clock.clock_id}
    ).fetchall():
        reached = [
            one
            for one in steps
            if first < one.ends + one.step and last >= one.begins - one.step
        ]
        if not reached:
            continue
        columns = con.execute(query, {"source": source}).fetchnumpy()
        lines = Lines(
            np.ma.getdata(columns["line"]).astype(np.int64),
            *(_filled(columns[name]) for name in ("reading", "grain", "lo", "hi")),
        )
        line = 0
        for step in reached:
            begins = turn(lines.around(step, line), step)
            if begins is not None:
                line = begins
                found.append(Turn(source, step.segment, line))
    return found


def _filled(column: NDArray[Any]) -> Floats:
    return np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)


def backward(segments: tuple[Segment, ...]) -> Iterator[Back]:
    """Give the steps of a clock to which it was set back."""
    for number, (left, right) in enumerate(pairwise(segments), 1):
        if right.start is None:
            continue
        old, new = (_line(one).at(right.start) for one in (left, right))
        if old - new >= LEAST_US:
            room = max(
                one.high - one.offset if sign > 0 else one.offset - one.low
                for one in (left, right)
                for sign in (1, -1)
            )
            first = -np.inf if left.start is None else left.start + old
            last = np.inf if right.end is None else right.end + new
            ends, begins = right.start + old, right.start + new
            yield Back(number, ends, begins, old, new, room, first, last)


def turn(lines: Lines, step: Back) -> int | None:
    """Give the first line after a step, None where the readings alone tell it.

    That line may be one behind the last, when the source ends before the step.
    """
    count = len(lines.line)
    if not count:
        return None
    wrong = _contradicted(lines, step)
    least = int(wrong.min())
    known = int(wrong.max()) - least
    drop = lines.reading[:-1] - lines.reading[1:]
    grain = lines.grain[1:]
    jumps = 1 + np.flatnonzero(
        (drop + grain > ABOUT[0] * step.step)
        & (drop >= LEAST_US)
        & (drop - grain < ABOUT[1] * step.step)
    )
    away = np.abs(lines.reading[jumps - 1] - step.ends) + np.abs(
        lines.reading[jumps] - step.begins
    )
    if len(jumps) > 1:
        jumps, away = jumps[away < NEAR_US], away[away < NEAR_US]
    fit = wrong[jumps] <= least + FEW
    if fit.any():
        return int(lines.line[jumps[fit][np.argmin(away[fit])]])
    if known < ENOUGH:
        return None
    # Between two lines of known requests anything fits; there time runs on.
    best = np.flatnonzero(wrong == least)
    at = int(best[np.argmin(np.abs(_reading(lines, best) - step.begins))])
    return int(lines.line[at]) if at < count else int(lines.line[-1]) + 1


def _reading(lines: Lines, at: NDArray[np.int64]) -> Floats:
    return lines.reading[np.minimum(at, len(lines.line) - 1)]


def _contradicted(lines: Lines, step: Back) -> NDArray[np.int64]:
    """Count for each cut the lines whose request began after or ended before them."""
    early = lines.reading - step.old + lines.grain + step.room < lines.lo
    late = lines.reading - step.new - step.room > lines.hi
    # Lines that both offsets contradict belong to other requests.
    as_new = lines.reading - step.new + lines.grain + step.room < lines.lo
    as_old = lines.reading - step.old - step.room > lines.hi
    not_old = (early & ~as_new & ~late).astype(np.int64)
    not_new = (late & ~as_old & ~early).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(not_old)])
    after = np.concatenate([np.cumsum(not_new[::-1])[::-1], [0]])
    total: NDArray[np.int64] = before + after
    return total


def _line(segment: Segment) -> Line:
    return Line(segment.anchor or 0.0, segment.offset, segment.slope)


def pieces(segments: Sequence[Segment]) -> pa.Table:
    """Give by which readings of a clock which line holds.

    None holds for those that it shows twice, since it was set back in between.
    """
    rows = []
    for number, one in enumerate(segments):
        start = -np.inf if one.start is None else one.start
        anchor = one.anchor or 0.0
        rows.append(
            {
                "reads_from": start + one.offset + one.slope * (start - anchor)
                if number
                else -np.inf,
                "anchor": anchor,
                "offset_us": float(one.offset),
                "slope": one.slope,
                "above": float(one.high - one.offset),
                "below": float(one.offset - one.low),
            }
        )
    twice = [(one.begins, one.ends) for one in backward(tuple(segments))]
    # Of smaller steps back the later line gets what comes twice.
    starts = np.maximum.accumulate([row["reads_from"] for row in rows]).tolist()
    cuts = sorted({*starts, *(edge for pair in twice for edge in pair)})
    found = []
    for start, end in zip(cuts, [*cuts[1:], np.inf], strict=True):
        row = rows[int(np.searchsorted(starts, start, side="right")) - 1]
        known = not any(low <= start < high for low, high in twice)
        offset = row["offset_us"] if known else None
        found.append(row | {"offset_us": offset, "reads_from": start, "reads_to": end})
    return pa.Table.from_pylist(found)
