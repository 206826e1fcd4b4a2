"""What the author of a format may want to look at, though nothing is wrong."""

from collections.abc import Iterator

import polars as pl

from faultlayer.definitions import Reader
from faultlayer.errors import DefinitionError
from faultlayer.formats import Format
from faultlayer.take import take


def notes_of(format_: Format) -> list[DefinitionError]:
    """Give notes on a format, with their places; none of them makes it fail."""
    reader = Reader(format_.path, format_.text)
    head = ("format",)
    found = []
    if not format_.misses:
        found.append(
            reader.problem(
                "nothing is said of what it misses",
                at=head,
                hint="misses = 'What this format does not take, for the reader.'",
            )
        )
    if not format_.rejects:
        found.append(
            reader.problem(
                "no [[reject]]",
                at=head,
                hint="a look-alike that it must not take shows where the format ends",
            )
        )
    if not format_.stamps and not format_.weak:
        found.append(
            reader.problem(
                "no time: its events get that of their neighbours, or of a wrapper",
                at=head,
                hint="[[time]] names the field and its spelling",
            )
        )
    for number, pattern, name in _empty(format_):
        found.append(
            reader.problem(
                f"pattern {pattern!r}: no sample has a value for {name!r}",
                at=("pattern", number),
                hint="add a sample that has one, or leave the group out",
            )
        )
    return found


def _empty(format_: Format) -> Iterator[tuple[int, str, str]]:
    """Find the groups that none of the samples of their pattern fills."""
    lines = [
        sample.line.split("\n", maxsplit=1)[0]
        for sample in format_.samples
        if not sample.header
    ]
    text = pl.Series(lines, dtype=pl.String)
    for number, pattern in enumerate(format_.patterns):
        if pattern.json is not None or format_.table or not lines:
            continue
        hits, _ = take(text, [(format_, [pattern])])
        if not hits:
            continue
        filled = {
            name
            for hit in hits
            for name in hit.fields.columns
            if hit.fields.get_column(name).null_count() < len(hit.fields)
        }
        for name in pattern.names:
            if name not in filled and name not in format_.drop:
                yield number, pattern.name, name
