"""Gathers what a case knows of one request: its attempts, records and verdicts.

The values are plain; `--format json` prints them, `dossier_screen` sets them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb

from faultlayer import lookup
from faultlayer.masking import shown, shown_lines
from faultlayer.summary import Values, rows

_ATTEMPTS = """
SELECT
    attempt_id, request_id, attempt, ts_start, ts_end, ts_error_us, status, failed,
    user_id, project_id, tenant_id, model, engine, forwarded, layers_seen
FROM attempts
WHERE {condition}
ORDER BY attempt, attempt_id
"""

_RECORDS = """
SELECT
    events.event_id, events.source_id,
    sources.path, sources.member, events.line, events.lines, events.byte_offset,
    events.byte_length, events.ts, events.ts_raw, events.ts_error_us,
    events.clock_id, clocks.status AS clock_status, events.borrowed,
    events.layer, events.component, events.kind, events.severity, events.request_id,
    events.raw_request_id, events.engine, events.plugin, events.pool, events.status,
    events.duration_ms, events.upstream_header_ms, events.upstream_response_ms,
    events.upstream_hops, events.prompt_tokens, events.completion_tokens,
    events.quota_amount, events.message
FROM events
INNER JOIN sources ON events.source_id = sources.source_id
LEFT JOIN (SELECT clock_id, any_value(status ORDER BY segment) AS status
    FROM clocks GROUP BY clock_id) AS clocks
    ON events.clock_id = clocks.clock_id
WHERE events.event_id IN ({ids})
ORDER BY coalesce(events.ts, TIMESTAMP '-infinity'), events.event_id
"""

_VERDICTS = """
SELECT
    verdicts.attempt_id, verdicts.attempt, verdicts.layer, verdicts.cause,
    verdicts.strength, verdicts.rule, verdicts.because, verdicts.evidence,
    verdicts.contributing, verdicts.cleared, verdicts.missing,
    verdicts.clock_sensitive, verdicts.condition_id, verdicts.incident_id,
    conditions.scope_kind, conditions.scope, conditions.because AS condition_because,
    conditions.ts_start AS condition_start, conditions.ts_end AS condition_end,
    conditions.ts_error_us AS condition_error_us, conditions.clock_status,
    conditions.evidence AS condition_evidence,
    incidents.attempts AS incident_attempts, incidents.ts_onset AS incident_onset,
    incidents.root_incident_id, incidents.follows
FROM verdicts
LEFT JOIN conditions ON verdicts.condition_id = conditions.condition_id
LEFT JOIN incidents ON verdicts.incident_id = incidents.incident_id
WHERE verdicts.attempt_id IN ({ids})
ORDER BY verdicts.attempt, verdicts.attempt_id
"""

_FINDINGS = """
SELECT
    attempt_id, rule, layer, cause, role, strength, precedence, ts, condition_id,
    clock_sensitive, evidence, because
FROM findings
WHERE attempt_id IN ({ids})
ORDER BY
    attempt_id, role <> 'root',
    CASE strength WHEN 'proven' THEN 1 WHEN 'corroborated' THEN 2 ELSE 3 END,
    precedence, ts, cause
