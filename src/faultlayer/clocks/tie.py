"""Ties the clocks of a case to one reference, or says that nothing ties them."""

from dataclasses import dataclass

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
    clocks = _known(con)
    reference = _reference(clocks)
    tied: dict[str, Clock] = {}
    if reference is not None:
        tied[reference] = Clock(reference, "reference", "most requests", support=None)
        _spread(con, tied, clocks, reference)
    waiting = [name for name in clocks if name not in tied]
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


@dataclass(frozen=True, slots=True)
class _Known:
    """What a clock's sources hold: access records, and records with an id."""

    exchanges: int
    records: int

    @property
    def role(self) -> Role:
        return "access" if self.exchanges else "inner"


def _known(con: duckdb.DuckDBPyConnection) -> dict[str, _Known]:
    """Count what the sources of each clock hold; a lonely clock needs no count."""
    names = con.execute(
        "SELECT DISTINCT clock_id FROM sources WHERE events > 0 ORDER BY clock_id"
    ).fetchall()
    if len(names) == 1:
        return {names[0][0]: _Known(1, 1)}
    rows = con.execute(
        """
        WITH counts AS (
            SELECT
                source_id,
                count(*) FILTER (WHERE kind = 'access') AS exchanges,
                count(request_id) AS records
            FROM events_raw
            GROUP BY source_id
        )

        SELECT
            sources.clock_id,
            sum(counts.exchanges)::BIGINT,
            sum(counts.records)::BIGINT
        FROM sources
        INNER JOIN counts ON sources.source_id = counts.source_id
        WHERE sources.clock_id IS NOT NULL
        GROUP BY sources.clock_id
        ORDER BY sources.clock_id
        """
    ).fetchall()
    return {name: _Known(exchanges, records) for name, exchanges, records in rows}


def _reference(clocks: dict[str, _Known]) -> str | None:
    """Choose the clock with most exchanges, else the one with most ids."""
    useful = [
        name for name, known in clocks.items() if known.exchanges or known.records
    ]
    return max(
        sorted(useful, reverse=True),
        key=lambda name: (clocks[name].exchanges, clocks[name].records),
        default=None,
    )


def _spread(
    con: duckdb.DuckDBPyConnection,
    tied: dict[str, Clock],
    clocks: dict[str, _Known],
    reference: str,
) -> None:
    """Tie clock after clock by the ids that they share with those tied already."""
    if not any(known.records for name, known in clocks.items() if name != reference):
        return
    known = clocks[reference]
    bounds = Bounds(con)
    bounds.start(reference, known.role, known.exchanges or known.records)
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
        found = segments(*bounds.of(name, clocks[name].role))
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
