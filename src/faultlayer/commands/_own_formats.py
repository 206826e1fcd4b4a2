"""A user's own format files, read among the built-in ones."""

from dataclasses import replace
from pathlib import Path

from faultlayer import formats
from faultlayer.detect import Definitions
from faultlayer.errors import SourceError
from faultlayer.formats import Format


def read(path: Path) -> list[Format]:
    """Read a file, or all TOML files of a folder; raises for what is wrong with them."""
    files = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise SourceError(
            f"{path} holds no format", hint="a format is a .toml file, see docs"
        )
    found = []
    for file in files:
        try:
            text = file.read_text("utf-8")
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise SourceError(f"{file} is no text: {error}") from error
        folder = file.absolute().parent.name
        # Outside of the folders of `parsers/` a format may name any layer.
        known = folder if folder in formats.FOLDERS else "host"
        loaded = formats.read(file.as_posix(), text, known)
        if loaded is not None:
            found.append(loaded)
    return found


def among(definitions: Definitions, own: list[Format]) -> Definitions:
    """Put formats among the others; one of the same name takes the other's place."""
    names = {one.name for one in own}
    rest = [one for one in definitions.formats if one.name not in names]
    whole = sorted([*rest, *own], key=lambda one: one.name)
    return replace(definitions, formats=tuple(whole))
