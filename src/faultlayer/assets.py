"""Find the built-in formats and queries, in an installed wheel or in a checkout."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from faultlayer.errors import AssetError

_CHECKOUT = Path(__file__).resolve().parents[2]


def builtin(kind: Literal["parsers", "queries"]) -> Traversable:
    """Give the folder of a kind of definitions; raise `AssetError` when there is none."""
    packaged = files("faultlayer") / "_builtin" / kind
    if packaged.is_dir():
        return packaged
    beside_src = _CHECKOUT / kind
    if (_CHECKOUT / "pyproject.toml").is_file() and beside_src.is_dir():
        return beside_src
    raise AssetError(f"the built-in {kind} are missing", hint="reinstall faultlayer")
