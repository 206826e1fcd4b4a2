"""The bounds that shared ids put on a clock, found by joins on ids only."""

from typing import Any, Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

from faultlayer.clocks import turns
from faultlayer.clocks.agreement import Bounds as OneSided
from faultlayer.clocks.agreement import Floats
from faultlayer.clocks.clock import Clock

#: Room for records that are written a moment after what they describe, us.
SLACK_US = 2_000

#: Room for an edge of whole seconds that ends an exchange once it has the answer, us.
ANSWERED_US = 2_000_000

#: More shared requests than this are thinned out by a hash of the id.
ENOUGH = 400_000

#: Stamps of a finer clock than this need no other's for the ends of requests, us.
FINE_US = 10_000

#: Clocks from which on their records are gathered before.
MANY = 8

Role = Literal["access", "inner"]

# Ids are joined by their hashes: of a billion requests two might share one. A remainder
# of types that differ would be taken in 128 bits, at ten times the cost. Two logs of one
# server may tell of the same exchange; then the finer stamp counts.
_SPANS = """
CREATE OR REPLACE TEMP TABLE spans AS
SELECT
    hash(request_id) AS id_hash,
    max(epoch_us(ts_raw) - CAST(duration_ms * 1000 AS BIGINT)) AS lo,
    min(epoch_us(ts_raw) + ts_precision_us) AS hi,
    min(status) AS status
FROM parsed
WHERE
    clock_id = $clock
    AND kind = 'access'
    AND request_id IS NOT NULL
    AND (
        duration_ms IS NOT NULL
        -- An edge that logs no durations says no starts.
        OR NOT EXISTS (FROM parsed AS one WHERE one.clock_id = $clock
            AND one.kind = 'access' AND one.duration_ms IS NOT NULL LIMIT 1)
    )
    AND hash(request_id) % CAST($thin AS UBIGINT) = 0
GROUP BY id_hash
HAVING
    (count(*) = count(DISTINCT source_id)  -- or a line was shipped again
        OR (min(ts_raw), min(duration_ms)) = (max(ts_raw), max(duration_ms)))
    AND coalesce(max(epoch_us(ts_raw) - CAST(duration_ms * 1000 AS BIGINT)), 0)
    <= min(epoch_us(ts_raw) + ts_precision_us)
"""

# Without any access log the clock that knows most requests is the reference.
_INNER_SPANS = """
CREATE OR REPLACE TEMP TABLE spans AS
SELECT
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
    AND hash(request_id) % CAST($thin AS UBIGINT) = 0
GROUP BY id_hash
HAVING count(*) > 1
"""

_ARRIVALS = """(
    'request_accepted', 'request_forwarded', 'request_received', 'request_added'
)"""

# A record follows the start of its request; most kinds also precede its end. What a
# gateway writes when it has finished may come after the edge has given up. Each bound
# holds at the moment of the reference that is nearest to the record. Records that lie
# further apart than their request lasted are of several that share the id; where most
# are, the last ones are written late, and only arrivals precede the end.
_INNER = f"""
WITH mine AS (
    SELECT
        told.id_hash,
        told.kind,
        epoch_us(told.ts_raw) AS ts,
        told.ts_precision_us AS precision,
        timing.timing = 'before_end'
        AND (NOT $late OR told.kind IN {_ARRIVALS}) AS before_end
    FROM told
    INNER JOIN timing ON told.kind = timing.kind
    WHERE
        told.clock_id = $clock
        AND NOT told.borrowed
        AND timing.timing IN ('before_end', 'after_start')
),

shares AS (
    SELECT
        mine.id_hash,
        any_value(spans.lo) AS lo,
        any_value(spans.hi) AS hi,
        any_value(spans.status) AS status,
        coalesce(
            max(mine.ts) FILTER (WHERE mine.before_end)
            - min(mine.ts) FILTER (WHERE mine.before_end)
            <= any_value(spans.hi) - any_value(spans.lo)
            + max(mine.precision) + 2 * $slack,
            TRUE
        ) AS fits
    FROM mine
    INNER JOIN spans ON mine.id_hash = spans.id_hash
    GROUP BY mine.id_hash
)

SELECT
    CASE
        WHEN
            mine.kind IN {_ARRIVALS}
            THEN coalesce(shares.lo, shares.hi)
        ELSE coalesce(shares.hi, shares.lo)
    END AS near,
    -- Where the start is unknown, the end: it is written when the answer is complete.
    CASE
        WHEN shares.lo IS NOT NULL
            THEN mine.ts + mine.precision - shares.lo + $slack
        WHEN mine.kind = 'request_completed' AND shares.status < 400
            THEN mine.ts + mine.precision - shares.hi + $answered
    END AS upper,
    CASE
        WHEN
            mine.before_end
            AND (
                shares.status NOT IN (408, 499, 504)
                OR shares.status IS NULL
                OR mine.kind IN {_ARRIVALS}
            )
            THEN mine.ts - shares.hi - $slack
    END AS lower,
    shares.fits
FROM mine
INNER JOIN shares ON mine.id_hash = shares.id_hash
"""