"""

# A clock that was set, the reference too: times around it may be those of another.
_TURNS = """
SELECT clock_id, segment, valid_from, status
FROM clocks
WHERE segment > 0
ORDER BY clock_id, segment
"""

_STRENGTHS = ("proven", "corroborated", "inferred")


def gather(con: duckdb.DuckDBPyConnection, text: str) -> Values | None:
    """Read all about the request, or the attempt number, that `text` names.

    Gives `request_id`, `names`, `attempts`, `records`, `verdicts`, `findings`; the
    records hold what the verdicts cite, too, with `own` telling them apart, and `text`
    is their message line by line. None when the case has no record of it.
    """
    request_id = lookup.request(con, text)
    if request_id is not None:
        attempts = _query(con, _ATTEMPTS, "request_id = $id", {"id": request_id})
        own = set(lookup.record_ids(con, request_id))
        names = lookup.names(con, request_id)
    elif (number := text.strip().removeprefix("#")).isdigit():
        attempts = _query(con, _ATTEMPTS, "attempt_id = $id", {"id": int(number)})
        own = {row["attempt_id"] for row in attempts}
        names = []
    else:
        return None
    if not attempts and not own:
        return None
    ids = [row["attempt_id"] for row in attempts]
    verdicts = _by_ids(con, _VERDICTS, ids)
    findings = _by_ids(con, _FINDINGS, ids)
    cited = _cited(verdicts)
    records = _by_ids(con, _RECORDS, sorted(own | cited), raw=frozenset({"message"}))
    for record in records:
        record["own"] = record["event_id"] in own
        record["text"] = shown_lines(record["message"] or "")
        record["message"] = shown(record["message"] or "")
    return {
        "request_id": request_id,
        "names": names[1:],
        "of": [len(attempts), sum(1 for row in attempts if row["failed"])],
        "values": [],
        "turns": rows(con, _TURNS),
        "attempts": attempts,
        "records": records,
        "verdicts": verdicts,
        "findings": _judged(findings, verdicts),
    }


def weighed(values: Values, numbers: Iterable[Values]) -> Values:
    """Add the numbers of the case's manifest that findings of these attempts rest on."""
    rules = {row["rule"] for row in values["findings"]}
    mine = [one for one in numbers if rules.intersection(one["rules"])]
    return {**values, "values": mine}


def of_attempt(values: Values, number: int) -> Values:
    """Keep the attempt with this number, its verdict and its findings."""
    attempts = [row for row in values["attempts"] if row["attempt"] == number]
    ids = {row["attempt_id"] for row in attempts}
    return {
        **values,
        "attempts": attempts,
        "verdicts": [row for row in values["verdicts"] if row["attempt_id"] in ids],
        "findings": [row for row in values["findings"] if row["attempt_id"] in ids],
    }


def _cited(verdicts: Iterable[Values]) -> set[int]:
    cited: set[int] = set()
    for row in verdicts:
        cited.update(row["evidence"] or ())
        cited.update((row["condition_evidence"] or ())[:2])
    return cited


def _judged(findings: list[Values], verdicts: Sequence[Values]) -> list[Values]:
    """Say of each finding whether it decided, and if not, why not."""
    by_attempt = {row["attempt_id"]: row for row in verdicts}
    winners: dict[int, Values] = {}
    for row in findings:
        verdict = by_attempt.get(row["attempt_id"])
        if (
            verdict
            and row["rule"] == verdict["rule"]
            and row["cause"] == verdict["cause"]
        ):
            winners.setdefault(row["attempt_id"], row)
    for row in findings:
        winner = winners.get(row["attempt_id"])
        verdict = by_attempt.get(row["attempt_id"])
        row["decides"] = row is winner
        row["contributes"] = bool(
            verdict and row["cause"] in (verdict["contributing"] or ())
        )
        row["why_not"] = _why_not(row, winner) if winner and row is not winner else ""
    return findings


def _why_not(row: Values, winner: Values) -> str:
    if row["cause"] == winner["cause"]:
        return "says the same"
    if row["role"] != winner["role"]:
        return "a symptom gives way to a root"
    if row["strength"] != winner["strength"]:
        order = [_STRENGTHS.index(item["strength"]) for item in (winner, row)]
        if order == sorted(order):
            return f"weaker: {row['strength']} against {winner['strength']}"
    if row["precedence"] != winner["precedence"]:
        return (
            f"less specific: precedence {row['precedence']}"
            f" after {winner['precedence']}"
        )
    return "later"


def _query(
    con: duckdb.DuckDBPyConnection, sql: str, condition: str, parameters: Values
) -> list[Values]:
    return rows(con, sql.format(condition=condition), parameters)


def _by_ids(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    ids: Sequence[Any],
    raw: frozenset[str] = frozenset(),
) -> list[Values]:
    if not ids:
        return []
    marks = ", ".join(str(int(number)) for number in ids)
    return rows(con, sql.format(ids=marks), raw=raw)
