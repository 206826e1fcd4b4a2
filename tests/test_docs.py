"""The pages say what holds: commands, examples with their output, links, columns."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from faultlayer import (
    assets,
    database,
    formats,
    functions,
    investigations,
    parse,
    prove,
    queries,
    schema,
)
from faultlayer.cli import group
from faultlayer.functions import Function
from faultlayer.investigations import Investigation
from faultlayer.schema import Column

PAGES = ("*.md", "docs/*.md", "parsers/*.md", "queries/*.md", "sample_logs/**/*.md")

BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(
    r"^\$ (?P<command>faultlayer (?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)",
    re.MULTILINE,
)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
# An earlier page may have made the same case.
TOOK = re.compile(r"\bin \d[\d.,]* m?s\b(?:, \d+ files? as read before)?")

VIEWS = re.compile(
    r"(?<=<!-- views: written by `make docs` -->\n).*(?=<!-- end)", re.DOTALL
)

Run = Callable[[str], str]


def _pages(root: Path) -> list[Path]:
    return sorted({path for page in PAGES for path in root.glob(page)})


def _commands(
    command: click.Command, name: str = "faultlayer"
) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None, f"{name} lists {child} and does not have it"
            yield from _commands(found, f"{name} {child}")


def test_every_command_has_help() -> None:
    """Each command and each option says what it does; bare choices speak for themselves."""
    silent = []
    for name, command in _commands(group):
        if not (command.help or command.short_help):
            silent.append(name)
        silent += [
            f"{name} {option.opts[-1]}"
            for option in command.params
            if isinstance(option, click.Option)
            and not isinstance(option.type, click.Choice)
            and not (option.help or option.hidden)
        ]
    assert silent == []


@pytest.mark.checkout
def test_every_command_is_in_the_readme(root: Path) -> None:
    """A command that README does not name is not there for the reader."""
    text = (root / "README.md").read_text("utf-8")
    names = [name for name, _ in _commands(group) if name.count(" ") == 1]
    assert [name for name in names if name not in text] == []


def _matches(actual: str, expected: str) -> bool:
    """Compare output apart from durations; a line `...` stands for any lines."""
    lines = TOOK.sub("in T", expected).splitlines()
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + r"[ ]*\n"
        for line in lines
    )
    return re.fullmatch(pattern, TOOK.sub("in T", actual)) is not None


def _play(text: str, run: Run) -> str:
    """Give a page with the output of its examples as it is now."""

    def one(example: re.Match[str]) -> str:
        command, expected = example["command"], example["output"]
        actual = run(command)
        if actual and not actual.endswith("\n"):
            actual += "\n"
        shown = re.sub(r" +$", "", actual, flags=re.MULTILINE)
        return f"$ {command}\n{expected if _matches(actual, expected) else shown}"

    return BLOCK.sub(lambda block: EXAMPLE.sub(one, block[0]), text)


@pytest.fixture
def run(root: Path, tmp_path: Path) -> Run:
    """Give a shell that has `faultlayer` and, in its folder, sample_logs/."""
    (tmp_path / "sample_logs").symlink_to(root / "sample_logs")
    command = tmp_path / "bin" / "faultlayer"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m faultlayer "$@"\n')
    command.chmod(0o755)
    source = Path(database.__file__).parents[1]
    environment = os.environ | {
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(source),
        "PYTHONUTF8": "1",
    }

    def shell(line: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode != 1, f"an internal error:\n{done.stdout}"
        assert not done.stdout.startswith("Usage: "), f"no such example: {line}"
        return done.stdout

    return shell


def test_examples_give_the_output_that_is_shown(
    root: Path, run: Run, pytestconfig: pytest.Config
) -> None:
    """Every `$ faultlayer ...` of a ```console block prints what stands below it."""
    played = 0
    for page in _pages(root):
        text = page.read_text("utf-8")
        played += sum(len(EXAMPLE.findall(block)) for block in BLOCK.findall(text))
        now = _play(text, run)
        if pytestconfig.getoption("--write-docs"):
            page.write_text(now, "utf-8")
        else:
            assert text == now, f"{page.relative_to(root)}: `make docs` writes it anew"
    assert played > 0


@pytest.mark.checkout
@pytest.mark.deep
def test_the_job_of_every_day_runs(root: Path, run: Run, tmp_path: Path) -> None:
    """The script as it stands: an alarm, a report, and the next day a comparison."""
    page = (root / "docs" / "daily.md").read_text("utf-8")
    (script,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "job").write_text(script, "utf-8")
    (tmp_path / "cases").mkdir()
    job = "sh job sample_logs/engine_death/logs cases"
    assert run(f"{job} 2026-11-12; echo exit $?").endswith("exit 4\n")
    told = json.loads((tmp_path / "cases" / "2026-11-12.json").read_text("utf-8"))
    assert told["window"]["failed"] == 70
    assert (tmp_path / "cases" / "2026-11-12.html").stat().st_size > 10_000
    # The day after nothing failed: the same logs, of which no attempt counts.
    assert run(f"{job} 2026-11-13; echo exit $?").endswith("exit 0\n")
    compared = (tmp_path / "cases" / "2026-11-13.diff").read_text("utf-8")
    assert "  323 attempts" in compared
    assert "has no attempts" in compared


def test_a_changed_output_is_seen() -> None:
    """The comparison forgives durations and `...`, and nothing else."""
    page = "```console\n$ faultlayer a\nread in 3 s\n...\nend\n$ ls\nx\n```\n"
    assert _play(page, lambda _: "read in 2.1 s\nmore\nend\n") == page
    other = "```console\n$ faultlayer a\nread in 2.1 s\nfin\n$ ls\nx\n```\n"
    assert _play(page, lambda _: "read in 2.1 s\nfin\n") == other


@pytest.mark.checkout
def test_the_example_of_a_format_is_one(root: Path) -> None:
    """The worked example of parsers/README.md loads, and its samples hold."""
    page = (root / "parsers" / "README.md").read_text("utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    example = formats.read("parsers/harness/our_edge.toml", text, "harness")
    assert example is not None
    known = parse.load_definitions()
    known = dataclasses.replace(known, formats=(*known.formats, example))
    assert prove.problems_of(example, known) == []
    assert example.samples[0].line in page.split("```toml")[0]


