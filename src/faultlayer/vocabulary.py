"""What messages may mean: the kinds of records, and the signatures that tell them."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from faultlayer import schema
from faultlayer.errors import Location

TYPES = pl.DataFrame(schema.arrow(schema.EVENTS_RAW).empty_table()).schema
#: Characters that a literal has at least: shorter ones find every record.
SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Example:
    """A text that a signature must take, or must not (then `reason` says why not)."""

    text: str
    layer: str | None
    component: str | None
    kinds: tuple[str, ...] | None
    expect: dict[str, Any]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Signature:
    """One `[[signature]]`; `rank` is the place of its kind, lower is more specific."""

    kind: str
    rank: int
    at: Literal["start", "line", "anywhere"]
    literals: tuple[str, ...]
    regex: str | None
    groups: tuple[str, ...]
    layers: tuple[str, ...]
    components: tuple[str, ...]
    exclusive: bool
    severity: str | None
    numbers: frozenset[str]
    at_least: tuple[str, str] | None
    ids: str | None
    ids_within: str | None
    examples: tuple[Example, ...]
    where: Location

    def applies(self, there: Mapping[str, Set[str | None]]) -> list[pl.Expr]:
        """Say when a row is of its layers and components; those of all are `there`."""
        meant = {"layer": self.layers, "component": self.components}
        return [
            pl.col(name).is_in(wanted)
            for name, wanted in meant.items()
            if wanted and not there[name] <= set(wanted)
        ]

    def starts(self) -> pl.Expr:
        """Whether a text begins with one of its literals."""
        return pl.any_horizontal(
            pl.col("text").str.starts_with(literal) for literal in self.literals
        )


@dataclass(frozen=True, slots=True)
class Signatures:
    """All signatures, most specific first, and the vocabulary of kinds in its order."""

    kinds: tuple[dict[str, str], ...]
    items: tuple[Signature, ...]
    unread: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The event columns that `name_kinds` may fill, in the order of the schema."""
        groups = {group for item in self.items for group in item.groups}
        groups |= {"kind", "kinds", "severity", "raw_request_id", "id_parts", "attrs"}
        return tuple(name for name in TYPES if name in groups - {"request_id"})

    def table(self) -> pl.DataFrame:
        """Give one row per kind: kind, rank, timing, title, signatures (number of)."""
        counts = [
            sum(item.kind == kind["name"] for item in self.items) for kind in self.kinds
        ]
        return pl.DataFrame(
            {
                "kind": [kind["name"] for kind in self.kinds],
                "rank": range(len(self.kinds)),
                "timing": [kind["timing"] for kind in self.kinds],
                "title": [kind["title"] for kind in self.kinds],
                "signatures": counts,
            },
            schema_overrides={"rank": pl.Int64, "signatures": pl.Int64},
        )
