"""Which numbers had a part in verdicts: limits, thresholds and defaults, by who reads them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import duckdb
import pyarrow as pa

from faultlayer import queries
from faultlayer.queries import Query
from faultlayer.stated import Stated, known, names_in

#: A value that decides what an incident is, not what failed.
_APART: Final = {("thresholds", "incident_pause_s")}

_READS: Final = pa.schema(
    [(name, pa.string()) for name in ("reader", "kind", "section", "name")]
)

# A finding rests on its rule, and on the condition that the rule found.
_COUNTED: Final = """
SELECT
    reads.section,
    reads.name,
    list(DISTINCT findings.rule ORDER BY findings.rule) AS rules,
    count(DISTINCT findings.attempt_id) AS attempts
FROM findings
LEFT JOIN conditions ON findings.condition_id = conditions.condition_id
INNER JOIN reads
    ON
        (reads.kind = 'rules' AND reads.reader = findings.rule)
        OR (reads.kind = 'conditions' AND reads.reader = conditions.cause)
SEMI JOIN verdicts ON findings.attempt_id = verdicts.attempt_id
GROUP BY reads.section, reads.name
"""

# A known limit that was far from reached is why a refusal stays open.
_CONTRADICTED: Final = """
SELECT count(*)
FROM verdicts
INNER JOIN refusals ON verdicts.attempt_id = refusals.attempt_id
WHERE verdicts.cause = 'undetermined' AND refusals.most_in_flight < refusals.allowed
"""

_LIMITS: Final = """
SELECT
    settings.key,
    settings.number,
    CASE
        WHEN settings.event_id IS NULL THEN settings.place
        ELSE parse_filename(coalesce(sources.member, sources.path)) || ':' || raw.line
    END AS place
FROM settings
LEFT JOIN events_raw AS raw ON settings.event_id = raw.event_id
LEFT JOIN sources ON raw.source_id = sources.source_id
"""


def used(
    con: duckdb.DuckDBPyConnection,
    stated: Stated,
    views: Sequence[Query],
    judges: Iterable[Query],
) -> list[dict[str, Any]]:
    """List the values that had a part in a verdict, and all that the user stated.

    Each with section, name, value, unit, title, source (`default`, `file:line`), the
    rules that rest on it, and the number of failed attempts with a finding of theirs.
    """
    filled = _filled(con, views)
    reads = [
        {"reader": reader, "kind": query.group, "section": section, "name": name}
        for query in judges
        for section, name in sorted(_names(query, views, filled) - _APART)
        for reader in (
            [query.name] if query.group == "rules" else [query.header["cause"]]
        )
    ]
    con.register("reads", pa.Table.from_pylist(reads, schema=_READS))
    counted = {
        (section, name): (rules, attempts)
        for section, name, rules, attempts in con.execute(_COUNTED).fetchall()
    }
    con.unregister("reads")
    open_ = con.execute(_CONTRADICTED).fetchall()[0][0]
    limits = {
        key: (number, place) for key, number, place in con.execute(_LIMITS).fetchall()
    }
    found = []
    for value in known():
        key = (value.section, value.name)
        rules, attempts = counted.get(key, ([], 0))
        if value.name == "max_concurrent_requests":
            attempts += open_
        number, source = stated.number(value), stated.source(value)
        if value.section == "limits":
            number, source = limits.get(value.name, (None, ""))
        if number is None or not (attempts or key in stated.numbers):
            continue
        found.append(
            {
                "section": value.section,
                "name": value.name,
                "value": number,
                "unit": value.unit,
                "shown": value.shown(number),
                "title": value.title,
                "source": source,
                "told": key in stated.numbers,
                "rules": rules,
                "attempts": attempts,
            }
        )
    return found


def _names(
    query: Query, views: Sequence[Query], filled: frozenset[str]
) -> set[tuple[str, str]]:
    """Give the values that a query reads, itself or through views that hold something."""
    wanted = queries.words(query.statement)
    found = names_in(query.statement)
    for view in reversed(views):
        if view.name in wanted and view.name in filled:
            wanted |= queries.words(view.statement)
            found |= names_in(view.statement)
    return found


def _filled(con: duckdb.DuckDBPyConnection, views: Sequence[Query]) -> frozenset[str]:
    def some() -> Iterator[str]:
        for view in views:
            stored = view.header.get("store") in {"table", "case"}
            if not stored or con.execute(f"FROM {view.name} LIMIT 1").fetchall():
                yield view.name

    return frozenset(some())
