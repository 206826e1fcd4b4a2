"""The commands of the shell that begin with a dot, and what they may be given."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from faultlayer import answers, lexicon, render
from faultlayer.errors import UsageError
from faultlayer.lexicon import Table as Known
from faultlayer.render import Cell, Line, Table

FORMATS: Final = tuple(name for name in answers.FORMATS if name != "parquet")

_SHORT: Final = {".q": ".quit", ".exit": ".quit", ".columns": ".schema"}
#: What people type who know another shell; none of it begins a statement.
_BARE: Final = {"help": ".help", "?": ".help", "\\q": ".quit"} | dict.fromkeys(
    ("exit", "quit"), ".quit"
)
_HELP: Final = """\
A statement of SQL ends with ; and may span lines. Times are UTC.

{commands}

Tab completes   Ctrl-C stops a query or drops what is typed   Ctrl-D ends

SELECT cause, count(*) FROM verdicts GROUP BY ALL;    why did requests fail?
FROM around('14:05:00', '10s');                       what happened around then?
FROM of('ccf39e37');                                  all about one request
"""


@dataclass(slots=True)
class Settings:
    """What a person can set for the answers: how they are written, rows of a table."""

    kind: str
    rows: int


@dataclass(frozen=True, slots=True)
class _Command:
    given: str
    doc: str
    run: Callable[[Settings, str, TextIO], str | None]
    values: tuple[str, ...] = ()


def described() -> list[tuple[str, str, Sequence[str]]]:
    """List name, meaning and possible values of each command."""
    return [(name, one.doc, one.values) for name, one in _commands().items()]


def command(text: str) -> str | None:
    """Give the command that was entered, None where it is a statement of SQL."""
    bare = text.strip()
    if bare.startswith("."):
        return bare
    return _BARE.get(bare.removesuffix(";").rstrip().lower())


def run(text: str, settings: Settings, screen: TextIO) -> str | None:
    """Run one command; gives a note for the person, None when the shell is to end.

    Raises UsageError for a command or value that there is not.
    """
    word, _, rest = text.strip().removesuffix(";").partition(" ")
    word = _SHORT.get(word, word)
    commands = _commands()
    if word not in commands:
        near = _nearest(word, commands)
        raise UsageError(
            f"{word} is no command", hint=near or ".help lists the commands"
        )
    return commands[word].run(settings, rest.strip(), screen)


def _commands() -> dict[str, _Command]:
    tables = tuple(lexicon.tables())
    return {
        ".tables": _Command("", "the tables and what they hold", _tables),
        ".schema": _Command(
            "[TABLE]", "the columns of one table or all, with meaning", _schema, tables
        ),
        ".format": _Command(
            "[NAME]", f"how answers are written: {' '.join(FORMATS)}", _format, FORMATS
        ),
        ".rows": _Command("[N]", "rows of a table that are shown, 0 for all", _rows),
        ".help": _Command("", "this", _help),
        ".quit": _Command("", "ends the shell", _quit),
    }


def _help(_settings: Settings, _rest: str, screen: TextIO) -> str:
    rows = [
        [f"{name} {one.given}".strip(), one.doc] for name, one in _commands().items()
    ]
    lines = render.tabulated(Table(["", ""], rows), None)
    listed = "\n".join(line.plain.rstrip() for line in lines)
    screen.write(_HELP.format(commands=listed))
    return ""


def _quit(_settings: Settings, _rest: str, _screen: TextIO) -> None:
    return None


def _tables(_settings: Settings, _rest: str, screen: TextIO) -> str:
    console = render.console(screen)
    known = lexicon.tables().values()
    margin = max(len(one.call) for one in known) + 2
    for one in known:
        lead = f"{one.call:<{margin}}"
        lines = render.wrapped(one.doc, console.width, " " * margin, lead)
        render.put(console, lines)
    return ""


def _schema(_settings: Settings, rest: str, screen: TextIO) -> str:
    known = lexicon.tables()
    name = rest.strip('"').lower()
    if name and name not in known:
        raise UsageError(
            f"no table is called {rest}",
            hint=_nearest(name, known) or ".tables lists them",
        )
    console = render.console(screen)
    for number, one in enumerate([known[name]] if name else known.values()):
        lines = (
            ["", *_columns(one, console.width)]
            if number
            else _columns(one, console.width)
        )
        render.put(console, lines)
    return ""


def _columns(one: Known, width: int) -> Iterator[Line | str]:
    yield render.line(Cell(one.call, "bold"), f"  {one.doc}")
    names = [*one.parameters, *one.columns]
    margin = max(len(name) for name in names) + 2
    types = [*one.types.values(), *("" for _ in one.columns if not one.types)]
    kinds = [*("takes" for _ in one.parameters), *types]
    second = max(len(kind) for kind in kinds)
    docs = [*one.parameters.values(), *one.columns.values()]
    for column, kind, doc in zip(names, kinds, docs, strict=True):
        lead = f"  {column:<{margin}}{kind:<{second}}  "
        yield from render.wrapped(doc, width, " " * len(lead), lead)


def _format(settings: Settings, rest: str, _screen: TextIO) -> str:
    if not rest:
        return f"answers are written as {settings.kind}"
    if rest not in FORMATS:
        raise UsageError(
            f"{rest} is no format of the shell",
            hint=_nearest(rest, FORMATS) or f"one of {', '.join(FORMATS)}",
        )
    settings.kind = rest
    return ""


def _rows(settings: Settings, rest: str, _screen: TextIO) -> str:
    if not rest:
        return f"{settings.rows or 'all'} rows of a table are shown"
    if not rest.isdecimal():
        raise UsageError(f"{rest} is no number of rows", hint=".rows 0 shows all")
    settings.rows = int(rest)
    return ""


def _nearest(word: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(names), 3)
    return f"perhaps {', '.join(close)}" if close else ""
