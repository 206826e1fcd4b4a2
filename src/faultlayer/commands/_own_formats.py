"""A user's own format files, read among the built-in ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from faultlayer import formats, prove, wording, wrappers
from faultlayer.definitions import Reader, in_order
from faultlayer.detect import Definitions
from faultlayer.errors import DefinitionError, Location, SourceError
from faultlayer.formats import Format
from faultlayer.wrappers import Wrapper

_SIGNATURES = re.compile(r"(?m)^[ \t]*\[\[(?:signature|kinds)\]\]")
_WRAPPER = re.compile(r"(?m)^[ \t]*\[wrapper\]")


@dataclass(slots=True)
class Own:
    """A user's formats and wrappers that are whole, and what is wrong with the others."""

    formats: list[Format] = field(default_factory=list)
    wrappers: list[Wrapper] = field(default_factory=list)
    problems: list[DefinitionError] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """Give the names of the formats."""
        return {one.name for one in self.formats}


def read(path: Path) -> Own:
    """Read a file, or all TOML files of a folder.

    Raises `SourceError` for what cannot be read at all.
    """
    files = sorted(path.rglob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise SourceError(
            f"{path} holds no format", hint="a format is a .toml file, see docs"
        )
    own = Own()
    for file in files:
        reader = Reader(file.as_posix(), _text(file))
        if _WRAPPER.search(reader.text):
            wrapper = wrappers.read(reader)
            own.wrappers += [wrapper] if wrapper and not reader.problems else []
            own.problems += reader.problems
            continue
        if _SIGNATURES.search(reader.text):
            reader.wrong(
                "signatures are no format",
                hint="they stand in parsers/signatures; `faultlayer formats test` "
                "without a path proves them",
            )
            own.problems += reader.problems
            continue
        folder = file.absolute().parent.name
        # Outside of the folders of `parsers/` a format may name any layer.
        known = folder if folder in formats.FOLDERS else "host"
        loaded, wrong = formats.read_all(reader, known)
        own.problems += wrong
        own.formats += [loaded] if loaded is not None else []
    own.problems += _twice(own.formats)
    return own


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


def among(definitions: Definitions, own: Own) -> Definitions:
    """Put one's own among the others; what has another's name takes its place."""
    names = own.names
    rest = [one for one in definitions.formats if one.name not in names]
    whole = sorted([*rest, *own.formats], key=lambda one: one.name)
    around = {one.name for one in own.wrappers}
    others = [one for one in definitions.wrappers if one.name not in around]
    wrapped = sorted([*others, *own.wrappers], key=lambda one: one.name)
    return replace(definitions, formats=tuple(whole), wrappers=tuple(wrapped))


def problems_of(own: Own, whole: Definitions) -> list[DefinitionError]:
    """Give all that is wrong with a user's definitions, `whole` being those among all."""
    found = list(own.problems)
    for one in own.formats:
        found += prove.problems_of(one, whole, own=True)
    for wrapper in own.wrappers:
        found += prove.wrapper_problems(wrapper, whole)
    return in_order(found)


def proved(path: Path, definitions: Definitions) -> Definitions:
    """Give the definitions with a user's among them, all of them proved.

    Raises `DefinitionError` with everything that is wrong with them.
    """
    own = read(path)
    own.formats = [replace(one, given=True) for one in own.formats]
    whole = among(definitions, own)
    problems = problems_of(own, whole)
    if problems:
        text = "\n".join(str(problem) for problem in problems)
        raise DefinitionError(
            f"{wording.count(len(problems), 'problem')} in the formats of {path}\n{text}",
            hint=f"faultlayer formats test {path}",
        )
    return whole
