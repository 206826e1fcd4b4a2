"""`faultlayer simulate`: the logs of an invented day, with its truth."""

from pathlib import Path

import click

_MOST = 1_000_000_000


@click.command("simulate")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Which day: the same seed and number give the same bytes.",
)
@click.option(
    "--requests",
    type=click.IntRange(1, _MOST),
    default=10_000,
    show_default=True,
    help="How many requests the day has; clients may send failed ones again.",
)
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder to write; it must be new or empty.",
)
@click.option("--force", is_flag=True, help="Replace a day that was simulated there.")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(
    *, seed: int, requests: int, output: Path, force: bool, quiet: bool
) -> None:
    """Write the logs of an invented day to DIR, and what is true about them.

    A day's traffic passes nginx, a gateway, two engines and a quota service, each with
    a clock of its own; three to five things go wrong. DIR/logs is what `analyze` gets,
    DIR/truth.jsonl names layer and cause of every attempt that failed, and
    DIR/README.md tells the day.

    Example: faultlayer simulate --seed 7 --requests 600 -o day

    Another, in its place: faultlayer simulate --seed 8 --requests 1000000 -o day --force
    """
    from faultlayer.commands._progress import Steps
    from faultlayer.simulate.place import placed
    from faultlayer.simulate.write import write

    with (
        Steps("writing requests", requests, quiet=quiet) as steps,
        placed(output, force=force) as folder,
    ):
        counts = write(seed, requests, folder, steps.advance)
    if quiet:
        return
    from shlex import quote

    from faultlayer.masking import safe

    where = safe(quote(str(output / "logs")))
    click.echo(
        f"{counts['attempts']:,} attempts, {counts['failed']:,} failed "
        f"({counts['incidents']} incidents); {counts['lines']:,} log lines, "
        f"{counts['bytes'] / 1e6:,.1f} MB\nnext: faultlayer analyze {where}",
        err=True,
    )
