"""`faultlayer sql`: one statement, or a small shell."""

import sys
from datetime import timedelta
from pathlib import Path

import click

from faultlayer.commands import _answer


@click.command("sql")
@click.argument("case", type=click.Path(path_type=Path))
@click.argument("statement", required=False)
@_answer.asked
def command(
    case: Path,
    statement: str | None,
    *,
    kind: str | None,
    output: Path | None,
    rows: int,
    memory: str | None,
    timeout: timedelta | None,
) -> None:
    """Run one SQL STATEMENT over CASE; without one, open a shell.

    A case is read-only: the statement sees its tables and nothing else, no file and no
    network. SHOW TABLES lists them. All times are UTC. around('14:05:00', '10s') gives
    the records of all layers around a time, of('ccf39e37') all about a request.

    Tables and Markdown hide secrets and prompts; csv, json, jsonl and parquet give what
    was logged. In csv a text that begins with = + - @ tab or CR gets a ' in front, so
    that no spreadsheet runs it.

    Example: faultlayer sql ./faultlayer-case "SELECT cause, count(*) FROM verdicts
    GROUP BY cause"
    """
    import tempfile

    from faultlayer import answers, database
    from faultlayer.case import open_case

    opened = open_case(case)
    if statement is None and not sys.stdin.isatty():
        statement = sys.stdin.read()
    with tempfile.TemporaryDirectory(prefix="faultlayer-") as spill:
        con = database.connect(
            memory_limit=memory, time_limit=timeout, temp_dir=Path(spill)
        )
        try:
            database.attach_views(con, opened.path, sandbox=True)
            chosen = answers.format_of(kind, output)
            if statement is None:
                from faultlayer.commands import _dots, _shell

                _shell.run(con, opened.path, _dots.Settings(chosen, rows))
                return
            note = answers.answer(
                con,
                database.one_statement(con, statement),
                chosen,
                output=output,
                limit=rows,
            )
        finally:
            con.close()
    if note:
        click.echo(note, err=True)
