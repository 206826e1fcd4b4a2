"""`faultlayer analyze`: the main job."""

from pathlib import Path
from typing import Any

import click

from faultlayer.commands._moment import moment


@click.command("analyze")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--case",
    type=click.Path(path_type=Path),
    default="faultlayer-case",
    show_default=True,
    help="Folder of the case; an older one there is replaced, and what it has of files "
    "that did not change is taken over.",
)
@click.option(
    "--source",
    "overrides",
    multiple=True,
    metavar="GLOB=FORMAT",
    help="Read the files that match as this format; `faultlayer formats` lists them.",
)
@click.option(
    "--formats",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A format of your own, or a folder of them; asked before the built-in ones.",
)
@click.option(
    "--rules",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A rule of your own, or a folder of them, each with its cases.",
)
@click.option(
    "--clock",
    "clocks",
    multiple=True,
    metavar="GLOB=OFFSET",
    help="What the clock of a file, folder or program is ahead: +8h, -1.3s, UTC+8; "
    "keep: as logged, '*=keep' all of them.",
)
@click.option(
    "--reference", metavar="GLOB", help="The clock by which the others are corrected."
)
@click.option("--workers", type=click.IntRange(1), help="Threads; default: up to 4.")
@click.option("--memory", metavar="SIZE", help="Memory for the SQL part, such as 2GB.")
@click.option(
    "--max-unpacked",
    metavar="SIZE",
    help="Most that archives may unpack to in all; default 100GB.",
)
@click.option(
    "--max-ratio",
    type=click.FloatRange(1),
    metavar="N",
    help="Most that a file of over 1 GB unpacked may be larger than packed; default 200.",
)
@click.option(
    "--max-members",
    type=click.IntRange(1),
    metavar="N",
    help="Most members of an archive; default 20000.",
)
@click.option(
    "--max-depth",
    type=click.IntRange(1),
    metavar="N",
    help="Most archives in archives; default 5.",
)
@click.option("--strict", is_flag=True, help="Exit 3 when evidence is incomplete.")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="WHAT",
    help="Exit 4 when a request failed by this layer, cause, glob of causes, or by `any`;"
    " 'model.*>10': when more than 10 did.",
)
@click.option(
    "--since",
    callback=moment,
    metavar="TIME",
    help="Count, for --fail-on and the summary's window, from TIME on: ISO, yesterday.",
)
@click.option(
    "--until",
    callback=moment,
    metavar="TIME",
    help="Count only before TIME. All logs are read: causes may lie outside.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="TOML file with options, limits, thresholds and targets of your stack.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Write a case to be shared: names, ids, addresses, prompts have pseudonyms.",
)
@click.option(
    "--salt",
    envvar="FAULTLAYER_SALT",
    metavar="TEXT",
    help="Key of the pseudonyms of --redact; see faultlayer redact --help.",
)
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
@click.option("--format", "kind", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--summary-json", "kind", flag_value="json", help="The same as --format json."
)
def command(
    paths: tuple[str, ...], *, kind: str, redact: bool, salt: str | None, **given: Any
) -> None:
    """Read the logs at PATH..., find out what failed and why, and write a case.

    PATH may be a file, a folder, a glob, an archive (tar, zip), a compressed file, or -
    for stdin. Nothing needs to be configured; what is recognised and what not is said at
    the end.

    Example: faultlayer analyze logs/ --since yesterday --until today
    --fail-on 'model.*>10' --summary-json
    """
    import json
    import sys
    import time

    from faultlayer import redaction, render, summary, summary_screen, windowed
    from faultlayer.analyze import AnalyzeOptions, analyze
    from faultlayer.commands import _options
    from faultlayer.commands._progress import Bar

    options = _options.read(given)
    target = options.case
    if redact:
        redaction.check(target, salt)
    begun = time.monotonic()
    with Bar(quiet=options.quiet) as bar, redaction.beside(target, redact) as folder:
        case = analyze(
            paths,
            folder,
            AnalyzeOptions(
                overrides=options.overrides,
                clocks=options.clocks,
                workers=options.workers,
                memory=options.memory,
                command=" ".join(["faultlayer", *sys.argv[1:]]),
                limits=options.limits,
                definitions=options.definitions(),
                stated=options.stated,
                rules=options.proved_rules(),
            ),
            bar,
        )
        if redact:
            bar.step("redacting")
            case = redaction.redact(case, target, salt)
    seconds = time.monotonic() - begun
    values = summary.gather(case) | {"case": str(options.case)}
    if options.since or options.until:
        values["window"] = windowed.gather(case, options.since, options.until)
    if kind == "json":
        click.echo(json.dumps(summary.plain(values), ensure_ascii=False, indent=2))
    elif not options.quiet:
        screen = render.console()
        lines = summary_screen.screen(values, screen.width, seconds=seconds)
        render.put(screen, lines)
        if "window" in values:
            render.put(screen, windowed.screen(values["window"], screen.width))
    code, reasons = _options.outcome(values, options)
    # A redacted case has no names of files.
    unfit = [] if redact else _options.unfit(values, given["overrides"])
    for reason in (*unfit, *reasons):
        click.echo(f"faultlayer: {reason}", err=True)
    sys.exit(code)