@pytest.mark.checkout
def test_links_lead_somewhere(root: Path) -> None:
    """Every relative link of a page names a file or folder that exists."""
    dead = [
        f"{page.relative_to(root)}: {target}"
        for page in _pages(root)
        for target in LINK.findall(page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert dead == []


def _table(name: str, doc: str, columns: tuple[Column, ...]) -> str:
    rows = "".join(
        f"| {column.name} | {column.type} | {column.doc} |\n" for column in columns
    )
    return (
        f"## {name}\n\n{doc[0].upper()}{doc[1:]}.\n\n"
        f"| column | type | meaning |\n|---|---|---|\n{rows}"
    )


def schema_page() -> str:
    """Give docs/schema.md: every view of a case, from the code that makes it."""
    head = (
        "# The tables of a case\n\n"
        f"Schema version {schema.VERSION}. Written by `make docs` from"
        " `faultlayer.schema` and `faultlayer.database`.\n\n"
        "Times are UTC, microseconds. `ts` is corrected by the clock of its source,"
        " `ts_raw` is as logged. Types are those of Arrow.\n"
        "`case.duckdb` holds these tables as views over the Parquet files beside it;"
        " `faultlayer sql CASE` opens the same ones. [sql.md](sql.md) shows both, with"
        " the functions at the end of this page.\n"
    )
    parts = [
        _table(name, schema.VIEW_DOCS[name], columns)
        for name, columns in sorted(database.VIEWS.items())
    ]
    return "\n".join([head, *parts, *map(_function, functions.load())])


def _function(one: Function) -> str:
    takes = "".join(
        f"| {name} | {text.partition(';')[0]} | {text.partition(';')[2].strip()} |\n"
        for name, text in one.parameters.items()
    )
    gives = "".join(f"| {name} | {doc} |\n" for name, doc in one.columns.items())
    return (
        f"## {one.call}\n\n{one.query.title}. A function:"
        f" `FROM {one.call}`.\n\n"
        f"| takes | type | meaning |\n|---|---|---|\n{takes}\n"
        f"| column | meaning |\n|---|---|\n{gives}"
    )


@pytest.mark.checkout
def test_schema_page_is_up_to_date(root: Path, pytestconfig: pytest.Config) -> None:
    """docs/schema.md is what `make docs` writes."""
    page = root / "docs" / "schema.md"
    if pytestconfig.getoption("--write-docs"):
        page.write_text(schema_page(), "utf-8")
    assert page.read_text("utf-8") == schema_page(), "`make docs` writes it anew"


def investigations_page() -> str:
    """Give docs/investigations.md: every saved investigation, from its own header."""
    parts = [
        "# Saved investigations\n\n"
        "Written by `make docs` from the headers of `queries/investigations/`.\n\n"
        "`faultlayer query CASE` lists them, `faultlayer query CASE NAME` runs one, and"
        " `--param k=v` sets a parameter. `--show` prints the SQL, which can be changed"
        " and run with `faultlayer sql`, or kept in a folder that `--queries` names."
        " [queries/README.md](../queries/README.md) says how a file is written. All"
        " times are UTC. A parameter without a default leaves its restriction out.\n"
    ]
    topic = ""
    for one in investigations.load():
        if one.topic != topic:
            topic = one.topic
            parts.append(f"## {topic[0].upper()}{topic[1:]}\n")
        parts.append(_investigation(one))
    return "\n".join(parts)


def _investigation(one: Investigation) -> str:
    text = f"### {one.name}\n\n{one.query.title}. {one.query.header['answers']}\n"
    if one.parameters:
        text += "\n| parameter | type | default | meaning |\n|---|---|---|---|\n"
        text += "".join(
            f"| {each.name} | {each.kind} | {each.default or ''} | {each.doc} |\n"
            for each in one.parameters
        )
    text += "\n| column | meaning |\n|---|---|\n"
    return text + "".join(f"| {name} | {doc} |\n" for name, doc in one.columns.items())


@pytest.mark.checkout
def test_investigations_page_is_up_to_date(
    root: Path, pytestconfig: pytest.Config
) -> None:
    """docs/investigations.md is what `make docs` writes."""
    page = root / "docs" / "investigations.md"
    if pytestconfig.getoption("--write-docs"):
        page.write_text(investigations_page(), "utf-8")
    assert page.read_text("utf-8") == investigations_page(), "`make docs` writes it"


@pytest.mark.checkout
def test_views_are_listed(root: Path, pytestconfig: pytest.Config) -> None:
    """queries/README.md lists the views in build order, with their titles."""
    page = root / "queries" / "README.md"
    rows = "".join(
        f"| `{view.name}` | {view.title} |\n"
        for view in queries.load(assets.builtin("queries"), "views")
    )
    text = page.read_text("utf-8")
    now = VIEWS.sub(f"| view | a row is about |\n|---|---|\n{rows}", text)
    if pytestconfig.getoption("--write-docs"):
        page.write_text(now, "utf-8")
    assert page.read_text("utf-8") == now, "`make docs` writes it anew"
