"""Accounts for a case: what was read, and that all of it is in events or rejects."""

from pathlib import Path
from typing import Any

from faultlayer import database


def account(case_dir: Path) -> dict[str, Any]:
    """Sum up what was read and what became of it.

    Gives `sources`, one entry each, and `conservation`: bytes and lines of all
    sources, and the same summed over events, rejects and blank lines; `off` lists the
    sources where the two differ, or where ids or aliases multiply rows.
    """
    con = database.connect()
    try:
        read = ("sources", "events_raw", "rejects", "aliases")
        database.attach_views(con, case_dir, read)
        return {
            "sources": database.rows(con, _SOURCES),
            "conservation": {
                **database.rows(con, _SUMS)[0],
                "off": database.rows(con, _OFF) + database.rows(con, _MULTIPLIED),
            },
        }
    finally:
        con.close()


_SOURCES = """
SELECT
    source_id, path, member, sha256, file_bytes, bytes, lines, records, events,
    rejects, blank_lines, format, wrapper, layer, component, host, clock_id, problems
FROM sources
ORDER BY source_id
"""

_BOOKED = """
WITH booked AS (
    SELECT source_id, byte_length, lines, 1 AS events, 0 AS rejects FROM events_raw
    UNION ALL
    SELECT source_id, byte_length, lines, 0 AS events, 1 AS rejects FROM rejects
),

sums AS (
    SELECT
        source_id,
        sum(byte_length) AS bytes,
        sum(lines) AS lines,
        sum(events) AS events,
        sum(rejects) AS rejects
    FROM booked
    GROUP BY source_id
)
"""

_SUMS = """
WITH parts AS (
    SELECT count(*) AS records, coalesce(sum(lines), 0) AS lines FROM events_raw
),

refused AS (
    SELECT count(*) AS records, coalesce(sum(lines), 0) AS lines FROM rejects
)

SELECT
    coalesce(sum(sources.bytes), 0)::BIGINT AS bytes,
    coalesce(sum(sources.lines), 0)::BIGINT AS lines,
    any_value(parts.records)::BIGINT AS event_records,
    any_value(parts.lines - parts.records)::BIGINT AS continuation_lines,
    any_value(refused.records)::BIGINT AS reject_records,
    any_value(refused.lines)::BIGINT AS reject_lines,
    coalesce(sum(sources.blank_lines), 0)::BIGINT AS blank_lines
FROM parts
CROSS JOIN refused
LEFT JOIN sources ON true
"""

_OFF = (
    _BOOKED
    + """
SELECT
    coalesce(sources.source_id, sums.source_id) AS source_id,
    sources.path,
    sources.bytes AS bytes,
    (coalesce(sums.bytes, 0) + sources.blank_bytes)::BIGINT AS booked_bytes,
    sources.lines AS lines,
    (coalesce(sums.lines, 0) + sources.blank_lines)::BIGINT AS booked_lines
FROM sources
FULL JOIN sums ON sources.source_id = sums.source_id
WHERE
    sources.source_id IS NULL
    OR sources.bytes <> coalesce(sums.bytes, 0) + sources.blank_bytes
    OR sources.lines <> coalesce(sums.lines, 0) + sources.blank_lines
    OR sources.events <> coalesce(sums.events, 0)
    OR sources.rejects <> coalesce(sums.rejects, 0)
ORDER BY 1
"""
)

_MULTIPLIED = """
SELECT 'alias ' || alias || ' has ' || count(*) || ' meanings' AS problem
FROM aliases
GROUP BY alias
HAVING count(*) > 1
ORDER BY alias
LIMIT 20
"""
