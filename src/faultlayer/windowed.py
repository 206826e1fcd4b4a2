"""Counts what failed within a window of a case, for jobs that run every day."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from faultlayer import database, render, summary, wording
from faultlayer.case import Case
from faultlayer.render import Line
from faultlayer.summary import Values

# Naive as all times of a case.
_FIRST: Final = datetime(1970, 1, 2)  # noqa: DTZ001
_LAST: Final = datetime(9999, 12, 30)  # noqa: DTZ001

_ATTEMPTS: Final = """
SELECT
    count(*) AS attempts,
    count(*) FILTER (WHERE failed) AS failed,
    count(DISTINCT user_id) FILTER (WHERE failed) AS users
FROM attempts
WHERE coalesce(ts_end, ts_start) >= $since AND coalesce(ts_end, ts_start) < $until
"""
_CAUSES: Final = """
SELECT
    verdicts.layer,
    verdicts.cause,
    count(*) AS attempts
FROM verdicts
INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
WHERE
    coalesce(attempts.ts_end, attempts.ts_start) >= $since
    AND coalesce(attempts.ts_end, attempts.ts_start) < $until
GROUP BY verdicts.layer, verdicts.cause
ORDER BY attempts DESC, verdicts.layer ASC, verdicts.cause ASC
"""


def gather(case: Case, since: datetime | None, until: datetime | None) -> Values:
    """Count the attempts that ended from `since` on and before `until` (naive UTC)."""
    window = {"since": since or _FIRST, "until": until or _LAST}
    with database.reading(case.path) as con:
        return {
            "since": since,
            "until": until,
            **summary.rows(con, _ATTEMPTS, window)[0],
            "causes": summary.rows(con, _CAUSES, window),
        }


def screen(window: Values, width: int) -> Iterator[Line]:
    """Set the window in a line or two."""
    since, until = window["since"], window["until"]
    said = [f"from {wording.moment(since, None, 0)}"] if since else []
    said += [f"before {wording.moment(until, None, 0)}"] if until else []
    number = wording.count(window["attempts"], "attempt")
    parts = [" ".join(said), f"{number}, {window['failed']} failed"]
    parts += [f"{row['cause']} {row['attempts']}" for row in window["causes"]]
    yield from render.labelled("window", parts, width, " · ")
