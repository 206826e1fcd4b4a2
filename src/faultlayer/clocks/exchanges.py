"""Clocks of gateways that name requests anew, tied by the exchanges that the edge saw too.

An exchange behind the edge has the same request line and status, and took hardly less
time. One offset at which most exchanges of both logs meet, and no other does nearly as
often, is that of the clock.
"""

from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from faultlayer.clocks.clock import QUARTER_US, ZONE_SLACK_US, Clock, constant

_STEP_US: Final = 250_000  # grid on which offsets are counted
_MOST: Final = 4000  # exchanges of each log that are compared
_FEW: Final = 3  # exchanges that have to meet
_SHARE: Final = 0.6  # of the exchanges of the smaller log
_CLEAR: Final = 1.5  # times as many as at any other offset

_SEEN = """
SELECT
    row_number() OVER (ORDER BY events_raw.event_id) AS number,
    epoch_us(events_raw.ts_raw) AS ts,
    events_raw.ts_precision_us AS precision,
    events_raw.duration_ms,
    events_raw.status,
    split_part(split_part(lower(events_raw.message), ' http/', 1), '?', 1) AS what
FROM events_raw
INNER JOIN sources ON events_raw.source_id = sources.source_id
WHERE
    sources.clock_id = {name}
    AND events_raw.kind = 'access'
    AND events_raw.duration_ms IS NOT NULL
    AND events_raw.status IS NOT NULL
    AND events_raw.message IS NOT NULL
QUALIFY number <= {most}
"""

_HAVING = """
SELECT DISTINCT sources.clock_id
FROM events_raw
INNER JOIN sources ON events_raw.source_id = sources.source_id
WHERE
    list_contains($clocks, sources.clock_id)
    AND events_raw.kind = 'access'
    AND events_raw.duration_ms IS NOT NULL
ORDER BY sources.clock_id
"""

_PAIRS = f"""
WITH behind AS ({_SEEN.format(name="$clock", most=_MOST)}),

edge AS ({_SEEN.format(name="$edge", most=_MOST)})

SELECT
    behind.number AS number,
    behind.ts - edge.ts AS apart,
    greatest(behind.precision, edge.precision) AS precision,
    (SELECT least(
        (SELECT count(*) FROM behind), (SELECT count(*) FROM edge)
    )) AS size
FROM behind
INNER JOIN edge
    ON
        behind.status = edge.status
        AND behind.what = edge.what
        AND edge.duration_ms - behind.duration_ms BETWEEN -2 AND 200
WHERE
    abs(behind.ts - edge.ts - round((behind.ts - edge.ts) / {QUARTER_US}) * {QUARTER_US})
    <= {ZONE_SLACK_US}
"""


def match(
    con: duckdb.DuckDBPyConnection, tied: dict[str, Clock], waiting: list[str]
) -> list[Clock]:
    """Tie logs of exchanges to the reference where both tell of the same ones."""
    edge = next((c.clock_id for c in tied.values() if c.status == "reference"), None)
    if edge is None or not waiting:
        return []
    found: list[Clock] = []
    for (name,) in con.execute(_HAVING, {"clocks": waiting}).fetchall():
        pairs = con.execute(_PAIRS, {"clock": name, "edge": edge}).fetchnumpy()
        if not len(pairs["apart"]):
            continue
        room = int(pairs["precision"].max()) + _STEP_US
        best = _best(pairs["number"], pairs["apart"], room)
        if best is None:
            continue
        offset, votes = best
        size = int(pairs["size"][0])
        if votes < max(_FEW, _SHARE * size):
            continue
        segment = constant(offset, offset - room, offset + room, votes, votes / size)
        found.append(Clock(name, "tied", "the same exchanges", (segment,)))
    return found


def _best(
    number: NDArray[np.int64], apart: NDArray[np.int64], room: int
) -> tuple[int, int] | None:
    """Give the offset at which most exchanges meet, and how many; None if unclear."""
    order = np.lexsort((number, apart))
    number, apart = number[order], apart[order]
    starts = np.unique(apart // _STEP_US) * _STEP_US
    first = np.searchsorted(apart, starts)
    last = np.searchsorted(apart, starts + 2 * room)
    votes = np.array(
        [len(np.unique(number[a:b])) for a, b in zip(first, last, strict=True)]
    )
    top = int(votes.argmax())
    chosen = apart[first[top] : last[top]]
    offset = int(np.median(chosen))
    # Stamps of whole seconds may stand a second apart, so its neighbours are no rivals.
    rivals = votes[np.abs(starts + room - offset) > 2 * room]
    if len(rivals) and votes[top] < _CLEAR * rivals.max():
        return None
    return offset, int(votes[top])
