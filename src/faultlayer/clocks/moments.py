"""Clocks without shared ids, tied by outages that two logs saw.

An engine's death, or the beginning of its silence, lies between the last request that was
served before at the edge and the first that failed; the recovery between the last that
failed and the first that was served after. That bounds the offset, widely, so the tie is
weak. Of several deaths and outages those are paired that most of the deaths agree on.
An engine that never came up while the edge served nobody has nothing to be paired by: its
clock is believed, within what clocks are wrong by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import duckdb
import numpy as np

from faultlayer.clocks.clock import QUARTER_US, Clock, constant

_SECOND = 1_000_000
#: Records of one death come within this of one another.
_ONE_DEATH_US = 15 * _SECOND
#: Without work for so long before a watchdog speaks, an engine hangs.
_SILENCE_US = 15 * _SECOND
#: How long ranks may have waited for one another before they say so, and how long an
#: engine may have been in trouble before a probe had it killed.
_WAITS = {"wait": 1800 * _SECOND, "probes": 60 * _SECOND}
#: More deaths or outages than these are no moments.
_MOST = 200
#: What a host's clock may be wrong by, and what one in another zone may.
_SKEW_US = 60 * _SECOND
_ZONE_SKEW_US = 15 * _SECOND
_YEAR_US = 366 * 86_400 * _SECOND
#: How long before the first failure that is kept a start can have failed.
_BEFORE_US = 3600 * _SECOND
#: Failures from which on something is said of an engine that came up late, in a zone that
#: is guessed; that never did, by stamps that must agree as they stand; or with a zone.
_FEW, _FEWER, _ONE = 3, 2, 1

# What ends an engine's service, in its own log. Of its first failed start nobody saw the
# beginning.
_WORDS = """
SELECT
    epoch_us(ts_raw) AS ts,
    coalesce(ts_precision_us, 1000000) AS ts_precision_us,
    kind = 'engine_ready' AS ready,
    kind = 'engine_progress' AS works,
    list_has_any(
        coalesce(kinds, [kind]),
        ['watchdog_kill', 'engine_unhealthy', 'engine_rpc_timeout']
    ) AS watched,
    list_has_any(
        coalesce(kinds, [kind]),
        [
            'engine_dead', 'worker_died', 'cuda_oom', 'illegal_memory_access',
            'device_assert', 'nccl_timeout', 'segfault', 'illegal_instruction',
            'gpu_ecc', 'gpu_lost', 'detokenizer_failure', 'probe_kill'
        ]
    )
    -- The kernel kills much else for want of memory.
    OR (
        list_contains(coalesce(kinds, [kind]), 'host_oom_kill')
        AND regexp_matches(
            message,
            '(?i)vllm|sglang|text-generation|triton|llama|lmdeploy|tensorrt|trtllm'
        )
    ) AS dead,
    CASE
        WHEN list_contains(coalesce(kinds, [kind]), 'nccl_timeout') THEN $wait
        WHEN kind = 'probe_kill' THEN $probes
        ELSE 0
    END AS waited_us,
    kind = 'engine_loading' AS loads,
    list_has_any(
        coalesce(kinds, [kind]),
        [
            'engine_start_failed', 'weights_missing', 'weights_corrupt',
            'weights_forbidden', 'architecture_mismatch', 'quantization_unsupported',
            'dependency_missing', 'backend_unsupported', 'port_in_use', 'shm_exhausted'
        ]
    ) AS fails
FROM parsed
WHERE
    clock_id = $clock
    AND (layer = 'model' OR kind = 'probe_kill')
    AND ts_raw IS NOT NULL
    AND request_id IS NULL
    AND (
        kind IN ('engine_ready', 'engine_progress', 'engine_loading', 'probe_kill')
        OR (
            coalesce(severity, 'error') IN ('error', 'critical')
            AND kind NOT IN ('other', 'engine_access', 'engine_stats')
        )
    )
ORDER BY ts, event_id
"""

# Most logs tell of no death: those that do are found at once.
_MORTAL = """
SELECT DISTINCT clock_id
FROM parsed
WHERE
    list_contains($clocks, clock_id)
    AND (layer = 'model' OR kind = 'probe_kill')
    AND ts_raw IS NOT NULL
    AND request_id IS NULL
    AND (
        kind IN ('engine_loading', 'probe_kill')
        OR (
            kind NOT IN (
                'other', 'engine_access', 'engine_stats', 'engine_ready',
                'engine_progress'
            )
            AND coalesce(severity, 'error') IN ('error', 'critical')
        )
    )
ORDER BY clock_id
"""

# Failures that a dead engine can cause; what the edge refused itself is no witness.
# Of several engines each has outages of its own, where the harness tells which engine a
# request went to; what went to several tells of none.
_EXCHANGES = """
CREATE OR REPLACE TEMP TABLE exchanges AS
WITH sent AS (
    SELECT request_id, min(engine) AS engine
    FROM parsed
    WHERE layer = 'harness' AND engine IS NOT NULL AND request_id IS NOT NULL
    GROUP BY request_id
    HAVING min(engine) = max(engine)
)

