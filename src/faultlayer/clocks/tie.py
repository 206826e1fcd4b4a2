"""Ties the clocks of a case to one reference, or says that nothing ties them."""

import duckdb
import pyarrow as pa

from faultlayer import schema
from faultlayer.clocks import moments, siblings
from faultlayer.clocks.bounds import Bounds, Role
from faultlayer.clocks.clock import Clock
from faultlayer.clocks.estimate import Segment, segments

#: Shared requests and agreement below which a tie is called weak.
FEW_PAIRS = 3
GOOD_SUPPORT = 0.8
POOR_SUPPORT = 0.6


def tie(con: duckdb.DuckDBPyConnection) -> pa.Table:
    """Give the clocks of the case as a table of `schema.CLOCKS`.

    Reads `sources`, `parsed` and `timing` of the connection (see `Bounds`).
    """
    roles = _roles(con)
    reference = _reference(con)
    tied: dict[str, Clock] = {}
    if reference is not None:
        name, role, requests = reference
        tied[name] = Clock(name, "reference", "most requests", support=None)
        _spread(con, tied, roles, name, role, requests)
    waiting = [name for name in roles if name not in tied]
    for clock in siblings.borrow(con, tied, waiting):
        tied[clock.clock_id] = clock
    waiting = [name for name in waiting if name not in tied]
    for clock in moments.match(con, tied, waiting):
        tied[clock.clock_id] = clock
    rest = [
        Clock(name, "untied", "no shared request ids")
        for name in waiting
        if name not in tied
    ]
    return _table([*tied.values(), *rest])


def _roles(con: duckdb.DuckDBPyConnection) -> dict[str, Role]:
    rows = con.execute(
        """
        SELECT sources.clock_id, coalesce(bool_or(access.clock_id IS NOT NULL), FALSE)
        FROM sources
        LEFT JOIN (SELECT DISTINCT clock_id FROM parsed WHERE kind = 'access') AS access
            ON sources.clock_id = access.clock_id
        WHERE sources.events > 0 AND sources.clock_id IS NOT NULL
        GROUP BY sources.clock_id
        ORDER BY sources.clock_id
        """
    ).fetchall()
    return {name: "access" if access else "inner" for name, access in rows}


def _reference(con: duckdb.DuckDBPyConnection) -> tuple[str, Role, int] | None:
    rows = con.execute(
        """
        SELECT
            parsed.clock_id,
            bool_or(parsed.kind = 'access') AS access,
            count(*) FILTER (WHERE parsed.kind = 'access') AS exchanges,
            count(parsed.request_id) AS records
        FROM parsed
        WHERE parsed.kind = 'access' OR parsed.request_id IS NOT NULL
        GROUP BY parsed.clock_id
        ORDER BY access DESC, exchanges DESC, records DESC, parsed.clock_id
        LIMIT 1
        """
    ).fetchall()
    if not rows:
        return None
    name, access, exchanges, records = rows[0]
    return name, "access" if access else "inner", exchanges or records


def _spread(
    con: duckdb.DuckDBPyConnection,
    tied: dict[str, Clock],
    roles: dict[str, Role],
    reference: str,
    role: Role,
    requests: int,
) -> None:
    """Tie clock after clock by the ids that they share with those tied already."""
    if len(roles) == 1:
        return
    bounds = Bounds(con)
    bounds.start(reference, role, requests)
    refused: set[str] = set()
    while True:
        shared = {
            name: count
            for name, count in bounds.shared().items()
            if name not in tied and name not in refused
        }
        if not shared:
            return
        name = max(sorted(shared), key=lambda item: shared[item])
        found = segments(*bounds.of(name, roles[name]))
        if not found or found[0].support < POOR_SUPPORT:
            refused.add(name)
            continue
        tied[name] = _clock(name, found[0])
        bounds.refine(name, found[0].lo_us, found[0].hi_us)


def _clock(name: str, segment: Segment) -> Clock:
    good = segment.pairs >= FEW_PAIRS and segment.support >= GOOD_SUPPORT
    return Clock(
        name,
        "tied" if good else "weak",
        "shared request ids",
        segment.offset_us,
        segment.lo_us,
        segment.hi_us,
        segment.pairs,
        segment.support,
    )


def _table(clocks: list[Clock]) -> pa.Table:
    rows = [
        {
            "clock_id": clock.clock_id,
            "segment": 0,
            "offset_us": clock.offset_us if clock.status != "untied" else None,
            "drift_ppm": 0.0 if clock.status != "untied" else None,
            "lo_us": clock.lo_us if clock.status != "untied" else None,
            "hi_us": clock.hi_us if clock.status != "untied" else None,
            "pairs": clock.pairs,
            "support": clock.support,
            "method": clock.method,
            "status": clock.status,
            "time_zone_us": clock.zone_us if clock.status != "untied" else None,
        }
        for clock in sorted(clocks, key=lambda item: item.clock_id)
    ]
    return pa.Table.from_pylist(rows, schema=schema.arrow(schema.CLOCKS))
