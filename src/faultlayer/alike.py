"""Finds messages that differ in nothing but the values of their pairs, and reads these at once."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

_SAMPLE: Final = 128
#: Messages; of fewer it is not worth it.
FEWEST: Final = 16 * _SAMPLE
_SHAPES: Final = 8  # that are looked for
_SHARE: Final = 0.02  # of the sample that a shape has to have

_VALUE: Final = r"[0-9A-Za-z_./:+@%~-]+"
_PAIR: Final = re.compile(rf"([A-Za-z_][0-9A-Za-z_.-]*)={_VALUE}")
# Words of a sentence; what is in quotes or brackets is read otherwise.
_PLAIN: Final = re.compile(r"[0-9A-Za-z_.,:;/%+@~<>|!?*#&$^-]+")


@dataclass(frozen=True, slots=True)
class Alike:
    """Messages of one shape: their rows, ascending, and the values of each pair."""

    rows: pl.Series
    pairs: Sequence[tuple[str, pl.Series]]


def read(
    message: pl.Series, rows: pl.Series, beyond: re.Pattern[str]
) -> tuple[list[Alike], pl.Series]:
    """Give the messages of a few frequent shapes among these rows, and the rows left.

    A shape is words and `name=value` with one space between; one in which `beyond` finds
    something, a value being one character, is none. The first pair of a name counts.
    """
    found = []
    for words, regex in _shapes(message, rows, beyond):
        text = message.gather(rows).alias("text")
        mine = text.str.contains(regex)
        taken = rows.filter(mine)
        if not len(taken):
            continue
        cut = pl.col("text").str.splitn(" ", len(words)).struct
        first = {name: at for at, name in reversed([*enumerate(words)]) if name}
        values = (
            text.filter(mine)
            .to_frame()
            .select(
                cut.field(f"field_{at}").str.slice(len(name) + 1).alias(name)
                for name, at in first.items()
            )
        )
        order = sorted(first, key=first.__getitem__)
        found.append(Alike(taken, [(name, values[name]) for name in order]))
        rows = rows.filter(~mine)
    return found, rows


def _shapes(
    message: pl.Series, rows: pl.Series, beyond: re.Pattern[str]
) -> list[tuple[tuple[str, ...], str]]:
    """Give the names in a shape's words, "" for a plain word, and its regex."""
    if len(rows) < FEWEST:
        return []
    some = message.gather(rows.gather_every(len(rows) // _SAMPLE)).to_list()
    counts = Counter(shape for one in some if (shape := _shape(one)) is not None)
    frequent = sorted(
        (shape for shape in counts if counts[shape] > _SHARE * len(some)),
        key=lambda shape: (-counts[shape], shape),
    )
    return [
        (
            tuple(name for name, _ in shape),
            f"^{' '.join(pl.escape_regex(text) + (_VALUE if name else '') for name, text in shape)}$",
        )
        for shape in frequent[:_SHAPES]
        if not beyond.search(
            " ".join(f"{text}\x01" if name else text for name, text in shape)
        )
    ]


def _shape(message: str) -> tuple[tuple[str, str], ...] | None:
    """Give the words of a message: of each pair its name and what stands before the value."""
    shape = []
    for word in message.split(" "):
        if pair := _PAIR.fullmatch(word):
            shape.append((pair[1], f"{pair[1]}="))
        elif _PLAIN.fullmatch(word):
            shape.append(("", word))
        else:
            return None
    return tuple(shape) if any(name for name, _ in shape) else None