SELECT
    parsed.clock_id,
    sent.engine,
    parsed.event_id,
    epoch_us(parsed.ts_raw) - coalesce(CAST(parsed.duration_ms * 1000 AS BIGINT), 0)
        AS begun,
    epoch_us(parsed.ts_raw) AS ended,
    parsed.ts_precision_us AS precision,
    parsed.status >= 400 AS failed
FROM parsed
LEFT JOIN sent ON parsed.request_id = sent.request_id
WHERE
    list_contains($edges, parsed.clock_id)
    AND parsed.kind = 'access'
    AND parsed.ts_raw IS NOT NULL
    AND (parsed.status IN (500, 502, 503, 504) OR parsed.status < 400)
"""

_SEEN = "FROM exchanges WHERE clock_id = $edge"

_MINE = """
    AND engine IN (
        SELECT engine FROM parsed WHERE clock_id = $clock AND engine IS NOT NULL
    )
"""

_ZONED = "SELECT bool_and(coalesce(zoned, FALSE)) FROM sources WHERE clock_id = ?"


class _Word(NamedTuple):
    """What a record of an engine without an id says, and when by its clock."""

    ts: int
    precision: int
    ready: bool
    works: bool
    watched: bool
    dead: bool
    waited_us: int
    loads: bool
    fails: bool


@dataclass(frozen=True, slots=True)
class _Death:
    """When an engine ceased to serve, by its own clock, and when it served again."""

    low: int
    high: int
    ready: int | None
    precision: int


@dataclass(frozen=True, slots=True)
class _Outage:
    """A stretch of failures, between served requests if any, by the clock of the edge."""

    first: int
    last: int
    served_before: int | None
    served_after: int | None
    failures: int
    precision: int


def match(
    con: duckdb.DuckDBPyConnection, edges: Sequence[str], waiting: list[str]
) -> list[Clock]:
    """Tie engine logs without ids to the edges by their outages, weakly.

    Of the edges of several stacks that one by which the engine's clock is least wrong.
    """
    mortal = con.execute(_MORTAL, {"clocks": waiting if edges else []}).fetchall()
    found: list[Clock] = []
    everyones: dict[str, list[_Outage]] = {}
    if mortal:
        con.execute(_EXCHANGES, {"edges": list(edges)})
    for (name,) in mortal:
        rows = con.execute(_WORDS, {"clock": name} | _WAITS).fetchall()
        words = [_Word(*row) for row in rows]
        deaths = list(_deaths(words))
        if not words or len(deaths) > _MOST:
            continue
        zoned = con.execute(_ZONED, [name]).fetchall() == [(True,)]
        ranked = []
        for edge in edges:
            outages = _outages(con, edge, name)
            if not outages and edge not in everyones:
                everyones[edge] = _outages(con, edge)
            outages = outages or everyones[edge]
            pairs = [
                (*_bounds(death, outage), number)
                for number, death in enumerate(deaths)
                for outage in outages
                if outage.served_before is not None
            ] or _starting(words, outages, _ONE if zoned else _FEWER)
            possible = [one for one in pairs if one[0] <= one[1]]
            best = _agreed(possible, counted=words[0].ts < _YEAR_US, zoned=zoned)
            ranked += [best] if best else []
        if ranked:
            _, (low, high, count) = max(ranked, key=lambda one: one[0])
            offset = constant(_plain(low, high), low, high, count)
            found.append(Clock(name, "weak", "one outage seen by both", (offset,)))
    con.execute("DROP TABLE IF EXISTS exchanges")
    return found


def _outages(
    con: duckdb.DuckDBPyConnection, edge: str, engine: str | None = None
) -> list[_Outage]:
    """Give the outages of the edge, or of what is known to have gone to an engine.

    None where they are too many to be moments. `engine` is the name of its clock.
    """
    query = _SEEN + (_MINE if engine else "")
    known = {"edge": edge} | ({"clock": engine} if engine else {})
    rows = con.execute(query, known).fetchnumpy()
    columns = {name: np.ma.getdata(column) for name, column in rows.items()}
    order = np.lexsort((columns["event_id"], columns["ended"]))
    begun, ended, precision, failed = (
        columns[name][order] for name in ("begun", "ended", "precision", "failed")
    )
    served = np.flatnonzero(~failed)
    # Failures between the same two served ones are one outage.
    stretch = np.searchsorted(served, np.flatnonzero(failed))
    numbers = np.unique(stretch)
    if len(numbers) > _MOST:
        return []
    soonest = np.argsort(begun[served], kind="stable")
    starts = begun[served][soonest]
    # The first that ended of those that began after a moment.
    ends = np.minimum.accumulate(ended[served][soonest][::-1])[::-1]
    found = []
    for number in numbers:
        mine = np.flatnonzero(failed)[stretch == number]
        last = int(begun[mine].max())
        after = int(np.searchsorted(starts, last, side="right"))
        # Before the first that was served there is none.
        around = np.append(mine, served[number - 1]) if number else mine
        found.append(
            _Outage(
                first=int(ended[mine[0]]),
                last=last,
                served_before=int(ended[around[-1]]) if number else None,
                served_after=int(ends[after]) if after < len(ends) else None,
                failures=len(mine),
                precision=int(precision[around].max()),
            )
        )
    return found


def _deaths(words: Sequence[_Word]) -> Iterator[_Death]:
    """Give the deaths and hangs that a log tells of, in order."""
    steps: list[int] = []
    worked: int | None = None
    begun: int | None = None  # since when it can have been in trouble
    told: int | None = None  # the last record of the death that was given
    for number, word in enumerate(words):
        ts, precision, ready, works, watched, dead, waited_us, loads, _ = word
        if loads:
            continue
        if works or ready:
            if works and worked is not None:
                steps.append(ts - worked)
            worked, begun, told = ts if works else worked, ts, None
            continue
        if told is not None and ts - told > _ONE_DEATH_US:
            told = None
        silent = worked is not None and ts - worked >= _SILENCE_US
        hangs = watched and silent
        if told is None and (dead or hangs):
            later = (one.ts for one in words[number:] if one.ready)
            low = high = ts
            if hangs and worked is not None:
                low = worked
                high = min(worked + round(median(steps)), ts) if steps else ts
            elif waited_us:
                low = max(begun or 0, ts - waited_us)
            yield _Death(low, high, next(later, None), precision)
            told = ts
        elif told is not None and (dead or watched):
            told = ts


def _starting(
    words: Sequence[_Word], outages: Sequence[_Outage], few: int
) -> list[tuple[int, int, int]]:
    """Give the bounds of the offset by an engine's start, while which nobody was served.

    When it was ready at last, the recovery tells. When it never was, or died while it
    loaded, of `few` failures at least, the clock has to be right as it stands.
    """
    begun, failed, ready = words[0].ts, None, None
    for word in words:
        if word.works:
            return []
        if word.ready:
            ready = word.ts
            break
        failed = word.ts if word.fails or (word.dead and words[0].loads) else failed
    if failed is None and (ready is None or not any(word.loads for word in words)):
        return []
    found = []
    for outage in outages:
        room = words[0].precision + outage.precision
        before = outage.served_before
        high = begun - (outage.first - _BEFORE_US if before is None else before) + room
        if outage.failures < (few if ready is None else _FEW):
            continue
        if ready is not None and outage.served_after is not None:
            low = ready - outage.served_after - room
            found.append((low, min(high, ready - outage.last + room), 0))
        elif ready is None and failed is not None and outage.served_after is None:
            low = failed - outage.last - room
            if low <= 0 <= high:
                found.append((max(low, -_SKEW_US), min(high, _SKEW_US), 0))
    return found


def _agreed(
    intervals: Sequence[tuple[int, int, int]], *, counted: bool, zoned: bool
) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    """Give a rank, and bounds of the offset that most deaths agree on, and how many do.

    `intervals`: lower and upper bound, and the number of the death. None when no pair is
    plausible: an offset is a zone and a small remainder, unless `counted` from a start.
    """
    best: tuple[tuple[int, int, int], tuple[int, int, int]] | None = None
    for start, _, _ in intervals:
        having = [one for one in intervals if one[0] <= start <= one[1]]
        count = len({number for _, _, number in having})
        low = max(one[0] for one in having)
        high = min(one[1] for one in having)
        zone = 0 if zoned else _zone(low, high)
        off = max(0, low - zone, zone - high)
        slack = _ZONE_SKEW_US if zone else _SKEW_US
        if not counted and off > slack:
            continue
        rank = (count, -off, -abs(zone))
        if best is None or rank > best[0]:
            best = rank, (low, high, count)
    return best


def _bounds(death: _Death, outage: _Outage) -> tuple[int, int]:
    """Give the bounds of the offset, reading minus reference, if these are one."""
    room = death.precision + outage.precision
    low = death.low - outage.first - room
    high = death.high - (outage.served_before or 0) + room
    if death.ready is not None and outage.served_after is not None:
        low = max(low, death.ready - outage.served_after - room)
        high = min(high, death.ready - outage.last + room)
    return low, high


def _zone(low: int, high: int) -> int:
    """Give the time zone that bounds allow or come nearest to; none at all if they can."""
    if low <= 0 <= high:
        return 0
    return round((low + high) / 2 / QUARTER_US) * QUARTER_US


def _plain(low: int, high: int) -> int:
    """Choose a whole time zone when the bounds allow one, else their middle."""
    zone = _zone(low, high)
    return zone if low <= zone <= high else (low + high) // 2
