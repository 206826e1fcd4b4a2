"""Clocks of one machine, as its name in the records tells: its kernel and its programs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import duckdb

from faultlayer.clocks.clock import Clock

# A folder is called as anyone likes; only the records' own word counts. Stamps that count
# from the start of a machine are another clock. Where records name several machines, the
# log is of none.
_MACHINES = """
WITH named AS (
    SELECT DISTINCT
        sources.clock_id,
        lower(coalesce(
            events_raw.host,
            CASE
                WHEN
                    events_raw.layer IN ('host', 'model')
                    AND contains(events_raw.attrs, '"host":')
                    THEN events_raw.attrs ->> '$.host'
            END
        )) AS host
    FROM events_raw
    INNER JOIN sources ON events_raw.source_id = sources.source_id
    WHERE list_contains($clocks, sources.clock_id)
),

dated AS (
    SELECT
        clock_id,
        bool_and(coalesce(zoned, FALSE)) AS zoned
    FROM sources
    WHERE events > 0 AND first_ts IS NOT NULL
    GROUP BY clock_id
    HAVING min(first_ts) > TIMESTAMP '1990-01-01'
)

SELECT
    named.clock_id,
    min(named.host) AS host,
    any_value(dated.zoned) AS zoned
FROM named
INNER JOIN dated ON named.clock_id = dated.clock_id
WHERE named.host IS NOT NULL
GROUP BY named.clock_id
HAVING
    count(DISTINCT named.host) = 1
    AND min(named.host) NOT IN ('', '-', 'localhost', '127.0.0.1')
ORDER BY named.clock_id
"""


@dataclass(frozen=True, slots=True)
class _Machine:
    """What a clock's records say of where it runs, and whether they write the zone."""

    host: str
    zoned: bool


def share(
    con: duckdb.DuckDBPyConnection, tied: dict[str, Clock], waiting: list[str]
) -> list[Clock]:
    """Tie clocks through a tied one of the same machine.

    One clock keeps the time of a machine, but each program writes it in a zone of its
    own: a log without zones is tied through another one without only, and weakly.
    """
    mine = _machines(con, waiting)
    if not mine:
        return []
    others = _machines(con, tied)
    found = []
    for name, machine in mine.items():
        alike = [
            (other.zoned == machine.zoned, tied[of].status != "weak", of)
            for of, other in others.items()
            if other.host == machine.host and (machine.zoned or not other.zoned)
        ]
        if alike:
            same, sure, of = max(alike, key=lambda one: one[:2])
            found.append(_as(tied[of], name, machine, same=same, sure=sure))
    return found


def _as(clock: Clock, name: str, machine: _Machine, *, same: bool, sure: bool) -> Clock:
    sure = sure and machine.zoned
    method = f"the clock of {clock.clock_id} on {machine.host}"
    if not machine.zoned:
        method += ", in the same zone as assumed"
    segments = tuple(
        replace(one if same else one.moved(-one.zone_us), pairs=0)
        for one in clock.segments
    )
    return Clock(name, "tied" if sure else "weak", method, segments)


def _machines(
    con: duckdb.DuckDBPyConnection, clocks: Iterable[str]
) -> dict[str, _Machine]:
    rows = con.execute(_MACHINES, {"clocks": list(clocks)}).fetchall()
    return {name: _Machine(host, bool(zoned)) for name, host, zoned in rows}
