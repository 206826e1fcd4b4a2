"""Says which formats are tried on the lines of each stream, and in which order."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

import polars as pl

from faultlayer import detect, scoring
from faultlayer.detect import Definitions, Detection
from faultlayer.formats import Format, Pattern
from faultlayer.take import Order

ANY = "*"


@dataclass(frozen=True, slots=True)
class Trials:
    """The formats to try: detected ones, all others, and those of any program.

    The last are none where no wrapper names the program.
    """

    first: Order
    others: Order
    any_program: Order


class Orders:
    """The trials of a source's streams."""

    def __init__(self, detection: Detection, definitions: Definitions) -> None:
        self._detection = detection
        self._definitions = definitions
        self._known: dict[tuple[str, str | None], Trials] = {}

    def of(self, stream: str, program: str | None = None) -> Trials:
        """Give the trials of a stream and of the program that its wrapper names."""
        key = stream, program
        if key not in self._known:
            self._known[key] = self._trials(stream, program)
        return self._known[key]

    def _trials(self, stream: str, program: str | None) -> Trials:
        choices = self._detection.choices(stream)
        first = detect.order_of(self._definitions, choices)
        if not choices and program is not None:
            first = self._of_program(program)
        names = {one.name for one, _ in first}
        others: Order = [
            (one, [p for p in one.patterns if not (p.weak or p.shared or p.programs)])
            for one in sorted(self._definitions.formats, key=attrgetter("general"))
            if one.name not in names and not one.weak and not self._detection.forced
        ]
        named = program is not None and not self._detection.forced
        return Trials(first, others, self._of_program(ANY) if named else ())

    def _of_program(self, program: str | None) -> list[tuple[Format, list[Pattern]]]:
        return [
            (one, patterns)
            for one in self._definitions.formats
            if (patterns := scoring.patterns_of(one, program or ""))
        ]

    def groups(
        self, lines: pl.DataFrame, apart: frozenset[str]
    ) -> Iterator[tuple[str, Trials, pl.Series | None]]:
        """Give the lines by what is tried on them: a stream of theirs and positions.

        `lines` has stream and program; the positions are None for all lines. Streams in
        `apart` come by themselves.
        """
        streams = lines.get_column("stream")
        pairs = lines.select("stream", "program").unique().sort("stream", "program")
        groups: dict[object, list[str]] = {}
        trials: dict[object, Trials] = {}
        for stream, program in pairs.iter_rows():
            found = self.of(stream, program)
            key = stream if stream in apart else (_key(found), bool(found.any_program))
            groups.setdefault(key, []).append(stream)
            trials.setdefault(key, found)
        for key, names in groups.items():
            if len(groups) == 1:
                yield names[0], trials[key], None
            else:
                yield names[0], trials[key], streams.is_in(names).arg_true()


def _key(trials: Trials) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (one.name, tuple(pattern.name for pattern in patterns))
        for one, patterns in trials.first
    )
