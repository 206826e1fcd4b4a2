"""Puts text on the terminal: consoles, tables that fit the width, wrapped lines.

What comes from a log has gone through `masking.shown` before it gets here; here every
string is taken literally, never as markup.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

Line = Text
"""A line to print, made by `line`."""

__all__ = [
    "NULL",
    "Cell",
    "Line",
    "Table",
    "cell_len",
    "console",
    "cut",
    "fits",
    "labelled",
    "line",
    "packed",
    "put",
    "stacked",
    "tabulated",
    "wrapped",
]

_PIPE_WIDTH = 120
_NARROWEST = 40
_FULL = 12  # cells that a column needs at least before a table is worth it


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of text with a style of rich (`"bold red"`)."""

    text: str
    style: str = ""


NULL = Cell("NULL", "dim")
"""How a missing value is shown."""


@dataclass(slots=True)
class Table:
    """Rows under headers; `right` are the columns of numbers, `grow` may be cut.

    Numbers and the columns of `whole` lose their meaning when they are cut.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str | Cell]] = ()
    right: frozenset[int] = frozenset()
    grow: int | None = None
    whole: frozenset[int] = frozenset()


class _Screen(Console):
    """A console whose reader may go, as one of `| head` does; that is no fault."""

    def on_broken_pipe(self) -> None:
        """Raise it to who runs the command, instead of ending with a code of its own."""
        raise BrokenPipeError


def console(file: TextIO | None = None) -> Console:
    """Make a console that prints literally, in colour only on a terminal."""
    stream = file or sys.stdout
    terminal = stream.isatty()
    plain = _Screen(
        file=stream,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
        force_terminal=terminal,
        no_color=None if terminal else True,
    )
    if not terminal:
        given = os.environ.get("COLUMNS", "")
        plain.width = int(given) if given.isdigit() else _PIPE_WIDTH
    plain.width = max(plain.width, _NARROWEST)
    return plain


def put(screen: Console, lines: Iterable[Text | str]) -> None:
    """Print lines as they are, each on its own."""
    for line in lines:
        text = Text(line) if isinstance(line, str) else line
        text.rstrip()
        screen.print(text)


def line(*cells: str | Cell) -> Text:
    """Join pieces to one line."""
    text = Text()
    for cell in cells:
        if isinstance(cell, Cell):
            text.append(cell.text, cell.style or None)
        else:
            text.append(cell)
    return text


def cut(text: str, width: int) -> str:
    """Shorten text to a number of terminal cells, with `…` where something is lost."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def packed(parts: Sequence[str], width: int, between: str) -> list[str]:
    """Join parts to lines of a width, broken only between parts where that is possible."""
    lines: list[str] = []
    for part in parts:
        joined = lines[-1] + between + part if lines else part
        if lines and cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines += _broken(part, width)
    return lines


def labelled(label: str, parts: Sequence[str], width: int, between: str) -> list[Text]:
    """Set a bold label in the margin and `packed` parts beside it."""
    margin = 8
    return [
        line(Cell(f"{label if not number else '':<{margin}}", "bold"), text)
        for number, text in enumerate(packed(parts, width - margin, between))
    ]


def wrapped(
    text: str, width: int, indent: str = "", first: str | None = None
) -> list[str]:
    """Break text at blanks; `first` stands before the first line, `indent` after."""
    lead = indent if first is None else first
    lines = _broken(text, max(width - cell_len(indent), 20))
    return [(indent if number else lead) + item for number, item in enumerate(lines)]


def _broken(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def tabulated(table: Table, width: int | None) -> list[Text]:
    """Lay a table out, cutting the cells of `grow` and then the widest to fit."""
    rows = [[_cell(value) for value in row] for row in table.rows]
    widths = [
        max([cell_len(header), *(cell_len(row[number].text) for row in rows)])
        for number, header in enumerate(table.headers)
    ]
    if width is not None:
        _fit(widths, table, width)
    lines = []
    if any(table.headers):
        lines.append(
            _row([Cell(h, "bold") for h in table.headers], widths, table.right)
        )
    lines += [_row(row, widths, table.right) for row in rows]
    return lines


def fits(table: Table, width: int) -> bool:
    """Whether a table can be laid out in a width without becoming unreadable."""
    rows = [[_cell(value) for value in row] for row in table.rows]
    least = [
        min(
            _FULL if number not in table.right | table.whole else width,
            max([cell_len(header), *(cell_len(row[number].text) for row in rows)]),
        )
        for number, header in enumerate(table.headers)
    ]
    return sum(least) + 2 * (len(least) - 1) <= width


def stacked(table: Table, width: int | None) -> list[Text]:
    """Lay out one row below the other, a line a column; those without a value last."""
    margin = max(cell_len(header) for header in table.headers)
    lines = []
    for number, row in enumerate(table.rows, 1):
        lines.append(line(Cell(f"row {number}", "bold")))
        empty = []
        for header, value in zip(table.headers, row, strict=True):
            cell = _cell(value)
            if cell == NULL:
                empty.append(header)
                continue
            text = cell.text if width is None else cut(cell.text, width - margin - 4)
            lines.append(line(f"  {header:<{margin}}  ", Cell(text, cell.style)))
        if empty:
            text = f"NULL: {', '.join(empty)}"
            given = wrapped(text, width, "  ") if width else [f"  {text}"]
            lines += [line(Cell(item, NULL.style)) for item in given]
    return lines


def _cell(value: str | Cell) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)


def _fit(widths: list[int], table: Table, width: int) -> None:
    room = width - 2 * (len(widths) - 1)
    excess = sum(widths) - room
    if excess > 0 and table.grow is not None:
        taken = min(excess, max(widths[table.grow] - _FULL, 0))
        widths[table.grow] -= taken
        excess -= taken
    while excess > 0:
        kept = table.right | table.whole
        flexible = [n for n in range(len(widths)) if n not in kept]
        widest = max(flexible or range(len(widths)), key=lambda n: widths[n])
        if widths[widest] <= 1:
            return
        widths[widest] -= 1
        excess -= 1


def _row(cells: Sequence[Cell], widths: Sequence[int], right: frozenset[int]) -> Text:
    pieces: list[str | Cell] = []
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        text = cut(cell.text, width)
        space = " " * (width - cell_len(text))
        if number:
            pieces.append("  ")
        pieces += (
            [space, Cell(text, cell.style)]
            if number in right
            else [
                Cell(text, cell.style),
                space,
            ]
        )
    return line(*pieces)
