"""What `trace` and `explain` share: look the request up, then set it."""

import json
from pathlib import Path
from typing import Final

import click

from faultlayer import database, dossier, dossier_screen, render
from faultlayer.case import open_case
from faultlayer.errors import UsageError
from faultlayer.masking import safe
from faultlayer.summary import plain

_LISTS: Final = "hint: FROM verdicts in faultlayer sql lists the requests that failed"


def show(
    case: Path, request_id: str, kind: str, view: str, attempt: int | None = None
) -> None:
    """Print a view of a request; an unknown one gives no data and a message."""
    opened = open_case(case)
    with database.reading(opened.path) as con:
        values = dossier.gather(con, request_id)
    if values is None:
        note = "" if len(request_id.strip()) >= 8 else " (a part needs 8 characters)"  # noqa: PLR2004
        click.echo(
            f"faultlayer: no record of {safe(request_id)} in {case}{note}\n{_LISTS}",
            err=True,
        )
        return
    if attempt is not None:
        there = [row["attempt"] for row in values["attempts"]]
        values = dossier.of_attempt(values, attempt)
        if not values["attempts"]:
            raise UsageError(
                f"{safe(request_id)} has no attempt {attempt}",
                hint=f"it has {', '.join(map(str, there)) or 'none'}",
            )
    values = dossier.weighed(values, opened.manifest.get("values", []))
    if kind == "json":
        click.echo(json.dumps(plain(values), ensure_ascii=False, indent=2))
        return
    screen = render.console()
    lines = {"trace": dossier_screen.trace, "explain": dossier_screen.explain}[view]
    render.put(screen, lines(values, screen.width))
