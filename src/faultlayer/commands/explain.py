"""`faultlayer explain`: why a request got its verdict."""

from pathlib import Path

import click


@click.command("explain")
@click.argument("case", type=click.Path(path_type=Path))
@click.argument("request_id")
@click.option("--attempt", type=click.IntRange(1), help="Only this attempt, from 1.")
@click.option("--format", "kind", type=click.Choice(["text", "json"]), default="text")
def command(case: Path, request_id: str, attempt: int | None, kind: str) -> None:
    """Say why REQUEST_ID failed: what decided, what else was found, on what evidence.

    The id may be written as any log writes it, or be its first 8 characters or more.

    Example: faultlayer explain ./faultlayer-case 7f26411e --attempt 2
    """
    from faultlayer.commands import _dossier

    _dossier.show(case, request_id, kind, "explain", attempt)
