"""Ties the clocks of a case to one reference, or says that nothing ties them."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import duckdb
import pyarrow as pa

from faultlayer import schema
from faultlayer.clocks import exchanges, machines, moments, siblings, turns
from faultlayer.clocks.bounds import Bounds, Role
from faultlayer.clocks.checks import Check, count
from faultlayer.clocks.clock import Clock, Segment, constant
from faultlayer.clocks.estimate import segments
from faultlayer.clocks.wishes import TOLD, Wishes

#: Shared requests and agreement below which a tie is called weak.
FEW_PAIRS = 3
GOOD_SUPPORT = 0.8
POOR_SUPPORT = 0.6

_BELIEVED = "shares no id with the reference, and is believed"

#: Share of contradictions above which an offset that was told is disputed.
DISPUTED = 0.2


@dataclass(frozen=True, slots=True)
class Tied:
    """The clocks of a case, as tables of `schema.CLOCKS` and `schema.TURNS`.

    `checks` tells how many constraints of shared requests contradict each clock.
    """

    clocks: pa.Table
    turns: pa.Table
    checks: list[Check]


def tie(con: duckdb.DuckDBPyConnection, wishes: Wishes) -> Tied:
    """Give the clocks of the case.

    Reads `sources`, `parsed` and `timing` of the connection (see `Bounds`).
    """
    clocks = _known(con)
    names = _paths(con)
    told = wishes.told(names)
    chosen = wishes.chosen(names)
    reference = chosen or _reference(clocks)
    tied: dict[str, Clock] = {}
    turned: list[turns.Turn] = []
    checks: list[Check] = []
    if reference is not None:
        method = TOLD if chosen else "most requests"
        if own := round(told[reference].whole.offset) if reference in told else 0:
            method = f"{TOLD}; all times are as this clock shows them"
        tied[reference] = Clock(reference, "reference", method, (constant(0, 0, 0),))
        # What is told is against the true time, from which the reference is off too.
        tied |= {
            name: replace(
                one, segments=tuple(part.moved(-own) for part in one.segments)
            )
            for name, one in told.items()
            if name != reference
        }
        turned, checks = _spread(con, tied, clocks, reference)
    waiting = [name for name in clocks if name not in tied]
    turned += _beside(con, tied, waiting)
    waiting = [name for name in waiting if name not in tied]
    for clock in exchanges.match(con, tied, waiting):
        tied[clock.clock_id] = clock
    waiting = [name for name in waiting if name not in tied]
    others, more, counted = _others(con, tied, clocks, reference, waiting)
    turned, checks = turned + more, checks + counted
    edges = ([reference] if reference else []) + others
    waiting = [name for name in waiting if name not in tied]
    for clock in moments.match(con, edges, waiting):
        tied[clock.clock_id] = clock
    waiting = [name for name in waiting if name not in tied]
    turned += _beside(con, tied, waiting)
    waiting = [name for name in waiting if name not in tied]
    rest = [
        Clock(name, "untied", "no shared request ids")
        for name in waiting
        if name not in tied
    ]
    rows = sorted((asdict(one) for one in turned), key=lambda row: tuple(row.values()))
    return Tied(
        _table([*tied.values(), *rest]),
        pa.Table.from_pylist(rows, schema=schema.arrow(schema.TURNS)),
        sorted(checks, key=lambda check: check.clock_id),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What a clock's sources hold: access records, and records with an id.

    `proxy`: its program stands before others.
    """

    exchanges: int
    records: int
    proxy: bool = False

    @property
    def role(self) -> Role:
        return "access" if self.exchanges else "inner"


def _paths(con: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Give the clocks with the paths of their sources."""
    rows = con.execute(
        "SELECT clock_id, list(path ORDER BY path) FROM sources"
        " WHERE clock_id IS NOT NULL AND events > 0 GROUP BY clock_id"
    ).fetchall()
    return dict(rows)


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
            sum(counts.records)::BIGINT,
            bool_or(is_proxy(sources.component))
        FROM sources
        INNER JOIN counts ON sources.source_id = counts.source_id
        WHERE sources.clock_id IS NOT NULL
        GROUP BY sources.clock_id
        ORDER BY sources.clock_id
        """
    ).fetchall()
    return {name: _Known(*counts) for name, *counts in rows}


def _reference(clocks: dict[str, _Known]) -> str | None:
    """Choose the edge's clock, else that with most exchanges, or with most ids."""
    useful = [
        name for name, known in clocks.items() if known.exchanges or known.records
    ]
    most = max((clocks[name].exchanges for name in useful), default=0)

    def rank(name: str) -> tuple[bool, int, int]:
        known = clocks[name]
        # The edge's word, unless a gateway behind it saw far more.
        edge = known.proxy and 2 * known.exchanges >= most > 0
        return edge, known.exchanges, known.records

    return max(sorted(useful, reverse=True), key=rank, default=None)


def _beside(
    con: duckdb.DuckDBPyConnection, tied: dict[str, Clock], waiting: list[str]
) -> list[turns.Turn]:
    """Tie clocks through those of their own log or machine; give where they turned."""
    turned: list[turns.Turn] = []
    for through in (siblings.borrow, machines.share):
        waiting = [name for name in waiting if name not in tied]
        for clock in through(con, tied, waiting):
            tied[clock.clock_id] = clock
            turned += turns.find(con, clock, by_id=False)
    return turned


