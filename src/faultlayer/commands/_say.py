"""How an error reads on the terminal."""

import click

from faultlayer.errors import FaultlayerError
from faultlayer.masking import safe


def say(error: FaultlayerError) -> None:
    """Write an error and its hint to stderr, safe for a terminal."""
    first, *rest = [safe(line) for line in str(error).split("\n")]
    click.echo("\n".join([f"faultlayer: {first}", *rest]), err=True)
