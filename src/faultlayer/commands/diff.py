"""`faultlayer diff`: what rose and fell between two cases, or two windows of one."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultlayer.commands import _answer
from faultlayer.commands._moment import Given, placed, read
from faultlayer.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from faultlayer.case import Case
    from faultlayer.changes import Comparison

Window = tuple[datetime | None, datetime | None]
Asked = tuple[Given, Given]

_OPEN: Window = (None, None)


def _window(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> Asked | None:
    """Read FROM..TO; either may be left out, a time without a zone is UTC."""
    del ctx
    if value is None:
        return None
    try:
        start, end = (text.strip() for text in value.split(".."))
        return read(start) if start else None, read(end) if end else None
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no FROM..TO; for example 13:00..2026-11-30T14:00",
            param=param,
        ) from None


def _placed(case: "Case", asked: Asked | None) -> Window | None:
    if asked is None:
        return None
    since, until = (placed(case, one) for one in asked)
    if since and until and until <= since:
        said = f"{since:%Y-%m-%dT%H:%M:%S}..{until:%Y-%m-%dT%H:%M:%S}"
        raise UsageError(f"{said} ends before it begins")
    return since, until


@click.command("diff")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("case", type=click.Path(path_type=Path), required=False)
@click.option(
    "--base-window",
    callback=_window,
    metavar="FROM..TO",
    help="Of BASE only the attempts that ended in this time.",
)
@click.option(
    "--window",
    callback=_window,
    metavar="FROM..TO",
    help="Of CASE only the attempts that ended in this time.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(1e-9, 0.2),
    default=0.01,
    show_default=True,
    help="In what share of runs chance alone may be taken for a difference.",
)
@click.option("--all", "everything", is_flag=True, help="What is as it was, too.")
@_answer.written
@click.option("--memory", help="Memory for the comparison, such as 4GB.")
def command(
    base: Path,
    case: Path | None,
    *,
    base_window: Asked | None,
    window: Asked | None,
    alpha: float,
    everything: bool,
    kind: str | None,
    output: Path | None,
    memory: str | None,
) -> None:
    """Say what rose and fell from BASE to CASE, most surprising first.

    Compared are the shares of attempts that failed: of all, by layer, cause, model,
    user and route, and by cause within each of these. Named is what chance hardly
    makes, given how many comparisons were made, and that the failures of one user or
    request come in bursts. Rows about the same failures are told once, as narrow as
    they are. Also: causes and conditions that one side alone has, and durations of
    models. Without CASE two windows of BASE are compared. All times are UTC.

    \b
    Examples:
      faultlayer diff ./monday ./tuesday
      faultlayer diff ./monday ./tuesday --all -o changes.csv
      faultlayer diff ./faultlayer-case --base-window 12:00..14:00 \\
        --window 2026-11-30T14:00..2026-11-30T14:30
    """  # noqa: D301 - click's mark for lines that are not to be joined
    from faultlayer import answers, changes, comparing
    from faultlayer.case import open_case
    from faultlayer.counted import Part
    from faultlayer.masking import shown

    if case is None and (base_window is None or window is None):
        raise UsageError(
            f"with what is {base} to be compared?",
            hint="name a second case, or give --base-window and --window",
        )
    opened = open_case(base)
    other = open_case(case) if case else opened
    first, second = _placed(opened, base_window), _placed(other, window)
    if case is None or _same(base, case):
        _check(first, second)
    for text in changes.definitions(opened, other):
        click.echo(f"faultlayer: {shown(text)}", err=True)
    found = comparing.compare(
        Part(opened, *(first or _OPEN)),
        Part(other, *(second or _OPEN)),
        alpha=alpha,
        memory=memory,
    )
    chosen = answers.format_of(kind, output)
    if chosen != "table":
        _data(found, chosen, output, everything=everything)
        return
    names = (_called(opened, first), _called(other, second))
    _table(found, names, output, everything=everything)


def _check(base_window: Window | None, window: Window | None) -> None:
    """See that windows of one case share no time."""
    (first, first_end), (second, second_end) = base_window or _OPEN, window or _OPEN
    ahead = first_end and second and first_end <= second
    behind = second_end and first and second_end <= first
    if (base_window or window) and not ahead and not behind:
        raise UsageError(
            "the two windows share time, so that they cannot be compared",
            hint="let one end where the other begins, or before",
        )


def _same(base: Path, case: Path) -> bool:
    return base.exists() and case.exists() and base.samefile(case)


def _called(case: "Case", window: Window | None) -> str:
    if window is None:
        return str(case.path)
    start, end = (f"{moment:%Y-%m-%d %H:%M:%S}" if moment else "" for moment in window)
    return f"{case.path} {start}..{end}"


def _data(
    found: "Comparison", kind: str, output: Path | None, *, everything: bool
) -> None:
    from faultlayer import answers, changes, database

    con = database.connect()
    try:
        con.register("changes", changes.table(found, everything=everything))
        answers.answer(con, "SELECT * FROM changes", kind, output=output)
    finally:
        con.close()
    for side, attempts in zip(("BASE", "CASE"), found.attempts, strict=True):
        if not attempts:
            click.echo(f"{side} has no attempts: nothing to compare", err=True)


def _table(
    found: "Comparison",
    names: tuple[str, str],
    output: Path | None,
    *,
    everything: bool,
) -> None:
    import io

    from faultlayer import answers, changes_screen, render

    def put(screen: "Console") -> None:
        lines = changes_screen.screen(found, names, screen.width, everything=everything)
        render.put(screen, lines)

    if output is None:
        put(render.console())
        return
    with answers.whole(output) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        put(render.console(text))
        text.flush()
        text.detach()
