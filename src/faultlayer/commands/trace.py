"""`faultlayer trace`: one request through every layer."""

from pathlib import Path

import click


@click.command("trace")
@click.argument("case", type=click.Path(path_type=Path))
@click.argument("request_id")
@click.option("--format", "kind", type=click.Choice(["text", "json"]), default="text")
def command(case: Path, request_id: str, kind: str) -> None:
    """Follow REQUEST_ID through CASE, one line a record, in corrected time.

    The id may be written as any log writes it, or be its first 8 characters or more.

    Example: faultlayer trace ./faultlayer-case 7f26411e
    """
    from faultlayer.commands import _dossier

    _dossier.show(case, request_id, kind, "trace")