# Seen from an access record of another edge, the roles are exchanged.
_ACCESS = """
SELECT
    coalesce(spans.hi, spans.lo) AS near,
    epoch_us(told.ts_raw) + told.ts_precision_us - spans.lo + $slack AS upper,
    epoch_us(told.ts_raw) - CAST(told.duration_ms * 1000 AS BIGINT)
    - spans.hi - $slack AS lower,
    TRUE AS fits
FROM told
INNER JOIN spans ON told.id_hash = spans.id_hash
WHERE
    told.clock_id = $clock
    AND told.kind = 'access'
    AND told.duration_ms IS NOT NULL
"""

# What a tied clock adds: ids that the spans lack and, where those are of a coarse clock,
# tighter ends: a record that was written late would make them false.
_REFINE = """
CREATE OR REPLACE TEMP TABLE spans AS
WITH added AS (
    SELECT
        told.id_hash,
        min(epoch_us(told.ts_raw)) FILTER (
            WHERE told.kind IN (
                'request_accepted', 'request_received', 'request_added', 'access'
            )
        ) AS first,
        min(epoch_us(told.ts_raw)) FILTER (
            WHERE told.kind IN ('request_accepted', 'access')
        ) AS begun,
        max(epoch_us(told.ts_raw) + told.ts_precision_us) FILTER (
            WHERE told.kind IN ('request_completed', 'access')
        ) AS last,
        any_value(CAST(told.duration_ms * 1000 AS BIGINT)) FILTER (
            WHERE told.kind = 'access'
        ) AS duration
    FROM told
    WHERE
        told.clock_id = $clock
        AND NOT told.borrowed
        AND told.id_hash % CAST($thin AS UBIGINT) = 0
    GROUP BY 1
),

placed AS (
    SELECT
        added.id_hash,
        added.duration,
        $coarse AND added.first = added.begun AS tightens,
        (added.first - early.offset_us + early.slope * early.anchor)
        / (1 + early.slope) - early.above AS first,
        (added.last - late.offset_us + late.slope * late.anchor)
        / (1 + late.slope) + late.below AS last
    FROM added
    LEFT JOIN pieces AS early
        ON added.first >= early.reads_from AND added.first < early.reads_to
    LEFT JOIN pieces AS late
        ON added.last >= late.reads_from AND added.last < late.reads_to
),

moved AS (
    SELECT
        id_hash,
        tightens,
        CAST(floor(first) AS BIGINT) - coalesce(duration, 0) - $slack AS lo,
        CAST(ceil(last) AS BIGINT) + $slack AS hi
    FROM placed
    WHERE first IS NOT NULL
)

SELECT
    coalesce(spans.id_hash, moved.id_hash) AS id_hash,
    CASE
        WHEN moved.tightens THEN greatest(spans.lo, moved.lo)
        ELSE coalesce(spans.lo, moved.lo)
    END AS lo,
    CASE
        WHEN $coarse THEN least(spans.hi, moved.hi)
        ELSE coalesce(spans.hi, moved.hi)
    END AS hi,
    spans.status
FROM spans
FULL JOIN moved ON spans.id_hash = moved.id_hash
"""

# Of many clocks the records with an id are gathered once: a query for each has to look
# through all files. Of few they are read where they lie.
_TOLD = """
SELECT
    clock_id,
    hash(request_id) AS id_hash,
    kind,
    ts_raw,
    ts_precision_us,
    duration_ms,
    status,
    borrowed
FROM parsed
WHERE
    request_id IS NOT NULL
    AND (kind = 'access' OR kind IN (SELECT kind FROM timing))
"""

_HASHES = """(
    SELECT clock_id, hash(request_id) AS id_hash
    FROM parsed
    WHERE request_id IS NOT NULL
)"""

