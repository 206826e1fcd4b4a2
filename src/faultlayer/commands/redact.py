"""`faultlayer redact`: a case to be shared."""

from pathlib import Path

import click


@click.command("redact")
@click.argument("case", type=click.Path(path_type=Path))
@click.option(
    "--case",
    "target",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder of the redacted case; an older case there is replaced.",
)
@click.option(
    "--salt",
    envvar="FAULTLAYER_SALT",
    metavar="TEXT",
    help="Key of the pseudonyms, 16 characters or more: the same gives the same ones."
    " Default: a random one that is not kept. Also read from FAULTLAYER_SALT.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="WORD",
    help="A word to leave where it stands, such as part of a model's name.",
)
def command(case: Path, target: Path, salt: str | None, keep: tuple[str, ...]) -> None:
    """Write CASE anew without what must not leave the house.

    Users, projects, tenants, request ids, addresses, hosts, keys, prompts and every word
    that no shipped format, signature or query knows get pseudonyms: the same for the same
    value, in all tables and texts, so that joins and verdicts stay. Times, durations,
    status codes, numbers and causes stay too.

    Example: faultlayer redact ./faultlayer-case --case ./to-share --keep qwen
    """
    from faultlayer import redaction
    from faultlayer.case import open_case

    done = redaction.redact(open_case(case), target, salt, keep)
    click.echo(
        f"written to {done.path.name}; look through it before you send it", err=True
    )
