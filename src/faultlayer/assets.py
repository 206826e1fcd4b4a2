"""Find the built-in formats and queries, in an installed wheel or in a checkout."""

import hashlib
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


def hashes() -> dict[str, str]:
    """Give the SHA-256 of every built-in definition, by its path."""
    found: dict[str, str] = {}

    def walk(folder: Traversable, prefix: str) -> None:
        for entry in sorted(folder.iterdir(), key=lambda item: item.name):
            path = f"{prefix}/{entry.name}"
            if entry.is_dir():
                walk(entry, path)
            elif entry.name.endswith((".toml", ".sql")):
                found[path] = hashlib.sha256(entry.read_bytes()).hexdigest()

    walk(builtin("parsers"), "parsers")
    walk(builtin("queries"), "queries")
    return found
