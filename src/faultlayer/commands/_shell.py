"""The interactive SQL shell: lines until a `;`, an answer, the next one."""

import contextlib

import click
import duckdb

from faultlayer import answers, database
from faultlayer.commands._say import say
from faultlayer.errors import UsageError

_HELP = """\
A statement ends with ; and may span lines.
.tables        the tables          .columns TABLE   its columns, with their meaning
.format NAME   {formats}
.quit          or Ctrl-D"""

_PROMPT = "faultlayer> "
_MORE = "        ... "

_TABLES = """
SELECT view_name AS name, comment AS holds FROM duckdb_views()
WHERE NOT internal ORDER BY view_name
"""


def run(con: duckdb.DuckDBPyConnection, kind: str, limit: int) -> None:
    """Read statements from the terminal until `.quit` or Ctrl-D."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - editing and history of `input`
    click.echo("SQL over this case; .help says more, Ctrl-D ends.", err=True)
    held: list[str] = []
    while True:
        try:
            text = input(_MORE if held else _PROMPT)
        except EOFError:
            click.echo(err=True)
            return
        except KeyboardInterrupt:
            click.echo(err=True)
            held = []
            continue
        if not held and text.strip().startswith("."):
            word, _, rest = text.strip().partition(" ")
            if word in {".quit", ".exit", ".q"}:
                return
            kind = _dot(con, word, rest.strip(), kind)
            continue
        if not held and not text.strip():
            continue
        held.append(text)
        if text.rstrip().endswith(";"):
            _answer(con, "\n".join(held), kind, limit)
            held = []


def _dot(con: duckdb.DuckDBPyConnection, word: str, rest: str, kind: str) -> str:
    shown = [name for name in answers.FORMATS if name != "parquet"]
    if word == ".tables":
        _answer(con, _TABLES, "table", 0)
    elif word == ".columns" and rest in database.VIEWS:
        _answer(
            con,
            "SELECT column_name, data_type, comment FROM duckdb_columns()"
            f" WHERE table_name = '{rest}' ORDER BY column_index",
            "table",
            0,
        )
    elif word == ".columns":
        click.echo(f"tables: {', '.join(database.VIEWS)}", err=True)
    elif word == ".format" and rest in shown:
        return rest
    else:
        click.echo(_HELP.format(formats=" ".join(shown)), err=True)
    return kind


def _answer(con: duckdb.DuckDBPyConnection, text: str, kind: str, limit: int) -> None:
    try:
        note = answers.answer(con, database.one_statement(con, text), kind, limit=limit)
    except UsageError as error:
        say(error)
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "interrupted" not in str(error):
            raise
        click.echo("\ninterrupted", err=True)
    else:
        if note:
            click.echo(note, err=True)