def _others(
    con: duckdb.DuckDBPyConnection,
    tied: dict[str, Clock],
    clocks: dict[str, _Known],
    reference: str | None,
    waiting: list[str],
) -> tuple[list[str], list[turns.Turn], list[Check]]:
    """Tie the clocks of further stacks, each to its own edge; give these edges.

    Several stacks in one archive have no request in common. Their edges are believed; of
    one that writes no zone it is not known, unless the reference writes none either.
    """
    turned: list[turns.Turn] = []
    checks: list[Check] = []
    edges = [
        name for name in waiting if clocks[name].exchanges and clocks[name].records
    ]
    if reference is None or not edges or len(waiting) == 1:
        return [], turned, checks
    rows = con.execute(
        "SELECT clock_id, bool_and(coalesce(zoned, FALSE)) FROM sources"
        " WHERE events > 0 GROUP BY clock_id"
    ).fetchall()
    zoned = dict(rows)
    rest = {name: clocks[name] for name in waiting}
    found: list[str] = []
    while edge := _reference({name: rest[name] for name in edges if name in rest}):
        group = {edge: Clock(edge, "weak", _BELIEVED, (constant(0, 0, 0),))}
        if zoned[edge] or not zoned[reference]:
            more, counted = _spread(con, group, rest, edge)
            if len(group) > 1:
                found.append(edge)
                tied |= group
                turned, checks = turned + more, checks + counted
        rest = {name: one for name, one in rest.items() if name not in group}
    return found, turned, checks


def _spread(
    con: duckdb.DuckDBPyConnection,
    tied: dict[str, Clock],
    clocks: dict[str, _Known],
    reference: str,
) -> tuple[list[turns.Turn], list[Check]]:
    """Tie clock after clock by the ids that they share with those tied already.

    Give where they were set back, and what contradicts them.
    """
    turned: list[turns.Turn] = []
    checks: list[Check] = []
    if not any(known.records for name, known in clocks.items() if name != reference):
        return turned, checks
    known = clocks[reference]
    bounds = Bounds(con)
    requests = known.exchanges or known.records
    bounds.start(reference, known.role, requests, len(clocks))
    refused: set[str] = set()
    while True:
        shared = {
            name: count
            for name, count in bounds.shared().items()
            if name in clocks and name not in tied and name not in refused
        }
        if not shared:
            return turned, checks + _disputed(tied, clocks, bounds)
        name = max(sorted(shared), key=lambda item: shared[item])
        upper, lower = bounds.of(name, clocks[name].role)
        clock = _clock(name, segments(upper, lower))
        checks.append(count(upper, lower, clock or Clock(name, "untied", "")))
        if clock is None:
            refused.add(name)
            continue
        tied[name] = clock
        turned += turns.find(con, clock, by_id=True)
        bounds.refine(clock)


def _disputed(
    tied: dict[str, Clock], clocks: dict[str, _Known], bounds: Bounds
) -> list[Check]:
    """Count what contradicts the clocks that a user told of; say so of them, if most does."""
    checks = []
    for name, clock in tied.items():
        if clock.method != TOLD or clock.status == "reference":
            continue
        upper, lower = bounds.of(name, clocks[name].role)
        check = count(upper, lower, clock)
        checks.append(check)
        # Nothing that is off by as little as a told offset may be contradicts it.
        (line,) = clock.segments
        wrong = int((upper.value < line.low).sum() + (lower.value > line.high).sum())
        if wrong > DISPUTED * max(1, check.constraints):
            share = round(100 * wrong / check.constraints)
            method = f"{TOLD}, against {share} % of what its requests demand"
            tied[name] = replace(clock, method=method)
    return checks


def _clock(name: str, found: list[Segment]) -> Clock | None:
    """Say how well the segments tie a clock; None where they do not."""
    pairs = sum(one.pairs for one in found)
    if not pairs:
        return None
    # The share of agreement of all requests, not of a short segment.
    support = sum((one.support or 0.0) * one.pairs for one in found) / pairs
    if support < POOR_SUPPORT:
        return None
    good = pairs >= FEW_PAIRS and support >= GOOD_SUPPORT
    status = "tied" if good else "weak"
    return Clock(name, status, "shared request ids", tuple(found))


def _table(clocks: list[Clock]) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for clock in sorted(clocks, key=lambda item: item.clock_id):
        row = {
            "clock_id": clock.clock_id,
            "segment": 0,
            "method": clock.method,
            "status": clock.status,
            "pairs": 0,
        }
        if not clock.segments:
            rows.append(row)
        rows += [
            row
            | {
                "segment": number,
                "valid_from": _time(one.start),
                "valid_to": _time(one.end),
                "anchor_ts": _time(one.anchor),
                "offset_us": round(one.offset),
                "drift_ppm": one.slope * 1e6,
                "lo_us": math.floor(one.low),
                "hi_us": math.ceil(one.high),
                "pairs": one.pairs,
                "support": one.support,
                "time_zone_us": one.zone_us,
            }
            for number, one in enumerate(clock.segments)
        ]
    return pa.Table.from_pylist(rows, schema=schema.arrow(schema.CLOCKS))


def _time(us: float | None) -> int | None:
    return None if us is None else round(us)
