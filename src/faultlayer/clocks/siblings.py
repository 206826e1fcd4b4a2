"""Clocks of one host that differ only in whether the zone is written."""

from dataclasses import replace

import duckdb

from faultlayer.clocks.clock import Clock

# The same exchange in the access log and in the error log of one server: the seconds
# agree, whatever the zone makes of the hours. Some of the records tell it as well as all.
_VOTES = """
WITH errors AS (
    SELECT DISTINCT client, epoch_us(ts_raw) AS ts
    FROM parsed
    WHERE clock_id = $clock AND client IS NOT NULL AND kind <> 'access'
    ORDER BY hash(client, ts), client, ts
    LIMIT $most
),

zones AS (
    SELECT unnest(generate_series(-60, 60)) * 900000000 AS zone
),

moments AS (
    SELECT
        errors.client,
        errors.ts,
        zones.zone,
        unnest(
            generate_series(
                (errors.ts - zones.zone - 2000000) // 1000000,
                (errors.ts - zones.zone + 2000000) // 1000000
            )
        ) AS second
    FROM errors
    CROSS JOIN zones
),

failed AS (
    SELECT client, epoch_us(ts_raw) AS ts, epoch_us(ts_raw) // 1000000 AS second
    FROM parsed
    WHERE clock_id = $sibling AND kind = 'access' AND status >= 400
),

votes AS (
    SELECT moments.zone, count(DISTINCT moments.ts) AS votes
    FROM moments
    INNER JOIN failed
        ON
            moments.client = failed.client
            AND moments.second = failed.second
            AND abs(moments.ts - moments.zone - failed.ts) <= 2000000
    GROUP BY moments.zone
)

SELECT zone, votes FROM votes ORDER BY votes DESC, abs(zone), zone LIMIT 1
"""

#: So many moments of trouble at the edge are enough.
_MOST = 500

_PAIRS = """
SELECT DISTINCT other.clock_id
FROM sources AS mine
INNER JOIN sources AS other
    ON
        (
            mine.component = other.component
            -- What is nginx inside writes its error log as nginx does.
            OR (mine.component = 'nginx' AND other.component IN ('kong', 'apisix'))
            -- Native code below an engine has no log of its own.
            OR (mine.component = 'native' AND other.layer = 'model')
        )
        AND regexp_replace(mine.path, '[^/]*$', '')
        = regexp_replace(other.path, '[^/]*$', '')
WHERE mine.clock_id = $clock AND other.clock_id <> mine.clock_id
ORDER BY other.clock_id
"""


def borrow(
    con: duckdb.DuckDBPyConnection, tied: dict[str, Clock], waiting: list[str]
) -> list[Clock]:
    """Tie clocks through a tied log of the same program in the same folder."""
    found: list[Clock] = []
    for name in waiting:
        others = [row[0] for row in con.execute(_PAIRS, {"clock": name}).fetchall()]
        sibling = next((tied[other] for other in others if other in tied), None)
        if sibling is None:
            continue
        votes = con.execute(
            _VOTES,
            {"clock": name, "sibling": sibling.clock_id, "most": _MOST},
        ).fetchone()
        zone, count = votes or (0, 0)
        found.append(
            Clock(
                name,
                "tied" if count else "weak",
                f"the clock of {sibling.clock_id}"
                + ("" if count else ", zone assumed to be UTC"),
                tuple(
                    replace(one.moved(zone), pairs=count) for one in sibling.segments
                ),
            )
        )
    return found
