"""`faultlayer check`: the funnel, a triage of half a minute."""

import json
from pathlib import Path

import click

from faultlayer.commands._moment import Given, of_a_day, placed


@click.command("check")
@click.argument("case", type=click.Path(path_type=Path))
@click.option("--since", callback=of_a_day, metavar="TIME", help="Only from TIME on.")
@click.option("--until", callback=of_a_day, metavar="TIME", help="Only up to TIME.")
@click.option("--format", "kind", type=click.Choice(["text", "json"]), default="text")
def command(case: Path, since: Given, until: Given, kind: str) -> None:
    """Go through the layers of CASE in order: model, harness, quota.

    Each check says pass, fail or no evidence; the first layer that fails is where to
    begin, since it may be the reason for what fails below it.

    Example: faultlayer check ./faultlayer-case --since 14:00, of the day of its
    attempts, or 2026-11-30T14:00
    """
    from faultlayer import funnel, render
    from faultlayer.case import open_case
    from faultlayer.summary import plain

    opened = open_case(case)
    values = funnel.gather(opened, placed(opened, since), placed(opened, until))
    if kind == "json":
        click.echo(json.dumps(plain(values), ensure_ascii=False, indent=2))
        return
    screen = render.console()
    render.put(screen, funnel.screen(values, screen.width))