# The ids of each clock, looked for once: the spans grow with every clock that is tied.
_IDS = """
CREATE OR REPLACE TEMP TABLE clock_ids AS
SELECT DISTINCT
    clock_id,
    id_hash
FROM {rows}
WHERE
    clock_id <> $clock
    AND id_hash % CAST($thin AS UBIGINT) = 0
"""

_FINEST = """
SELECT min(ts_precision_us)
FROM parsed
WHERE clock_id = $clock AND request_id IS NOT NULL
"""

_SHARED = """
SELECT clock_ids.clock_id, count(*) AS shared
FROM clock_ids
SEMI JOIN spans ON clock_ids.id_hash = spans.id_hash
GROUP BY clock_ids.clock_id
"""


class Bounds:
    """Spans of requests in reference time, and what they say of a clock.

    Reads the relations `parsed` (events as logged, with clock_id and resolved ids)
    and `timing` (kind, timing) of the connection.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._thin = 1
        self._coarse = False
        self._spans = -1
        self._shared: dict[str, int] = {}

    def start(self, clock: str, role: Role, requests: int, clocks: int) -> None:
        """Take the spans from the reference clock, which knows so many requests.

        `clocks` is how many there are in all.
        """
        self._thin = max(1, requests // ENOUGH)
        rows, ids = _TOLD, _HASHES
        if clocks > MANY:
            rows, ids = "FROM told_rows", "told_rows"
            self._con.execute(
                f"CREATE OR REPLACE TEMP TABLE told_rows AS {_TOLD}"
                f" AND hash(request_id) % {self._thin} = 0"
            )
        self._con.execute(f"CREATE OR REPLACE TEMP VIEW told AS {rows}")
        query = _SPANS if role == "access" else _INNER_SPANS
        known = {"clock": clock, "thin": self._thin}
        self._con.execute(query, known)
        self._con.execute(_IDS.format(rows=ids), known)
        finest = self._con.execute(_FINEST, {"clock": clock}).fetchone()
        self._coarse = bool(finest and (finest[0] or 0) > FINE_US)

    def refine(self, clock: Clock) -> None:
        """Add what a tied clock knows of requests."""
        self._con.register("pieces", turns.pieces(clock.segments))
        known = {
            "clock": clock.clock_id,
            "thin": self._thin,
            "slack": SLACK_US,
            "coarse": self._coarse,
        }
        self._con.execute(_REFINE, known)
        self._con.unregister("pieces")

    def shared(self) -> dict[str, int]:
        """Count the requests of the spans that each clock knows."""
        found = self._con.execute("SELECT count(*) FROM spans").fetchall()
        # They lose no id: as many as before are the same ones.
        if found[0][0] != self._spans:
            self._spans = found[0][0]
            self._shared = dict(self._con.execute(_SHARED).fetchall())
        return self._shared

    def of(self, clock: str, role: Role) -> tuple[OneSided, OneSided]:
        """Give the upper and lower bounds of a clock's offset, in microseconds."""
        query = _ACCESS if role == "access" else _INNER
        known: dict[str, Any] = {"clock": clock, "slack": SLACK_US}
        if role == "inner":
            known |= {"late": False, "answered": ANSWERED_US}
        found = self._con.execute(query, known).fetchnumpy()
        fits = np.ma.getdata(found["fits"]).astype(bool)
        if role == "inner" and 2 * fits.sum() < len(fits):
            found = self._con.execute(query, known | {"late": True}).fetchnumpy()
            fits = np.ma.getdata(found["fits"]).astype(bool)
        found = {name: column[fits] for name, column in found.items()}
        near = np.ma.getdata(found["near"]).astype(np.float64)
        return _present(near, found["upper"]), _present(near, found["lower"])


def _present(near: Floats, column: NDArray[Any]) -> OneSided:
    """Leave the NULLs out, and sort by time and value."""
    kept = ~np.ma.getmaskarray(column)
    at = near[kept]
    value = np.ma.getdata(column)[kept].astype(np.float64)
    order = np.argsort(at)
    # By value only where times are equal, which costs a tenth of sorting by both.
    tied = np.zeros(len(at), dtype=bool)
    same = np.diff(at[order]) == 0
    tied[:-1] |= same
    tied[1:] |= same
    some = order[tied]
    order[tied] = some[np.lexsort((value[some], at[some]))]
    return OneSided(at[order], value[order])
