"""Reads faultlayer.toml, strictly: what it does not know is an error with its place."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from faultlayer import stated
from faultlayer.definitions import Reader, raise_all
from faultlayer.errors import UsageError
from faultlayer.stated import Stated

#: Keys of the file that are options of `analyze`, with their types and what they mean.
OPTIONS: Final[dict[str, tuple[str, str]]] = {
    "case": ("text", "folder of the case, seen from the file"),
    "formats": (
        "text",
        "a format of your own, or a folder of them, seen from the file",
    ),
    "rules": ("text", "a folder of rules of your own, seen from the file"),
    "reference": ("text", "glob of the clock by which the others are corrected"),
    "workers": ("whole", "threads"),
    "memory": ("text", "memory for the SQL part, such as 2GB"),
    "strict": ("flag", "exit 3 when evidence is incomplete"),
    "fail-on": (
        "texts",
        "exit 4 when a request failed by these: layers, causes, globs, `model.*>10`",
    ),
    "max-unpacked": ("text", "most that archives may unpack to in all"),
    "max-ratio": ("number", "most that a large file may be larger than packed"),
    "max-members": ("whole", "most members of an archive"),
    "max-depth": ("whole", "most archives in archives"),
}
TABLES: Final[dict[str, str]] = {
    "source": "glob of files = name of the format to read them as",
    "clock": "glob of files, folders or clocks = what the clock is ahead, such as +8h;"
    " keep; and `reference`, as above",
    "layers": "cause, or a glob of causes = the layer that it counts to",
}
_KINDS: Final[dict[str, tuple[type | tuple[type, ...], str]]] = {
    "text": (str, "text"),
    "texts": ((str, list), "text or a list of texts"),
    "whole": (int, "a whole number above 0"),
    "number": ((int, float), "a number above 0"),
    "flag": (bool, "true or false"),
}


@dataclass(frozen=True, slots=True)
class Config:
    """What a file says: options by key, numbers and layers, and where it lies.

    `layers` are checked by `settle`, once all causes are known.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    stated: Stated = field(default_factory=Stated)
    folder: Path = Path()
    reader: Reader | None = None

    def settle(self, causes: Iterable[str]) -> None:
        """Raise `DefinitionError` for patterns of `[layers]` that fit no cause."""
        known = sorted(causes)
        if self.reader is None:
            return
        for glob in self.stated.layers:
            if not any(fnmatchcase(cause, glob) for cause in known):
                self.reader.wrong(
                    f"no cause is called {glob!r}",
                    hint=_near(glob, known) or "faultlayer rules list has them",
                    at=("layers", glob),
                )
        raise_all(self.reader.problems, f"problems in {self.reader.path}")


def read(path: Path) -> Config:
    """Read a file; raises `UsageError` when there is none, `DefinitionError` with all faults."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text: {error}") from error
    reader = Reader(str(path), text)
    whole = reader.parsed() or {}
    top = {*OPTIONS, *TABLES, *stated.SECTIONS}
    for key in whole.keys() - top:
        reader.wrong(f"unknown key {key!r}", hint=_hint(key, top), at=(key,))
    options = {
        key: whole[key]
        for key, (kind, _) in OPTIONS.items()
        if key in whole and _is(reader, whole[key], kind, (key,))
    }
    options |= {name: _texts(reader, whole, name) for name in ("source", "clock")}
    if chosen := options["clock"].pop("reference", None):
        options["reference"] = chosen
    numbers = {
        key: number
        for section in stated.SECTIONS
        for key, number in _numbers(reader, whole, section).items()
    }
    layers: dict[str, tuple[str, str]] = {}
    for glob, layer in _texts(reader, whole, "layers").items():
        if layer in stated.LAYERS:
            layers[glob] = (layer, _place(reader, ("layers", glob)))
        else:
            reader.wrong(
                f"no layer is called {layer!r}",
                hint=f"one of {', '.join(stated.LAYERS)}",
                at=("layers", glob),
                index=0,
            )
    raise_all(reader.problems, f"problems in {path}")
    return Config(options, Stated(numbers, layers), path.parent, reader)


def _numbers(
    reader: Reader, whole: Mapping[str, Any], section: str
) -> dict[tuple[str, str], tuple[float, str]]:
    known = {one.name for one in stated.known() if one.section == section}
    found = {}
    for name, value in _table(reader, whole, section).items():
        at = (section, name)
        if name not in known:
            reader.wrong(
                f"unknown key {name!r} in [{section}]", hint=_hint(name, known), at=at
            )
        elif _is(reader, value, "number", at):
            found[at] = (float(value), _place(reader, at))
    return found


def _texts(reader: Reader, whole: Mapping[str, Any], key: str) -> dict[str, str]:
    return {
        name: value
        for name, value in _table(reader, whole, key).items()
        if _is(reader, value, "text", (key, name))
    }


def _table(reader: Reader, whole: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = whole.get(key, {})
    if isinstance(value, dict):
        return value
    reader.wrong(f"{key} must be a table", hint=f"[{key}]", at=(key,))
    return {}


def _is(reader: Reader, value: object, kind: str, at: tuple[str, ...]) -> bool:
    wanted, words = _KINDS[kind]
    fits = isinstance(value, wanted) and (kind == "flag" or not isinstance(value, bool))
    if fits and isinstance(value, list):
        fits = all(isinstance(one, str) for one in value)
    if fits and isinstance(value, int | float) and kind != "flag":
        fits = value > 0 and math.isfinite(value)
    if not fits:
        reader.wrong(f"{at[-1]} must be {words}", at=at, index=0)
    return fits


def _place(reader: Reader, at: tuple[str, ...]) -> str:
    offset = reader.places.key(at)
    line = reader.places.position(offset)[0] if offset is not None else 1
    return f"{Path(reader.path).name}:{line}"


def _hint(name: str, known: Iterable[str]) -> str:
    words = f"known keys: {', '.join(sorted(known))}"
    near = _near(name, known)
    return f"{near} {words}" if near else words


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, sorted(known), 1)
    return f"did you mean {near[0]}?" if near else ""
