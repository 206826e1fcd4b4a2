"""Clocks without shared ids, tied by an outage that two logs saw.

One death and one recovery in an engine's log, and one stretch of failures between
served requests at the edge: the death lies between the last request that was served
before and the first that failed, the recovery between the last that failed and the
first that was served after. That bounds the offset, widely, so the tie is weak.
"""

import duckdb

from faultlayer.clocks.clock import QUARTER_US, Clock, constant

_DEATHS = """
WITH starts AS (
    SELECT epoch_us(ts_raw) AS ts, ts_precision_us
    FROM parsed
    WHERE
        clock_id = $clock
        AND layer = 'model'
        AND severity IN ('error', 'critical')
        AND (kind = 'engine_dead' OR list_contains(kinds, 'engine_dead'))
),

ready AS (
    SELECT epoch_us(ts_raw) AS ts
    FROM parsed
    WHERE clock_id = $clock AND kind = 'engine_ready'
)

SELECT
    min(starts.ts) AS death,
    max(starts.ts) AS last_death,
    max(starts.ts_precision_us) AS precision,
    (SELECT min(ready.ts) FROM ready WHERE ready.ts > min(starts.ts)) AS ready,
    (SELECT count(*) FROM ready WHERE ready.ts > min(starts.ts)) AS recoveries
FROM starts
"""

# Failures that a dead engine can cause; what the edge refused itself is no witness.
_OUTAGE = """
WITH exchanges AS (
    SELECT
        epoch_us(ts_raw) - coalesce(CAST(duration_ms * 1000 AS BIGINT), 0) AS begun,
        epoch_us(ts_raw) AS ended,
        ts_precision_us AS precision,
        status
    FROM parsed
    WHERE clock_id = $edge AND kind = 'access'
),

failed AS (
    SELECT min(ended) AS first, max(begun) AS last, max(precision) AS precision
    FROM exchanges
    WHERE status IN (500, 502, 503, 504)
)

SELECT
    failed.first,
    failed.last,
    failed.precision,
    (
        SELECT max(exchanges.ended)
        FROM exchanges
        WHERE exchanges.status < 400 AND exchanges.ended < failed.first
    ) AS served_before,
    (
        SELECT min(exchanges.ended)
        FROM exchanges
        WHERE exchanges.status < 400 AND exchanges.begun > failed.last
    ) AS served_after,
    (
        SELECT count(*)
        FROM exchanges
        WHERE
            exchanges.status < 400
            AND exchanges.begun > failed.first + failed.precision
            AND exchanges.ended < failed.last
    ) AS served_between
FROM failed
"""


def match(
    con: duckdb.DuckDBPyConnection, tied: dict[str, Clock], waiting: list[str]
) -> list[Clock]:
    """Tie engine logs without ids to the reference by their only outage, weakly."""
    edge = next((c.clock_id for c in tied.values() if c.status == "reference"), None)
    if edge is None or not waiting:
        return []
    outage = con.execute(_OUTAGE, {"edge": edge}).fetchone()
    if outage is None or outage[0] is None or outage[5]:
        return []
    first, last, edge_precision, before, after, _ = outage
    found: list[Clock] = []
    for name in waiting:
        row = con.execute(_DEATHS, {"clock": name}).fetchone()
        if row is None or row[0] is None or before is None:
            continue
        death, last_death, precision, ready, _ = row
        if ready is not None and last_death > ready:
            continue
        room = precision + edge_precision
        lo = death - first - room
        hi = death - before + room
        if ready is not None and after is not None:
            lo = max(lo, ready - after - room)
            hi = min(hi, ready - last + room)
        if lo > hi:
            continue
        found.append(
            Clock(
                name,
                "weak",
                "one outage seen by both",
                (constant(_plain(lo, hi), lo, hi, 1),),
            )
        )
    return found


def _plain(lo: int, hi: int) -> int:
    """Choose a whole time zone when the bounds allow one, else their middle."""
    zone = round((lo + hi) / 2 / QUARTER_US) * QUARTER_US
    return zone if lo <= zone <= hi else (lo + hi) // 2
