"""What a case says at a glance: read from its tables, true numbers only.

`gather` gives plain values, which `--format json` prints; `summary_screen` sets them.
"""

from datetime import datetime
from typing import Any

import duckdb

from faultlayer import database
from faultlayer.case import Case
from faultlayer.masking import shown

Values = dict[str, Any]


def gather(case: Case) -> Values:
    """Read everything that the summary states; times are datetimes in UTC."""
    with database.reading(case.path) as con:
        con.execute(_FAILED)
        attempts = rows(con, _ATTEMPTS)[0]
        conservation = case.manifest.get("conservation", {})
        return {
            "case": str(case.path),
            "conservation": conservation,
            "assumed": case.manifest.get("assumed", []),
            "taken_over": case.manifest.get("taken_over", 0),
            "values": [_fitted(one) for one in case.manifest.get("values", [])],
            "layers": {
                glob: _fit(said)
                for glob, said in case.manifest.get("layers", {}).items()
            },
            "replaced": case.manifest.get("replaced", []),
            "lost": _passed(case, "lost"),
            "skipped": _passed(case, "skipped"),
            "sources": rows(con, _SOURCES),
            "clocks": rows(con, _CLOCKS),
            "clock_checks": case.manifest.get("clock_checks", []),
            "attempts": attempts,
            "causes": rows(con, _CAUSES),
            "missing": rows(con, _MISSING),
            "incidents": rows(con, _INCIDENTS),
            "cascades": rows(con, _CASCADES),
            "conditions": rows(con, _CONDITIONS),
            "findings": rows(con, _FINDINGS),
            "example": [
                _short(con, row["request_id"], attempts["attempts"])
                for row in rows(con, _CHOSEN)
            ],
        }


def _passed(case: Case, key: str) -> list[Values]:
    """List what was not read, with the reasons."""
    return [
        {"path": _fit(path), "reason": _fit(reason)}
        for path, reason in case.manifest.get(key, [])
    ]


def _fitted(values: Values) -> Values:
    return {key: _fit(value) for key, value in values.items()}


def _short(con: duckdb.DuckDBPyConnection, request_id: str, attempts: int) -> str:
    """Shorten a long id to its first digits when no other id of the case has them."""
    if "-" not in request_id[8:20] or attempts > _FEW:
        return request_id
    alike = con.execute(_ALIKE, [request_id[:8]]).fetchall()[0][0]
    return request_id[:8] if alike == 1 else request_id


def rows(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    parameters: Values | None = None,
    *,
    raw: frozenset[str] = frozenset(),
) -> list[Values]:
    """Run a query of ours; text is made fit for display, but for the columns `raw`."""
    result = con.execute(sql, parameters or {})
    names = [item[0] for item in result.description or ()]
    return [
        {
            name: value if name in raw else _fit(value)
            for name, value in zip(names, row, strict=True)
        }
        for row in result.fetchall()
    ]


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, list):
        return [_fit(item) for item in value]
    return value


def plain(value: Any) -> Any:
    """Make values ready for JSON: times as ISO 8601 in UTC."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds") + "Z"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


_SOURCES = """
SELECT
    source_id, path, member, format, wrapper, component, layer, bytes, file_bytes,
    lines, events, rejects, clock_id, first_ts, last_ts, reason, problems
FROM sources
ORDER BY source_id
"""

_CLOCKS = """
WITH read AS (
    SELECT
        clock_id, count(*) AS sources, min(path) AS first_path,
        min(first_ts) AS first_ts, max(last_ts) AS last_ts
    FROM sources
    WHERE events > 0 AND first_ts IS NOT NULL
    GROUP BY clock_id
)

SELECT
    clocks.clock_id, clocks.segment, clocks.valid_from, clocks.valid_to,
    clocks.anchor_ts, clocks.offset_us, clocks.drift_ppm, clocks.lo_us, clocks.hi_us,
    clocks.pairs, clocks.support, clocks.method, clocks.status, clocks.time_zone_us,
    coalesce(read.sources, 0) AS sources,
    read.first_path, read.first_ts, read.last_ts
FROM clocks
LEFT JOIN read ON clocks.clock_id = read.clock_id
ORDER BY
    clocks.status <> 'reference', clocks.status = 'untied', clocks.clock_id,
    clocks.segment
"""

# The whole is answered by the statistics of the file; of the failed ones there are few.
_ATTEMPTS = """
SELECT
    whole.attempts, broken.failed, whole.ts_start, whole.ts_end,
    broken.failed_start, broken.failed_end
FROM (
    SELECT count(*) AS attempts, min(ts_start) AS ts_start, max(ts_end) AS ts_end
    FROM attempts
) AS whole
CROSS JOIN (
    SELECT
        count(*) AS failed, min(ts_start) AS failed_start, max(ts_end) AS failed_end
    FROM failed_attempts
) AS broken
"""

#: Attempts up to which it is worth to look for the shortest name of one.
_FEW = 100_000

# Some queries want it, and `attempts` may be large: its ids cost most to read.
_FAILED = """
CREATE OR REPLACE TEMP TABLE failed_attempts AS
SELECT
    verdicts.layer,
    verdicts.cause,
    conditions.scope,
    verdicts.strength,
    verdicts.clock_sensitive,
    verdicts.request_id,
    attempts.user_id,
    attempts.model,
    attempts.ts_start,
    attempts.ts_end
