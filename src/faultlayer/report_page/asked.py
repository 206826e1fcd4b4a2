"""Asks a case all that its report shows: one SQL file a figure, run as it is printed."""

import functools
from dataclasses import dataclass, replace

from faultlayer import assets, database, dossier, queries, summary
from faultlayer.case import Case
from faultlayer.masking import shown, shown_lines
from faultlayer.queries import Query
from faultlayer.summary import Values

FULL = 0.8
"""Used share of a pool that forecasts are asked about, 1 = all of it."""

_RAW = frozenset({"message", "request_id"})
_RULED = " ^~|-=+"
_EXCERPT = 5
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """What one query gives: rows by the names of their columns, fit to be shown."""

    query: Query
    rows: list[Values]


@dataclass(frozen=True, slots=True)
class Asked:
    """All that the page shows of a case.

    `values` are those of the summary; `victim` is the dossier of the typical failed
    request of the greatest incident, None where nothing failed.
    """

    values: Values
    answers: dict[str, Answer]
    victim: Values | None


@functools.cache
def statements() -> tuple[Query, ...]:
    """Give the queries of the page, in its order; none has a parameter left open."""
    root = assets.builtin("queries")
    found = queries.load(root, "report")
    found += [
        replace(query, statement=query.statement.replace("$limit", str(FULL)))
        for query in queries.load(root, "investigations")
        if query.name in {"quota_forecast", "real_concurrency"}
    ]
    return tuple(found)


def ask(case: Case) -> Asked:
    """Run every query of the page over a case; CaseError where it is damaged."""
    values = summary.gather(case)
    answers = {}
    victim = None
    with database.reading(case.path) as con:
        for query in statements():
            found = summary.rows(con, query.statement, raw=_RAW)
            if query.name == "victim" and found:
                name = found[0]["request_id"] or str(found[0]["attempt_id"])
                victim = dossier.gather(con, name)
            answers[query.name] = Answer(query, [_shown(row) for row in found])
    return Asked(values, answers, victim)


def _shown(row: Values) -> Values:
    """Make what was read as it stands fit to be shown; of a message the telling lines."""
    row = dict(row)
    if row.get("request_id") is not None:
        row["request_id"] = shown(row["request_id"])
    if "message" in row:
        text = row["message"] or ""
        row["message"] = shown(text)
        lines = [line for line in shown_lines(text) if line.strip(_RULED)]
        if len(lines) > _EXCERPT:
            lines = [*lines[:2], "…", *lines[-2:]]
        row["excerpt"] = [shortened(line) for line in lines]
    return row


def shortened(line: str) -> str:
    """Cut a line that is too long for an excerpt; what is cut is marked."""
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
