"""`faultlayer query`: the saved investigations of a case, listed or run."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultlayer.commands import _answer

if TYPE_CHECKING:
    from faultlayer.case import Case
    from faultlayer.investigations import Investigation, Value


@click.command("query", epilog="faultlayer query CASE lists what can be asked.")
@click.argument("case", type=click.Path(path_type=Path))
@click.argument("name", required=False)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="K=V",
    help="A parameter of the investigation; may be given several times.",
)
@_answer.asked
@click.option(
    "--queries",
    "own",
    type=click.Path(path_type=Path),
    help="Investigations of your own: a folder of .sql files, or one.",
)
@click.option(
    "--show", is_flag=True, help="Print the SQL and what it takes, do not run it."
)
def command(
    case: Path,
    name: str | None,
    *,
    params: tuple[str, ...],
    kind: str | None,
    output: Path | None,
    rows: int,
    memory: str | None,
    timeout: timedelta | None,
    own: Path | None,
    show: bool,
) -> None:
    """Run the saved investigation NAME over CASE; without a NAME, list them all.

    An investigation is a file of SQL with a question, parameters and columns. --show
    prints it, to be run changed with faultlayer sql, or kept in a folder of your own
    for --queries. All times are UTC.

    \b
    Examples:
      faultlayer query ./faultlayer-case
      faultlayer query ./faultlayer-case failures_over_time --param bucket=5m
      faultlayer query ./faultlayer-case retry_storms -o storms.csv
    """  # noqa: D301 - click's mark for lines that are not to be joined
    from faultlayer import answers, investigations
    from faultlayer.case import open_case
    from faultlayer.errors import UsageError

    opened = open_case(case)
    found = investigations.load(own)
    chosen = answers.format_of(kind, output)
    if name is None:
        if params or show or output or chosen not in {"table", "json"}:
            raise UsageError(
                "which investigation?", hint=f"faultlayer query {case} lists them"
            )
        _list(found, case, as_json=chosen == "json")
        return
    one = investigations.pick(found, name)
    if show:
        _show(one)
        return
    values = one.values(params)
    note = _run(opened, one, values, chosen, output, rows, memory, timeout)
    if note:
        click.echo(note, err=True)


def _run(
    case: "Case",
    one: "Investigation",
    values: "dict[str, Value]",
    kind: str,
    output: Path | None,
    rows: int,
    memory: str | None,
    timeout: timedelta | None,
) -> str:
    import sys
    import tempfile

    import duckdb

    from faultlayer import answers, database, investigations
    from faultlayer.errors import UsageError

    shown = kind == "table" and output is None and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="faultlayer-") as spill:
        con = database.connect(
            memory_limit=memory, time_limit=timeout, temp_dir=Path(spill)
        )
        try:
            database.attach_views(con, case.path, sandbox=one.own)
            investigations.check(con, one, values)
            if shown:
                click.secho(one.query.title, bold=True, err=True)
            return answers.answer(
                con,
                one.query.statement,
                kind,
                parameters=values,
                output=output,
                limit=rows,
            )
        except duckdb.IOException as error:
            raise database.damaged(case.path, error) from error
        except UsageError as error:
            cause = error.__cause__
            if isinstance(cause, duckdb.OutOfMemoryException):
                raise UsageError(
                    error.message, hint="give more with --memory"
                ) from cause
            if isinstance(cause, duckdb.Error):
                raise investigations.broken(one, cause) from cause
            raise
        finally:
            con.close()


def _list(found: "Sequence[Investigation]", case: Path, *, as_json: bool) -> None:
    import dataclasses
    import json

    from faultlayer import render
    from faultlayer.masking import shown
    from faultlayer.render import Cell

    if as_json:
        whole = [
            {
                "name": one.name,
                "title": one.query.title,
                "topic": one.topic,
                "answers": one.query.header.get("answers", ""),
                "path": one.query.path,
                "parameters": [dataclasses.asdict(each) for each in one.parameters],
                "columns": one.columns,
            }
            for one in found
        ]
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    screen = render.console()
    widest = max(len(one.name) for one in found)
    topic = ""
    lines: list[render.Line] = []
    for one in found:
        if one.topic != topic:
            topic = one.topic
            lines.append(render.line(Cell(topic, "bold")))
        lead = f"  {one.name:<{widest}}  "
        texts = render.wrapped(
            shown(one.query.title), screen.width, " " * len(lead), first=lead
        )
        lines += [render.line(text) for text in texts]
    render.put(screen, lines)
    if screen.is_terminal:
        click.echo(
            f"\nfaultlayer query {case} NAME runs one, --show prints what it takes",
            err=True,
        )


def _show(one: "Investigation") -> None:
    from faultlayer import assets
    from faultlayer.masking import safe

    path = one.query.path
    if one.own:
        text = Path(path).read_text("utf-8")
    else:
        root = assets.builtin("queries")
        text = root.joinpath(path.removeprefix("queries/")).read_text("utf-8")
    for line in text.splitlines():
        click.echo(safe(line))