FROM verdicts
INNER JOIN attempts
    ON verdicts.attempt_id = attempts.attempt_id AND attempts.failed
LEFT JOIN conditions ON verdicts.condition_id = conditions.condition_id
"""

_CAUSES = """
SELECT
    layer,
    cause,
    scope,
    count(*) AS attempts,
    count(DISTINCT request_id) AS requests,
    count(*) FILTER (WHERE strength = 'proven') AS proven,
    count(*) FILTER (WHERE strength = 'corroborated') AS corroborated,
    count(*) FILTER (WHERE strength = 'inferred') AS inferred,
    count(*) FILTER (WHERE strength = 'undetermined') AS undetermined,
    count(*) FILTER (WHERE clock_sensitive) AS clock_sensitive,
    min(ts_start) AS ts_start,
    max(ts_end) AS ts_end,
    count(DISTINCT user_id) AS users,
    list_slice(list_sort(list_distinct(list(user_id))), 1, 3) AS some_users,
    count(DISTINCT model) AS models,
    list_slice(list_sort(list_distinct(list(model))), 1, 3) AS some_models
FROM failed_attempts
GROUP BY layer, cause, scope
ORDER BY
    layer = 'undetermined',
    sum(attempts) OVER (PARTITION BY layer) DESC,
    layer, attempts DESC, cause, scope
"""

_MISSING = """
SELECT item AS missing, count(*) AS attempts
FROM (SELECT unnest(missing) AS item FROM verdicts WHERE layer = 'undetermined')
GROUP BY item
ORDER BY attempts DESC, item
LIMIT 5
"""

# Where a record stands; `wanted` has the ids.
_PLACES = """
places AS (
    SELECT
        raw.event_id,
        parse_filename(coalesce(sources.member, sources.path)) || ':' || raw.line
            AS place
    FROM events_raw AS raw
    INNER JOIN sources ON raw.source_id = sources.source_id
    WHERE raw.event_id IN (SELECT event_id FROM wanted)
)
"""

_INCIDENTS = f"""
WITH wanted AS (
    SELECT unnest([named_by, noticed_by]) AS event_id FROM incidents
),

{_PLACES}

SELECT
    incidents.* EXCLUDE (condition_id),
    conditions.because, conditions.scope_kind,
    conditions.condition_id IS NOT NULL AS has_condition,
    named.place, noticed.place AS noticed_place
FROM incidents
LEFT JOIN conditions ON incidents.condition_id = conditions.condition_id
LEFT JOIN places AS named ON incidents.named_by = named.event_id
LEFT JOIN places AS noticed ON incidents.noticed_by = noticed.event_id
ORDER BY incidents.attempts DESC, incidents.ts_start, incidents.incident_id
"""

_CASCADES = f"""
WITH wanted AS (SELECT event_id FROM cascades),

{_PLACES}

SELECT cascades.*, places.place
FROM cascades
LEFT JOIN places ON cascades.event_id = places.event_id
ORDER BY cascades.incident_id, cascades.step
"""

# Of the evidence the first record in corrected time.
_CONDITIONS = f"""
WITH quiet AS (
    SELECT *
    FROM conditions
    WHERE role = 'root' AND cause NOT IN (SELECT cause FROM verdicts)
),

firsts AS (
    SELECT
        cited.condition_id,
        arg_min(events.event_id, (events.ts, events.event_id)) AS event_id
    FROM (SELECT condition_id, unnest(evidence) AS event_id FROM quiet) AS cited
    INNER JOIN events ON cited.event_id = events.event_id
    GROUP BY cited.condition_id
),

wanted AS (SELECT event_id FROM firsts),

{_PLACES}

SELECT
    quiet.condition_id, quiet.layer, quiet.cause, quiet.role, quiet.scope_kind,
    quiet.scope, quiet.ts_start, quiet.ts_end, quiet.clock_status, quiet.because,
    places.place
FROM quiet
LEFT JOIN firsts ON quiet.condition_id = firsts.condition_id
LEFT JOIN places ON firsts.event_id = places.event_id
ORDER BY quiet.ts_start, quiet.condition_id
"""

_FINDINGS = """
SELECT findings.cause, count(*) AS attempts, min(findings.because) AS because
FROM findings
LEFT JOIN verdicts ON findings.attempt_id = verdicts.attempt_id
WHERE
    findings.cause IN ('quota.retry_waste', 'quota.metering_mismatch')
    OR verdicts.attempt_id IS NULL
GROUP BY findings.cause
ORDER BY attempts DESC, findings.cause
"""

_CHOSEN = """
SELECT request_id
FROM failed_attempts
WHERE request_id IS NOT NULL
ORDER BY
    layer = 'undetermined',
    count(*) OVER (PARTITION BY cause) DESC,
    strength <> 'proven', ts_start, request_id
LIMIT 1
"""

_ALIKE = """
SELECT count(DISTINCT request_id) AS ids
FROM attempts
WHERE starts_with(request_id, ?)
"""
