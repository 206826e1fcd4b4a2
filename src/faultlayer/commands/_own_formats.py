"""A user's own format files, read among the built-in ones."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from faultlayer import formats, prove
from faultlayer.definitions import Reader, in_order
from faultlayer.detect import Definitions
from faultlayer.errors import DefinitionError, Location, SourceError
from faultlayer.formats import Format


def read(path: Path) -> tuple[list[Format], list[DefinitionError]]:
    """Read a file, or all TOML files of a folder: what is whole, and what is wrong.

    Raises `SourceError` for what cannot be read at all.
    """
    files = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise SourceError(
            f"{path} holds no format", hint="a format is a .toml file, see docs"
        )
    found: list[Format] = []
    problems: list[DefinitionError] = []
    for file in files:
        folder = file.absolute().parent.name
        # Outside of the folders of `parsers/` a format may name any layer.
        known = folder if folder in formats.FOLDERS else "host"
        loaded, wrong = formats.read_all(Reader(file.as_posix(), _text(file)), known)
        problems += wrong
        if loaded is not None:
            found.append(loaded)
    return found, [*problems, *_twice(found)]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{file} is no text: {error}") from error


def _twice(found: list[Format]) -> Iterator[DefinitionError]:
    names = [one.name for one in found]
    for number, one in enumerate(found):
        if one.name in names[:number]:
            at = Location(one.path, 1)
            yield DefinitionError(f"two formats are {one.name}", at=at)


def among(definitions: Definitions, own: list[Format]) -> Definitions:
    """Put formats among the others; one of the same name takes the other's place."""
    names = {one.name for one in own}
    rest = [one for one in definitions.formats if one.name not in names]
    whole = sorted([*rest, *own], key=lambda one: one.name)
    return replace(definitions, formats=tuple(whole))


def proved(path: Path, definitions: Definitions) -> Definitions:
    """Give the definitions with a user's formats among them, all of them proved.

    Raises `DefinitionError` with everything that is wrong with them.
    """
    own, problems = read(path)
    whole = among(definitions, [replace(one, given=True) for one in own])
    for one in own:
        problems += prove.problems_of(one, whole, own=True)
    if problems:
        text = "\n".join(str(problem) for problem in in_order(problems))
        noun = "problem" if len(problems) == 1 else "problems"
        raise DefinitionError(
            f"{len(problems)} {noun} in the formats of {path}\n{text}",
            hint=f"faultlayer formats test {path}",
        )
    return whole
