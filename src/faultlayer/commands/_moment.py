"""A time on the command line: as ISO writes it, today or yesterday, or of a case's day."""

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

import click

from faultlayer.errors import UsageError

if TYPE_CHECKING:
    from faultlayer.case import Case

Given = datetime | time | None
"""A moment, or a time of the day that the case tells."""

_DAYS = {"today": 0, "yesterday": 1}


def read(text: str) -> Given:
    """Read a time; without a zone it is UTC, as all times of a case.

    `today` and `yesterday` are the beginnings of these days, UTC; `14:02` stays a time of
    the day. Raises ValueError.
    """
    if text in _DAYS:
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=_DAYS[text])).replace(tzinfo=None)
    try:
        alone = time.fromisoformat(text) if ":" in text else None
    except ValueError:
        alone = None
    if alone is not None and alone.tzinfo is None:
        return alone
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def moment(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> datetime | None:
    """Read a time that has its day, as `read` does. Raises BadParameter."""
    found = of_a_day(ctx, param, value)
    if isinstance(found, time):
        raise _no_time(str(value), param)
    return found


def of_a_day(ctx: click.Context, param: click.Parameter, value: str | None) -> Given:
    """Read a time as `read` does. Raises BadParameter."""
    del ctx
    try:
        return None if value is None else read(value)
    except ValueError:
        raise _no_time(str(value), param) from None


def _no_time(value: str, param: click.Parameter) -> click.BadParameter:
    return click.BadParameter(
        f"{value!r} is no time; for example 2026-11-30T14:02, or yesterday", param=param
    )


def placed(case: "Case", given: Given) -> datetime | None:
    """Put a time of the day on the day of the case; UsageError where it has several."""
    if not isinstance(given, time):
        return given
    from faultlayer import database, summary

    with database.reading(case.path) as con:
        [span] = summary.rows(con, _DAYS_OF)
    first, last = span["first"], span["last"]
    if first is None or first != last:
        days = f"{first} to {last}" if first else "no attempt"
        raise UsageError(
            f"{given:%H:%M} is of which day? The case has {days}",
            hint=f"with the day: {last or '2026-11-30'}T{given:%H:%M}",
        )
    return datetime.combine(first, given)


_DAYS_OF = """
SELECT
    CAST(min(ts_start) AS DATE) AS first,
    CAST(max(coalesce(ts_end, ts_start)) AS DATE) AS last
FROM attempts
"""
