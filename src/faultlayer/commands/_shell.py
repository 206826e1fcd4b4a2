"""The interactive SQL shell: what a person enters, its answer, the next one."""

import contextlib
from pathlib import Path

import click
import duckdb

from faultlayer import answers, database
from faultlayer.commands import _dots, _history, _pager, _prompt
from faultlayer.commands._dots import Settings
from faultlayer.commands._say import say
from faultlayer.errors import FaultlayerError

_FUNCTIONS = """
SELECT DISTINCT function_name FROM duckdb_functions()
WHERE function_type IN ('scalar', 'aggregate', 'macro')
    AND regexp_full_match(function_name, '[a-z][a-z0-9_]+')
ORDER BY function_name
"""


def run(con: duckdb.DuckDBPyConnection, case: Path, settings: Settings) -> None:
    """Ask and answer on a terminal until `.quit` or Ctrl-D."""
    functions = [str(row[0]) for row in con.execute(_FUNCTIONS).fetchall()]
    read = _prompt.reader(_history.path(case), functions)
    click.echo("SQL over this case; .help says more, Ctrl-D ends.", err=True)
    converse(con, read, settings)


def converse(
    con: duckdb.DuckDBPyConnection, read: _prompt.Read, settings: Settings
) -> None:
    """Answer what `read` gives until it ends; Ctrl-C ends an answer, not this."""
    while True:
        try:
            if not _answered(con, read(), settings):
                return
        except EOFError:
            click.echo(err=True)
            return
        except KeyboardInterrupt:
            continue


def _answered(con: duckdb.DuckDBPyConnection, text: str, settings: Settings) -> bool:
    """Answer one entry; False when it asks to end."""
    try:
        dots = _dots.command(text)
        if dots is not None:
            with _pager.screen() as screen:
                note = _dots.run(dots, settings, screen)
            if note is None:
                return False
            _tell(note)
        else:
            for statement in database.split(con, text):
                _ask(con, statement, settings)
    except FaultlayerError as error:
        say(error)
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "interrupted" not in str(error):
            raise
        click.echo("\ninterrupted", err=True)
    return True


def _ask(con: duckdb.DuckDBPyConnection, statement: str, settings: Settings) -> None:
    note = ""
    checked = database.one_statement(con, statement)
    with _pager.screen() as screen:
        note = answers.answer(
            con, checked, settings.kind, limit=settings.rows, screen=screen
        )
    _tell(note.replace("--rows 0", ".rows 0").replace("--format csv", ".format csv"))


def _tell(note: str) -> None:
    if note:
        with contextlib.suppress(BrokenPipeError):
            click.echo(note, err=True)
