"""Clocks of one host that differ only in whether the zone is written."""

from dataclasses import replace

import duckdb

from faultlayer.clocks.clock import Clock

# The same exchange in the access log and in the error log of one server: the seconds
# agree, whatever the zone makes of the hours.
_VOTES = """
WITH errors AS (
    SELECT client, epoch_us(ts_raw) AS ts
    FROM parsed
    WHERE clock_id = $clock AND client IS NOT NULL AND kind <> 'access'
),

failed AS (
    SELECT client, epoch_us(ts_raw) AS ts
    FROM parsed
    WHERE clock_id = $sibling AND kind = 'access' AND status >= 400
),

votes AS (
    SELECT
        CAST(round((errors.ts - failed.ts) / 9e8) AS BIGINT) * 900000000 AS zone,
        count(DISTINCT errors.ts) AS votes
    FROM errors
    INNER JOIN failed ON errors.client = failed.client
    WHERE
        abs(errors.ts - failed.ts - round((errors.ts - failed.ts) / 9e8) * 9e8) <= 2e6
        AND abs(errors.ts - failed.ts) <= 15 * 3600 * 1e6
    GROUP BY 1
)

SELECT zone, votes FROM votes ORDER BY votes DESC, abs(zone), zone LIMIT 1
"""

_PAIRS = """
SELECT DISTINCT other.clock_id
FROM sources AS mine
INNER JOIN sources AS other
    ON
        (
            mine.component = other.component
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
            _VOTES, {"clock": name, "sibling": sibling.clock_id}
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
