"""Explains a line: the event that its format makes of it, or why no format takes it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from faultlayer import find, near, parse
from faultlayer.detect import Definitions
from faultlayer.masking import shown
from faultlayer.render import Cell, Line, cut, line, wrapped

_NEAREST = 3
_CLOSE = 8  # characters that a pattern takes by more than chance
# Where the record stands; of no interest in a line by itself.
_PLACES = {"event_id", "source_id", "line", "lines", "byte_offset", "byte_length"}


def lines(
    definitions: Definitions, text: str, name: str | None, width: int
) -> Iterator[Line]:
    """Give what to print for a record; `name` restricts the search to one format.

    Raises UsageError for an unknown format.
    """
    if name is not None:
        definitions.format(name)
    events, rejects, reason = _parsed(definitions, text, name)
    for event in events:
        yield from _event(event, width)
        yield line()
    if events:
        yield line(Cell(f"detected by {reason}", "dim"))
    if rejects:
        yield line(
            Cell(
                f"{name or 'no format'} {'does not take' if name else 'takes'} it",
                "bold",
            )
        )
        yield from _misses(definitions, rejects[0]["text"] or "", name, width)


def _parsed(
    definitions: Definitions, text: str, name: str | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    """Run the record through the same way as a file."""
    overrides = [("*", name)] if name else []
    with tempfile.TemporaryDirectory(prefix="faultlayer-") as folder:
        file = Path(folder, "line.log")
        file.write_text(text.rstrip("\n") + "\n", "utf-8")
        [source] = find.find([str(file)]).sources
        detection = parse.sniff(source, definitions, overrides)
        events, rejects = Path(folder, "events"), Path(folder, "rejects")
        parse.parse_source(
            source,
            detection,
            definitions,
            parse.ParseOptions(),
            events,
            rejects,
        )
        taken = pq.read_table(events).to_pylist()
        return taken, pq.read_table(rejects).to_pylist(), detection.reason


def _event(event: dict[str, Any], width: int) -> Iterator[Line]:
    given = {
        key: value
        for key, value in event.items()
        if value is not None and key not in _PLACES and value != "{}"
    }
    margin = max(len(key) for key in given)
    for key, value in given.items():
        for text in wrapped(
            shown(str(value)), width, " " * (margin + 2), f"{key:<{margin}}  "
        ):
            yield line(text)


def _misses(
    definitions: Definitions, text: str, name: str | None, width: int
) -> Iterator[Line]:
    formats = [one for one in definitions.formats if name in {None, one.name}]
    misses = near.misses(formats, text)
    is_json = text.lstrip().startswith("{")
    close = [
        miss
        for miss in misses
        if name or (miss.json == is_json and (is_json or miss.taken >= _CLOSE))
    ]
    if not close:
        yield line(f"tried {len(formats)} formats, none comes near it")
        if name is None:
            yield line("faultlayer formats new --from FILE drafts one from its log")
        return
    for miss in close[:_NEAREST]:
        yield line()
        yield line(Cell(miss.format, "bold"), f" (pattern {miss.pattern})")
        if miss.json:
            yield line(f"  wants {miss.wanted}")
            continue
        yield from _place(text, miss.taken, width)
        yield line(f"  wants:  {cut(shown(miss.wanted), width - 10)}")
    further = [f"{miss.format} ({miss.taken})" for miss in close[_NEAREST:]]
    if further:
        yield line()
        label = "further formats, by the characters that they take:  "
        for part in wrapped(", ".join(further), width, "  ", label):
            yield line(Cell(part, "dim"))


def _place(text: str, taken: int, width: int) -> Iterator[Line]:
    """Show the text around a place, with a caret below it."""
    before = shown(text[max(taken - width // 2, 0) : taken])
    lead = "…" if taken > width // 2 else ""
    there = cut(shown(text[taken:]), max(width - 2 - len(lead + before), 1))
    yield line(f"  {lead}{before}{there}")
    said = "the line ends here" if taken >= len(text) else "does not fit"
    place = len(lead + before)
    caret = f"  {' ' * place}^ {said}, after {taken} characters"
    yield line(cut(caret, max(width, place + 4)))
