"""The bounds that shared ids put on a clock, found by joins on ids only."""

from typing import Any, Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

from faultlayer.clocks.estimate import Microseconds

#: Room for records that are written a moment after what they describe, us.
SLACK_US = 2_000

#: More shared requests than this are thinned out by a hash of the id.
ENOUGH = 400_000

Role = Literal["access", "inner"]

# Two logs of one server may tell of the same exchange; then the finer stamp counts.
_SPANS = """
CREATE OR REPLACE TEMP TABLE spans AS
SELECT
    request_id,
    hash(request_id) AS id_hash,
    max(epoch_us(ts_raw) - CAST(duration_ms * 1000 AS BIGINT)) AS lo,
    min(epoch_us(ts_raw) + ts_precision_us) AS hi,
    any_value(status) AS status
FROM parsed
WHERE
    clock_id = $clock
    AND kind = 'access'
    AND request_id IS NOT NULL
    AND duration_ms IS NOT NULL
    AND hash(request_id) % $thin = 0
GROUP BY request_id
HAVING
    count(*) = count(DISTINCT source_id)
    AND max(epoch_us(ts_raw) - CAST(duration_ms * 1000 AS BIGINT))
    <= min(epoch_us(ts_raw) + ts_precision_us)
"""

# Without any access log the clock that knows most requests is the reference.
_INNER_SPANS = """
CREATE OR REPLACE TEMP TABLE spans AS
SELECT
    request_id,
    hash(request_id) AS id_hash,
    min(epoch_us(ts_raw)) AS lo,
    max(epoch_us(ts_raw) + ts_precision_us) AS hi,
    CAST(NULL AS INTEGER) AS status
FROM parsed
INNER JOIN timing USING (kind)
WHERE
    clock_id = $clock
    AND request_id IS NOT NULL
    AND timing = 'before_end'
    AND hash(request_id) % $thin = 0
GROUP BY request_id
HAVING count(*) > 1
"""

# A record follows the start of its request; most kinds also precede its end. What a
# gateway writes when it has finished may come after the edge has given up.
_INNER = """
SELECT
    epoch_us(parsed.ts_raw) + parsed.ts_precision_us - spans.lo + $slack AS upper,
    CASE
        WHEN
            timing.timing = 'before_end'
            AND (
                spans.status NOT IN (408, 499, 504)
                OR spans.status IS NULL
                OR parsed.kind IN (
                    'request_accepted', 'request_forwarded', 'request_received',
                    'request_added'
                )
            )
            THEN epoch_us(parsed.ts_raw) - spans.hi - $slack
    END AS lower
FROM parsed
INNER JOIN timing ON parsed.kind = timing.kind
INNER JOIN spans ON parsed.request_id = spans.request_id
WHERE
    parsed.clock_id = $clock
    AND NOT parsed.borrowed
    AND timing.timing IN ('before_end', 'after_start')
"""

# Seen from an access record of another edge, the roles are exchanged.
_ACCESS = """
SELECT
    epoch_us(parsed.ts_raw) + parsed.ts_precision_us - spans.lo + $slack AS upper,
    epoch_us(parsed.ts_raw) - CAST(parsed.duration_ms * 1000 AS BIGINT)
    - spans.hi - $slack AS lower
FROM parsed
INNER JOIN spans ON parsed.request_id = spans.request_id
WHERE
    parsed.clock_id = $clock
    AND parsed.kind = 'access'
    AND parsed.duration_ms IS NOT NULL
"""

# What a tied clock adds: ids that the spans lack, and tighter ends for the others.
_REFINE = """
CREATE OR REPLACE TEMP TABLE spans AS
WITH added AS (
    SELECT
        parsed.request_id,
        min(epoch_us(parsed.ts_raw)) FILTER (
            WHERE parsed.kind IN (
                'request_accepted', 'request_received', 'request_added', 'access'
            )
        ) AS first,
        max(epoch_us(parsed.ts_raw) + parsed.ts_precision_us) FILTER (
            WHERE parsed.kind IN ('request_completed', 'access')
        ) AS last,
        any_value(CAST(parsed.duration_ms * 1000 AS BIGINT)) FILTER (
            WHERE parsed.kind = 'access'
        ) AS duration
    FROM parsed
    WHERE
        parsed.clock_id = $clock
        AND parsed.request_id IS NOT NULL
        AND NOT parsed.borrowed
        AND hash(parsed.request_id) % $thin = 0
    GROUP BY parsed.request_id
),

moved AS (
    SELECT
        request_id,
        first - coalesce(duration, 0) - $hi - $slack AS lo,
        last - $lo + $slack AS hi
    FROM added
    WHERE first IS NOT NULL
)

SELECT
    coalesce(spans.request_id, moved.request_id) AS request_id,
    hash(coalesce(spans.request_id, moved.request_id)) AS id_hash,
    coalesce(greatest(spans.lo, moved.lo), spans.lo, moved.lo) AS lo,
    coalesce(least(spans.hi, moved.hi), spans.hi, moved.hi) AS hi,
    spans.status
FROM spans
FULL JOIN moved ON spans.request_id = moved.request_id
"""

_SHARED = """
SELECT parsed.clock_id, count(DISTINCT parsed.request_id) AS shared
FROM parsed
INNER JOIN spans ON parsed.request_id = spans.request_id
GROUP BY parsed.clock_id
"""


class Bounds:
    """Spans of requests in reference time, and what they say of a clock.

    Reads the relations `parsed` (events as logged, with clock_id and resolved ids)
    and `timing` (kind, timing) of the connection.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._thin = 1

    def start(self, clock: str, role: Role, requests: int) -> None:
        """Take the spans from the reference clock, which knows so many requests."""
        self._thin = max(1, requests // ENOUGH)
        query = _SPANS if role == "access" else _INNER_SPANS
        self._con.execute(query, {"clock": clock, "thin": self._thin})

    def refine(self, clock: str, lo_us: int, hi_us: int) -> None:
        """Add what a clock, tied with these bounds of its offset, knows of requests."""
        self._con.execute(
            _REFINE,
            {
                "clock": clock,
                "thin": self._thin,
                "lo": lo_us,
                "hi": hi_us,
                "slack": SLACK_US,
            },
        )

    def shared(self) -> dict[str, int]:
        """Count the requests of the spans that each clock knows."""
        return dict(self._con.execute(_SHARED).fetchall())

    def of(self, clock: str, role: Role) -> tuple[Microseconds, Microseconds]:
        """Give the upper and lower bounds of a clock's offset, in microseconds."""
        query = _ACCESS if role == "access" else _INNER
        found = self._con.execute(
            query, {"clock": clock, "slack": SLACK_US}
        ).fetchnumpy()
        return _present(found["upper"]), _present(found["lower"])


def _present(column: NDArray[Any]) -> Microseconds:
    """Leave the NULLs out."""
    if isinstance(column, np.ma.MaskedArray):
        column = column.compressed()
    return np.asarray(column, dtype=np.int64)
