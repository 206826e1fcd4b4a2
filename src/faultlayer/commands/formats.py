"""`faultlayer formats`: the formats as data, listed, shown, proved and explained."""

from pathlib import Path
from typing import Any

import click


@click.group("formats", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, show, test, explain and draft log formats."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(listing)


@command.command("list")
@click.option("--format", "kind", type=click.Choice(["table", "json"]), default="table")
def listing(kind: str) -> None:
    """List all formats, with what each does not take.

    Example: faultlayer formats list
    """
    import json

    from faultlayer import assets, formats, render
    from faultlayer.render import Table, tabulated

    found = sorted(
        formats.load(assets.builtin("parsers")), key=lambda one: (one.layer, one.name)
    )
    if kind == "json":
        keys = ("name", "layer", "component", "title", "misses", "path")
        whole = [{key: getattr(one, key) for key in keys} for one in found]
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    table = Table(
        ["format", "layer", "written by", "title", "misses"],
        [(one.name, one.layer, one.component, one.title, one.misses) for one in found],
        grow=4,
    )
    screen = render.console()
    width = screen.width if screen.is_terminal else None
    render.put(screen, tabulated(table, width))


@command.command("show")
@click.argument("name")
def show(name: str) -> None:
    """Print the definition of the format NAME.

    Example: faultlayer formats show nginx_combined
    """
    import difflib

    from faultlayer import assets, formats
    from faultlayer.errors import UsageError

    found = {one.name: one for one in formats.load(assets.builtin("parsers"))}
    if name not in found:
        near = difflib.get_close_matches(name, found, 3)
        raise UsageError(
            f"no format is called {name}",
            hint=f"perhaps {', '.join(near)}" if near else "faultlayer formats list",
        )
    click.echo(f"# {found[name].path}\n{found[name].text}", nl=False)


@command.command("explain")
@click.argument("line")
@click.option("--as", "name", metavar="FORMAT", help="Try this format only.")
@click.option(
    "--formats",
    "own",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A format of your own, or a folder of them.",
)
def explain(line: str, name: str | None, own: Path | None) -> None:
    """Say which format takes LINE and what it makes of it, or what is in the way.

    LINE - reads the record from stdin.

    Example: faultlayer formats explain "$(head -1 access.log)"
    """
    import sys

    from faultlayer import explanation, parse, render
    from faultlayer.errors import UsageError

    text = sys.stdin.read() if line == "-" else line
    if not text.strip():
        raise UsageError("no line given")
    definitions = parse.load_definitions()
    if own is not None:
        from faultlayer.commands import _own_formats

        definitions = _own_formats.proved(own, definitions)
    screen = render.console()
    render.put(screen, explanation.lines(definitions, text, name, screen.width))


@command.command("new")
@click.option("--nginx", multiple=True, metavar="FORMAT", help="nginx's log_format.")
@click.option(
    "--nginx-conf",
    "conf",
    type=click.Path(path_type=Path),
    help="An nginx configuration: all of its log_format.",
)
@click.option("--envoy", metavar="FORMAT", help="Envoy's format string or JSON.")
@click.option("--haproxy", metavar="FORMAT", help="HAProxy's log-format, or httplog.")
@click.option("--apache", metavar="FORMAT", help="Apache's LogFormat, or combined.")
@click.option("--python-logging", "python", metavar="FORMAT", help="Python's format.")
@click.option("--datefmt", default="", help="The datefmt that goes with it.")
@click.option(
    "--from",
    "log",
    type=click.Path(path_type=Path),
    help="A log: the layout is guessed from its lines alone.",
)
@click.option(
    "--sample-from",
    type=click.Path(path_type=Path),
    help="A log: its lines become samples, with invented values.",
)
@click.option("--name", default="", help="Name of the format.")
@click.option(
    "--layer",
    type=click.Choice(["harness", "model", "quota"]),
    default="harness",
    show_default=True,
)
@click.option("--component", default="", help="The program that writes it.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write, which must not exist; default: stdout.",
)
def new(out: Path | None, name: str, **given: Any) -> None:
    """Draft a format file from a configured notation, or from a log.

    A FORMAT that begins with @ names a file that holds it. The draft is proved: what is
    to be looked at is marked in it.

    Example: faultlayer formats new --nginx "$(grep -A5 log_format nginx.conf)" --sample-from access.log
    """
    from faultlayer import parse
    from faultlayer.commands import _draft
    from faultlayer.errors import UsageError
    from faultlayer.masking import safe

    if out is not None and out.exists():
        raise UsageError(f"{out} exists already", hint="--out never overwrites a file")
    stem = name or (out.stem if out is not None else "my_format")
    text, problems = _draft.made(stem, parse.load_definitions(), **given)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, "utf-8")
        click.echo(
            f"{out}: read it through, then faultlayer formats test {out}", err=True
        )
    for problem in problems:
        shown = "\n".join(safe(line) for line in str(problem).split("\n"))
        click.echo(f"faultlayer: still to be done: {shown}", err=True)


@command.command("test")
@click.argument("path", required=False, type=click.Path(path_type=Path))
def test(path: Path | None) -> None:
    """Prove all formats by their samples, or those of PATH among the built-in ones.

    PATH is a TOML file or a folder of them. Ends with exit code 7 and a list when
    anything is wrong.

    Example: faultlayer formats test my_gateway.toml
    """
    from faultlayer import notes, parse, prove
    from faultlayer.definitions import in_order
    from faultlayer.errors import DefinitionError

    remarks: list[DefinitionError] = []

    definitions = parse.load_definitions(prove=path is None)
    if path is None:
        problems = prove.problems(definitions)
        count = len(definitions.formats)
    else:
        from faultlayer.commands import _own_formats

        own = _own_formats.read(path)
        problems = _own_formats.problems_of(own, _own_formats.among(definitions, own))
        remarks += [note for one in own.formats for note in notes.notes_of(one)]
        count = len(own.formats) + len(own.wrappers)
    for problem in in_order(problems):
        _echo(str(problem))
    for remark in in_order(remarks):
        _echo(f"note: {remark}")
    if problems:
        noun = "problem" if len(problems) == 1 else "problems"
        raise DefinitionError(
            f"{len(problems)} {noun} in the formats",
            hint="faultlayer formats explain LINE says how far a pattern gets",
        )
    click.echo(f"{count} {'format' if count == 1 else 'formats'}, no problem")


def _echo(text: str) -> None:
    from faultlayer.masking import safe

    # The caret stands below a character of the line: both are shown as they are.
    click.echo("\n".join(safe(line) for line in text.split("\n")))
