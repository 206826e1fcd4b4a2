"""How the shell reads: with history and completion, or bare on a dumb terminal."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from faultlayer import completing, statements
from faultlayer.commands import _colours, _dots

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.lexers import Lexer

Read = Callable[[], str]
"""Gives what a person enters as a whole: a command, or SQL up to its `;`.

Raises EOFError when they want to end, KeyboardInterrupt when they drop what they typed.
"""

PROMPT = "faultlayer> "
MORE = "        ... "

_MENU = 8  # candidates that are shown at once


def reader(history: Path | None, functions: Sequence[str]) -> Read:
    """Choose how to read; `functions` of SQL are completed, `history` may be None."""
    stream = next((one for one in (sys.stdout, sys.stderr) if one.isatty()), None)
    if stream is None or os.environ.get("TERM", "dumb") in {"", "dumb", "unknown"}:
        return plain
    return edited(stream, history, functions)


def is_whole(text: str) -> bool:
    """Whether Enter ends what was typed: a command, nothing, or SQL with its `;`."""
    bare = text.strip()
    return not bare or _dots.command(bare) is not None or statements.is_complete(text)


def plain() -> str:
    """Read lines as they come."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - editing of `input`
    held: list[str] = []
    while True:
        prompt = MORE if held else PROMPT
        if not sys.stdout.isatty():  # that is where answers go
            click.echo(prompt, nl=False, err=True)
            prompt = ""
        try:
            held.append(input(prompt))
        except KeyboardInterrupt:
            click.echo(err=True)
            raise
        if is_whole("\n".join(held)):
            return "\n".join(held)


def edited(stream: TextIO, history: Path | None, functions: Sequence[str]) -> Read:
    """Read on a terminal that knows its cursor; prompts go to `stream`."""
    session = _session(stream, history, functions)

    def read() -> str:
        # The event loop takes what tells DuckDB of signals, and does not give it back.
        kept = signal.set_wakeup_fd(-1)
        try:
            return session.prompt()
        finally:
            signal.set_wakeup_fd(kept, warn_on_full_buffer=False)

    return read


def _session(
    stream: TextIO, history: Path | None, functions: Sequence[str]
) -> "PromptSession[str]":
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, InMemoryHistory
    from prompt_toolkit.output import create_output
    from prompt_toolkit.styles import Style

    return PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=MORE,
        history=FileHistory(str(history)) if history else InMemoryHistory(),
        completer=completer(functions),
        complete_while_typing=False,
        reserve_space_for_menu=_MENU,
        key_bindings=_keys(),
        lexer=_lexer(),
        style=Style.from_dict(_colours.STYLES),
        include_default_pygments_style=False,
        enable_suspend=True,
        output=create_output(stdout=stream),
    )


def completer(functions: Sequence[str]) -> "Completer":
    """Offer to prompt_toolkit what `completing` finds, and commands of the shell."""
    from prompt_toolkit.completion import Completer, Completion

    class Names(Completer):
        def get_completions(
            self, document: "Document", _event: object
        ) -> "Iterable[Completion]":
            for one in completing.candidates(
                document.text_before_cursor,
                document.text_after_cursor,
                commands=_dots.described(),
                functions=functions,
            ):
                yield Completion(one.text, -one.typed, display_meta=one.doc)

    return Names()


def _keys() -> "KeyBindings":
    from prompt_toolkit.filters import completion_is_selected, has_selection
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter", filter=completion_is_selected)
    def _choose(event: "KeyPressEvent") -> None:
        event.current_buffer.complete_state = None

    @keys.add("enter", filter=~completion_is_selected & ~has_selection)
    def _enter(event: "KeyPressEvent") -> None:
        buffer = event.current_buffer
        if is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    return keys


def _lexer() -> "Lexer":
    from prompt_toolkit.lexers import Lexer

    class Sql(Lexer):
        def lex_document(
            self, document: "Document"
        ) -> "Callable[[int], StyleAndTextTuples]":
            found = _colours.lines(document.text)

            def line(number: int) -> "StyleAndTextTuples":
                return list(found[number]) if number < len(found) else []

            return line

    return Sql()
