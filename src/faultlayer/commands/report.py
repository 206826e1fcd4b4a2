"""`faultlayer report`: everything that a case says, on the screen, as HTML or Markdown."""

from pathlib import Path

import click

_MARKDOWN = {".md", ".markdown"}
_HTML = {".html", ".htm"}


@click.command("report")
@click.argument("case", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    help="Write FILE.html, or FILE.md.",
)
@click.option(
    "--lang",
    type=click.Choice(["en", "zh"]),
    default="en",
    help="Language of the HTML page: English or Chinese.",
)
def command(case: Path, output: Path | None, lang: str) -> None:
    """Print the whole report of CASE, or write it as HTML or Markdown.

    The page is one file that loads nothing: it can be sent, archived and printed. Each
    of its numbers names the SQL that gives it.

    \b
    Examples:
      faultlayer report ./faultlayer-case -o incident.html
      faultlayer report ./faultlayer-case -o incident.md
    """  # noqa: D301 - click's mark for lines that are not to be joined
    from faultlayer import render, summary, summary_screen
    from faultlayer.case import open_case
    from faultlayer.errors import UsageError

    kind = output.suffix.lower() if output is not None else ""
    if output is not None and kind not in _MARKDOWN | _HTML:
        raise UsageError(
            f"no report can be written as {output.name}",
            hint="name it FILE.html or FILE.md",
        )
    if lang != "en" and kind not in _HTML:
        raise UsageError("--lang is for the HTML page", hint="add -o FILE.html")
    opened = open_case(case)
    if output is None:
        screen = render.console()
        values = summary.gather(opened)
        lines = summary_screen.screen(values, screen.width, full=True)
        render.put(screen, lines)
        return
    from faultlayer import report
    from faultlayer.report_page import asked, page

    known = asked.ask(opened)
    if kind in _HTML:
        text = page.html(known, opened.path.resolve().name, lang)
    else:
        text = report.markdown(known)
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    click.echo(f"written to {output}", err=True)
