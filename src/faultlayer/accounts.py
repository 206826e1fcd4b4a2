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
        con.execute(_SUMS)
        return {
            "sources": database.rows(con, _SOURCES),
            "conservation": {
                **database.rows(con, _WHOLE)[0],
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

_SUMS = """
CREATE TEMP TABLE sums AS
WITH parts AS (
    SELECT source_id, sum(byte_length) AS bytes, sum(lines) AS lines, count(*) AS events
    FROM events_raw
    GROUP BY source_id
),

refused AS (
    SELECT source_id, sum(byte_length) AS bytes, sum(lines) AS lines, count(*) AS rejects
    FROM rejects
    GROUP BY source_id
)

SELECT
    coalesce(parts.source_id, refused.source_id) AS source_id,
    coalesce(parts.bytes, 0) + coalesce(refused.bytes, 0) AS bytes,
    coalesce(parts.lines, 0) AS event_lines,
    coalesce(refused.lines, 0) AS reject_lines,
    coalesce(parts.events, 0) AS events,
    coalesce(refused.rejects, 0) AS rejects
FROM parts
FULL JOIN refused ON parts.source_id = refused.source_id
"""

_WHOLE = """
SELECT
    coalesce(sum(sources.bytes), 0)::BIGINT AS bytes,
    coalesce(sum(sources.lines), 0)::BIGINT AS lines,
    coalesce(sum(sums.events), 0)::BIGINT AS event_records,
    coalesce(sum(sums.event_lines - sums.events), 0)::BIGINT AS continuation_lines,
    coalesce(sum(sums.rejects), 0)::BIGINT AS reject_records,
    coalesce(sum(sums.reject_lines), 0)::BIGINT AS reject_lines,
    coalesce(sum(sources.blank_lines), 0)::BIGINT AS blank_lines
FROM sources
FULL JOIN sums ON sources.source_id = sums.source_id
"""

_OFF = """
SELECT
    coalesce(sources.source_id, sums.source_id) AS source_id,
    sources.path,
    sources.bytes AS bytes,
    (coalesce(sums.bytes, 0) + sources.blank_bytes)::BIGINT AS booked_bytes,
    sources.lines AS lines,
    (coalesce(sums.event_lines + sums.reject_lines, 0) + sources.blank_lines)::BIGINT
        AS booked_lines
FROM sources
FULL JOIN sums ON sources.source_id = sums.source_id
WHERE
    sources.source_id IS NULL
    OR sources.bytes <> coalesce(sums.bytes, 0) + sources.blank_bytes
    OR sources.lines
    <> coalesce(sums.event_lines + sums.reject_lines, 0) + sources.blank_lines
    OR sources.events <> coalesce(sums.events, 0)
    OR sources.rejects <> coalesce(sums.rejects, 0)
ORDER BY 1
"""

_MULTIPLIED = """
SELECT 'alias ' || alias || ' has ' || count(*) || ' meanings' AS problem
FROM aliases
GROUP BY alias
HAVING count(*) > 1
ORDER BY alias
LIMIT 20
"""
