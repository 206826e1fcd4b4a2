"""`faultlayer report`: everything that a case says, on the screen or as Markdown."""

from pathlib import Path

import click


@click.command("report")
@click.argument("case", type=click.Path(path_type=Path))
@click.option("-o", "output", type=click.Path(path_type=Path), help="Write FILE.md.")
def command(case: Path, output: Path | None) -> None:
    """Print the whole report of CASE, or write it as Markdown.

    Example: faultlayer report ./faultlayer-case -o incident.md
    """
    from faultlayer import render, report, summary, summary_screen
    from faultlayer.case import open_case
    from faultlayer.errors import UsageError

    if output is not None and output.suffix.lower() not in {".md", ".markdown"}:
        raise UsageError(
            f"no report can be written as {output.name}", hint="name it FILE.md"
        )
    values = summary.gather(open_case(case))
    if output is None:
        screen = render.console()
        lines = summary_screen.screen(values, screen.width, full=True)
        render.put(screen, lines)
        return
    try:
        output.write_text(report.markdown(values), "utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    click.echo(f"written to {output}", err=True)
