"""`faultlayer rules`: the SQL that decides, listed, shown and tested."""

from pathlib import Path

import click


@click.group("rules", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, show and test the rules and conditions behind verdicts."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(listing)


@command.command("list")
@click.option("--format", "kind", type=click.Choice(["table", "json"]), default="table")
def listing(kind: str) -> None:
    """List rules and conditions, in the order in which they decide.

    Example: faultlayer rules list
    """
    import json

    from faultlayer import assets, queries, render
    from faultlayer.render import Table, tabulated

    root = assets.builtin("queries")
    rules = sorted(
        queries.load(root, "rules"),
        key=lambda rule: (int(rule.header["precedence"]), rule.path),
    )
    found = [*queries.load(root, "conditions"), *rules]
    if kind == "json":
        whole = [
            {"name": query.name, "path": query.path} | query.header for query in found
        ]
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    table = Table(
        ["rule", "cause", "role", "title"],
        [
            (
                query.name,
                query.header["cause"],
                query.header.get("role", "condition"),
                query.title,
            )
            for query in found
        ],
        grow=3,
    )
    screen = render.console()
    width = screen.width if screen.is_terminal else None
    render.put(screen, tabulated(table, width))


@command.command("show")
@click.argument("name")
def show(name: str) -> None:
    """Print the SQL of the rule or condition NAME.

    Example: faultlayer rules show engine_dead_own
    """
    import difflib

    from faultlayer import assets, queries
    from faultlayer.errors import UsageError

    root = assets.builtin("queries")
    groups: tuple[queries.Group, ...] = ("rules", "conditions", "views", "verdicts")
    found = {
        query.name: query for group in groups for query in queries.load(root, group)
    }
    if name not in found:
        near = difflib.get_close_matches(name, found, 3)
        raise UsageError(
            f"no rule is called {name}",
            hint=f"perhaps {', '.join(near)}" if near else "faultlayer rules list",
        )
    query = found[name]
    text = root.joinpath(query.path.removeprefix("queries/")).read_text("utf-8")
    click.echo(f"-- {query.path}\n{text}", nl=False)


@command.command("test")
@click.argument("path", type=click.Path(path_type=Path), required=False)
def test(path: Path | None) -> None:
    """Run rules over their cases; exit code 7 and a list when one is wrong.

    Without PATH the built-in ones, else your own: a .sql file with a .toml of cases of
    its name, or a folder of them.

    Example: faultlayer rules test our_rules/
    """
    from faultlayer import assets, queries, rule_cases, wording
    from faultlayer.errors import DefinitionError

    if path is not None:
        _test_own(path)
        return
    root = assets.builtin("queries")
    wrong = list(rule_cases.problems(root))
    for problem in wrong:
        click.echo(problem)
    if wrong:
        raise DefinitionError(
            f"{wording.count(len(wrong), 'problem')} in the rules",
            hint="queries/README.md describes rules and their cases",
        )
    rules = len(queries.load(root, "rules")) + len(queries.load(root, "conditions"))
    cases = sum(len(found) for found in rule_cases.load(root).values())
    click.echo(f"{rules} rules and conditions, {cases} cases, no problem")


def _test_own(path: Path) -> None:
    from faultlayer import own_rules, wording
    from faultlayer.errors import DefinitionError
    from faultlayer.masking import safe

    own = own_rules.read(path)
    wrong = own_rules.problems_of(own)
    for problem in wrong:
        click.echo(safe(problem))
    if wrong:
        raise DefinitionError(
            f"{wording.count(len(wrong), 'problem')} in the rules of {path}",
            hint="queries/README.md describes rules and their cases",
        )
    cases = sum(len(found) for found in own.cases.values())
    rules = len(own.queries)
    noun = "rule or condition" if rules == 1 else "rules and conditions"
    click.echo(f"{rules} {noun}, {cases} cases, no problem")
