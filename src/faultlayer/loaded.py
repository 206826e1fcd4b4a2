"""Loads all that is known of logs: formats, wrappers and signatures."""

from functools import cache
from importlib.resources.abc import Traversable

from faultlayer import assets, formats, signatures, wrappers
from faultlayer.detect import Definitions


def load_definitions(
    parsers: Traversable | None = None, *, prove: bool = False
) -> Definitions:
    """Load formats, wrappers and signatures; raises `DefinitionError` with all problems.

    The built-in ones, without `parsers`, are read once for a process.
    """
    if parsers is None and not prove:
        return _builtin()
    root = parsers or assets.builtin("parsers")
    return Definitions(
        formats=tuple(formats.load(root)),
        wrappers=tuple(wrappers.load(root)),
        signatures=signatures.load(root, prove=prove),
    )


@cache  # with what is worked out about them when they are first used
def _builtin() -> Definitions:
    return load_definitions(assets.builtin("parsers"))
