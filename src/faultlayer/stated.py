"""What a user states of his stack: limits, thresholds, response targets, layers.

`queries/values.toml` has the names, the defaults and what they mean.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources.abc import Traversable
from typing import Final

from faultlayer import assets

SECTIONS: Final = ("limits", "thresholds", "targets")
LAYERS: Final = ("model", "harness", "quota", "client")

_CAUSE: Final = re.compile(r"'((?:model|harness|quota|client)\.[a-z][a-z0-9_]*)'")
_HEADER: Final = re.compile(r"^-- cause: (\S+\.\S+)$", re.MULTILINE)
_QUOTED: Final = re.compile(r"'([a-z0-9_]+)'")


@dataclass(frozen=True, slots=True)
class Value:
    """A number that rules read; `default` is None for what only logs or users know."""

    section: str
    name: str
    unit: str
    title: str
    default: float | None

    def shown(self, number: float) -> str:
        """Give the number with its unit."""
        return f"{number:,.10g} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Stated:
    """Numbers by section and name, and layers by pattern of causes.

    Each with the place that says it, `faultlayer.toml:12`.
    """

    numbers: Mapping[tuple[str, str], tuple[float, str]] = field(default_factory=dict)
    layers: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def number(self, value: Value) -> float | None:
        """Give what holds for a value: the user's word, else the default."""
        return self.numbers.get((value.section, value.name), (value.default, ""))[0]

    def source(self, value: Value) -> str:
        """Say where a number comes from."""
        found = self.numbers.get((value.section, value.name))
        return found[1] if found else "default"

    def macros(self) -> Iterable[str]:
        """Give the macros `threshold(name)`, `target(layer)` and `layer_of(cause)`.

        Constants: the database folds them where they stand.
        """
        for section in ("thresholds", "targets"):
            arms = " ".join(
                f"WHEN '{one.name}' THEN {float(number)!r}"
                for one in known()
                if one.section == section and (number := self.number(one)) is not None
            )
            # A cast, since a decimal would else be as exact as it was written.
            yield (
                f"CREATE OR REPLACE TEMP MACRO {section.removesuffix('s')}(name) AS"
                f" CAST(CASE name {arms} END AS DOUBLE)"
            )
        arms = " ".join(
            f"WHEN cause GLOB '{glob}' THEN '{layer}'"
            for glob, (layer, _) in self.layers.items()
        )
        plain = "split_part(cause, '.', 1)"
        body = f"CASE {arms} ELSE {plain} END" if arms else plain
        yield f"CREATE OR REPLACE TEMP MACRO layer_of(cause) AS {body}"

    def limits(self) -> str:
        """Give the statement for the rows `key, number, place, given` of all limits."""
        rows = [
            f"('{one.name}', {float(number)!r}, '{_quote(self.source(one))}',"
            f" {(one.section, one.name) in self.numbers})"
            for one in known()
            if one.section == "limits" and (number := self.number(one)) is not None
        ]
        return (
            "SELECT key, CAST(number AS DOUBLE) AS number, place, given"
            f" FROM (VALUES {', '.join(rows)}) AS limits (key, number, place, given)"
        )


def _quote(text: str) -> str:
    return text.replace("'", "''")


@cache
def known() -> tuple[Value, ...]:
    """Give all values that rules may read, in the order of their file."""
    text = assets.builtin("queries").joinpath("values.toml").read_text("utf-8")
    return tuple(
        Value(section, name, one["unit"], one["title"], one.get("default"))
        for section, values in tomllib.loads(text).items()
        for name, one in values.items()
    )


def names_in(statement: str) -> set[tuple[str, str]]:
    """Give section and name of the values that a statement names."""
    quoted = set(_QUOTED.findall(statement))
    words = set(re.findall(r"\w+", statement))
    asked = {"limits": "settings", "thresholds": "threshold", "targets": "target"}
    return {
        (one.section, one.name)
        for one in known()
        if one.name in quoted and asked[one.section] in words
    }


@cache
def _builtin_causes() -> frozenset[str]:
    return frozenset(_causes(assets.builtin("queries")))


def causes(own: Iterable[str] = ()) -> frozenset[str]:
    """Give every cause that a verdict can have; `own` are texts of a user's rules."""
    return _builtin_causes().union(*(_named(text) for text in own))


def _causes(folder: Traversable) -> set[str]:
    found: set[str] = set()
    for entry in folder.iterdir():
        if entry.is_dir():
            found |= _causes(entry)
        elif entry.name.endswith(".sql"):
            found |= _named(entry.read_text("utf-8"))
    return found


def _named(text: str) -> set[str]:
    return {*_CAUSE.findall(text), *_HEADER.findall(text)}
