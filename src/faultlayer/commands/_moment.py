"""A time on the command line: as ISO writes it, or today or yesterday."""

from datetime import UTC, datetime, timedelta

import click

_DAYS = {"today": 0, "yesterday": 1}


def moment(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> datetime | None:
    """Read a time of a window; without a zone it is UTC, as all times of a case.

    `today` and `yesterday` are the beginnings of these days, UTC. Raises BadParameter.
    """
    del ctx
    if value is None:
        return None
    if value in _DAYS:
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=_DAYS[value])).replace(tzinfo=None)
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no time; for example 2026-11-30T14:02, or yesterday",
            param=param,
        ) from None
    return read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo else read
