"""The options of commands that answer with a table: how it is written, and where."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

_FORMATS = ["table", "csv", "json", "jsonl", "parquet", "md"]

Command = Callable[..., Any]


def _duration(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> timedelta | None:
    from faultlayer import investigations
    from faultlayer.errors import UsageError

    try:
        return None if value is None else investigations.duration(value)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{value!r} is no length of time", hint="--timeout 30s, or 5m"
        ) from None


def written(command: Command) -> Command:
    """Add `--format` and `-o`, as `kind` and `output`."""
    for option in (
        click.option(
            "-o", "output", type=click.Path(path_type=Path), help="Write to a file."
        ),
        click.option(
            "--format",
            "kind",
            type=click.Choice(_FORMATS),
            help="How the answer is written;"
            " by default as -o FILE is called, else a table.",
        ),
    ):
        command = option(command)
    return command


def asked(command: Command) -> Command:
    """Add what `written` adds, and `--rows`, `--memory` and `--timeout` of a query."""
    for option in (
        click.option(
            "--timeout",
            callback=_duration,
            help="Time for a query, such as 30s or 5m; it is stopped then.",
        ),
        click.option("--memory", help="Memory for the query, such as 4GB."),
        click.option(
            "--rows",
            type=click.IntRange(0),
            default=200,
            show_default=True,
            help="Rows of a table that are shown, 0 for all.",
        ),
    ):
        command = option(command)
    return written(command)
