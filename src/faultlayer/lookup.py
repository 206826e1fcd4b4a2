"""Finds the request that a person means, however its id is spelled."""

import re

import duckdb

from faultlayer.errors import UsageError
from faultlayer.masking import safe

SHORTEST = 8
"""Characters of an id that are taken as the beginning of one."""

_SHOWN = 10
_HEX = re.compile(r"[0-9a-fA-F]{32}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ENGINE_PREFIX = re.compile(
    r"(?:\d+_)?(?:chatcmpl|cmpl|chat|embd|pool|score|rerank|tokenize|tokn|classify"
    r"|resp)-(?=.)"
)

_EXACT = (
    "SELECT request_id FROM attempts WHERE request_id IN {these}",
    "SELECT request_id FROM aliases WHERE alias IN {these}",
    "SELECT request_id FROM events_raw WHERE request_id IN {these}",
    "SELECT coalesce(aliases.request_id, raw.request_id) FROM events_raw AS raw"
    " LEFT JOIN aliases ON raw.request_id = aliases.alias"
    " WHERE raw.raw_request_id IN {these}",
    "SELECT unnest(list_intersect(id_parts, list_value{these}))"
    " FROM events_raw WHERE list_has_any(id_parts, list_value{these})",
)

_PREFIX = """
WITH known AS (
    SELECT request_id AS spelling, request_id FROM attempts
    UNION ALL
    SELECT alias AS spelling, request_id FROM aliases
    UNION ALL
    SELECT raw.request_id AS spelling, raw.request_id
    FROM events_raw AS raw
    ANTI JOIN aliases ON raw.request_id = aliases.alias
)

SELECT DISTINCT request_id
FROM known
WHERE starts_with(lower(replace(spelling, '-', '')), $start)
ORDER BY request_id
LIMIT 101
"""


def request(con: duckdb.DuckDBPyConnection, text: str) -> str | None:
    """Give the canonical id of the request that `text` names; None when unknown.

    Takes any spelling that a log uses, and a beginning of at least eight characters.
    Raises UsageError when several requests begin like that.
    """
    these = spellings(text)
    if not these:
        raise UsageError("no request id given")
    marks = f"({', '.join('?' for _ in these)})"
    for sql in _EXACT:
        again = sql.count("{these}")
        found = con.execute(sql.format(these=marks) + " LIMIT 1", these * again)
        if (row := found.fetchone()) and row[0] is not None:
            return str(row[0])
    start = these[-1].replace("-", "").lower()
    if len(these[-1]) < SHORTEST:
        return None
    matches = [str(row[0]) for row in con.execute(_PREFIX, {"start": start}).fetchall()]
    if len(matches) > 1:
        more = "more than 100" if len(matches) > 100 else str(len(matches))  # noqa: PLR2004
        raise UsageError(
            f"{more} requests begin with {safe(text)}",
            hint="give more of the id: "
            + ", ".join(safe(match) for match in matches[:_SHOWN]),
        )
    return matches[0] if matches else None


def spellings(text: str) -> list[str]:
    """List the ways to write an id, as given first, the barest last."""
    text = text.strip().strip("\"'`<>[],;").strip()
    forms = [text, _ENGINE_PREFIX.sub("", text)]
    for form in list(forms):
        if _HEX.fullmatch(form):
            low = form.lower()
            forms.append(f"{low[:8]}-{low[8:12]}-{low[12:16]}-{low[16:20]}-{low[20:]}")
        elif _UUID.fullmatch(form):
            forms.append(form.lower())
    return list(dict.fromkeys(form for form in forms if form))


def names(con: duckdb.DuckDBPyConnection, request_id: str) -> list[str]:
    """List all spellings of a request in the case, the canonical one first."""
    rows = con.execute(
        "SELECT alias FROM aliases WHERE request_id = ? ORDER BY alias", [request_id]
    ).fetchall()
    return [request_id, *(str(row[0]) for row in rows if row[0] != request_id)]


def record_ids(con: duckdb.DuckDBPyConnection, request_id: str) -> list[int]:
    """List the event ids of all records that name a request in any spelling."""
    these = names(con, request_id)
    marks = ", ".join("?" for _ in these)
    # Two queries: the first then skips row groups by their bloom filters.
    found: set[int] = set()
    for condition in (
        f"request_id IN ({marks})",
        f"list_has_any(id_parts, list_value({marks}))",
    ):
        sql = f"SELECT event_id FROM events_raw WHERE {condition}"
        found.update(row[0] for row in con.execute(sql, these).fetchall())
    return sorted(found)
