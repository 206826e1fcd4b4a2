"""faultlayer.toml: strict, with places, and every value that decides is accounted for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.test_cli import Faultlayer, faultlayer

from faultlayer import assets, queries, stated
from faultlayer.commands import _config
from faultlayer.errors import DefinitionError

__all__ = ["faultlayer"]

VALUES = re.compile(
    r"(?<=<!-- values: written by `make docs` -->\n).*(?=<!-- end of values)", re.DOTALL
)
OPTIONS = re.compile(
    r"(?<=<!-- options: written by `make docs` -->\n).*(?=<!-- end of options)",
    re.DOTALL,
)

LINE = (
    '192.0.2.7 - - [12/Nov/2026:22:10:{second:02d} +0000] "POST /v1/chat/completions'
    ' HTTP/1.1" {status} 960 "-" "-" rt={took} uct="{up}" uht="{up}" urt="{up}"'
    " req_id=26fb6a74-1f5f-4573-be36-53ab01be{n:04d} quota_used=-\n"
)


def line(n: int, second: int, status: int, took: float, up: str = "-") -> str:
    """Write an access record that ends in this second."""
    return LINE.format(n=n, second=second, status=status, took=took, up=up)


#: Four run from second 0 to 30; a fifth is refused meanwhile.
BUSY = "".join(
    [line(5, 10, 429, 0.001), *(line(n, 30, 200, 30.0, "30.0") for n in range(1, 5))]
)


@pytest.fixture
def page(root: Path) -> str:
    """Give docs/configuration.md."""
    return (root / "docs" / "configuration.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("[limit]\na = 1", 1, "did you mean limits?"),
        ("case = 1", 1, "case must be text"),
        ("strict = 'no'", 1, "strict must be true or false"),
        ("fail-on = [1]", 1, "fail-on must be text or a list of texts"),
        ("\n[limits]\nburst_limits = 4", 3, "did you mean burst_limit?"),
        ("[limits]\nburst_limit = 'many'", 2, "burst_limit must be a number above 0"),
        ("[limits]\nburst_limit = 0", 2, "burst_limit must be a number above 0"),
        ("[limits]\nburst_limit = inf", 2, "burst_limit must be a number above 0"),
        ("[limits]\nburst_limit = true", 2, "burst_limit must be a number above 0"),
        ("[thresholds]\nslow = 4", 2, "did you mean slow_s?"),
        ("[targets]\nclient = 4", 2, "unknown key 'client' in [targets]"),
        ("targets = 4", 1, "targets must be a table"),
        ("[source]\n'*.log' = 4", 2, "*.log must be text"),
        ("[layers]\n'model.hung' = 'modl'", 2, "no layer is called 'modl'"),
        ("[layers]\n'model.hang' = 'quota'", 2, "did you mean model.hung?"),
        ("[limits\n", 1, "no valid TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    faultlayer: Faultlayer, text: str, where: int, message: str
) -> None:
    """Exit 7, file and line, and what was perhaps meant; nothing is analyzed."""
    Path("access.log").write_text(BUSY)
    Path("own.toml").write_text(text)
    ended = faultlayer("analyze", "access.log", "--config", "own.toml")
    assert (ended.code, ended.out) == (7, "")
    assert f"own.toml:{where}" in ended.err
    assert message in ended.err
    assert not Path("faultlayer-case").exists()


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """A second run is not needed to see the second fault."""
    file = tmp_path / "own.toml"
    file.write_text("colour = 1\n[limits]\nx = 1\n")
    with pytest.raises(DefinitionError, match="2 problems"):
        _config.read(file)


def verdicts(
    faultlayer: Faultlayer, config: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Analyze the busy log with a configuration: verdicts, and values by name."""
    Path("access.log").write_text(BUSY)
    Path("own.toml").write_text(config)
    ended = faultlayer("analyze", "access.log", "--config", "own.toml")
    assert ended.code == 0, ended.err
    sql = "SELECT layer, cause, strength, because FROM verdicts"
    rows = json.loads(faultlayer("sql", "faultlayer-case", sql, "--format", "json").out)
    values = json.loads(Path("faultlayer-case/case.json").read_text())["values"]
    return rows, {one["name"]: one for one in values}


def test_a_limit_decides_and_is_listed(faultlayer: Faultlayer) -> None:
    """Four of four in flight corroborate the limit; four of forty contradict it."""
    [row], values = verdicts(faultlayer, "[limits]\nmax_concurrent_requests = 4\n")
    assert row == {
        "layer": "harness",
        "cause": "harness.concurrency_limit",
        "strength": "corroborated",
        "because": "refused before forwarding, up to 4 of 4 allowed in flight",
    }
    assert values["max_concurrent_requests"] == {
        "section": "limits",
        "name": "max_concurrent_requests",
        "value": 4.0,
        "unit": "requests",
        "shown": "4 requests",
        "title": "how many requests the harness lets run at once",
        "source": "own.toml:2",
        "told": True,
        "rules": ["concurrency_limit_load", "concurrency_limit_shape"],
        "attempts": 1,
    }
    [row], values = verdicts(faultlayer, "[limits]\nmax_concurrent_requests = 40\n")
    assert (row["cause"], row["because"]) == (
        "undetermined",
        "status 429, and no record explains it; at most 4 of 40 allowed were in flight",
    )
    assert values["max_concurrent_requests"]["attempts"] == 1


def test_explain_names_what_a_verdict_rests_on(faultlayer: Faultlayer) -> None:
    """The limit with its place, for this attempt; and how many attempts there are."""
    again = line(5, 12, 429, 0.001)
    Path("access.log").write_text(BUSY + again)
    Path("own.toml").write_text("[limits]\nmax_concurrent_requests = 4\n")
    faultlayer("analyze", "access.log", "--config", "own.toml", "--quiet")
    name = "26fb6a74-1f5f-4573-be36-53ab01be0005"
    shown = faultlayer("explain", "faultlayer-case", name, "--attempt", "1").out
    assert "2 attempts, 2 failed" in shown
    assert shown.count("attempt 1 ") == 1
    assert "attempt 2 " not in shown
    assert "values  max_concurrent_requests 4 requests (own.toml:2)" in shown


def test_without_a_limit_nothing_is_listed(faultlayer: Faultlayer) -> None:
    """A default that had no part in a verdict is not named."""
    [row], values = verdicts(faultlayer, "")
    assert row["strength"] == "inferred"
    assert values == {}


def test_a_cause_counts_to_the_layer_that_is_told(faultlayer: Faultlayer) -> None:
    """The cause keeps its name; tables, incidents and --fail-on go by the layer."""
    config = "[layers]\n'harness.concurrency_*' = 'quota'\n"
    [row], _ = verdicts(faultlayer, config)
    assert (row["layer"], row["cause"]) == ("quota", "harness.concurrency_limit")
    arguments = ("analyze", "access.log", "--config", "own.toml", "--quiet")
    assert faultlayer(*arguments, "--fail-on", "harness").code == 0
    assert faultlayer(*arguments, "--fail-on", "quota").code == 4
    ended = faultlayer("report", "faultlayer-case")
    assert "harness.concurrency_* is of quota (own.toml:2)" in ended.out


@pytest.mark.checkout
def test_the_example_of_the_page_is_one(page: str, tmp_path: Path) -> None:
    """It is read without a fault, and every section is in it."""
    file = tmp_path / "faultlayer.toml"
    file.write_text(page.split("```toml\n")[1].split("```", maxsplit=1)[0])
    found = _config.read(file)
    found.settle(stated.causes())
    assert found.stated.numbers["thresholds", "slow_s"] == (20.0, "faultlayer.toml:16")
    assert found.stated.layers == {"model.gpu_*": ("quota", "faultlayer.toml:22")}
    assert set(found.options) == {"case", "reference", "fail-on", "source", "clock"}
    assert {section for section, _ in found.stated.numbers} == set(stated.SECTIONS)


def test_the_reference_may_stand_with_the_clocks(tmp_path: Path) -> None:
    """`clock.reference` is the reference, and no glob."""
    file = tmp_path / "faultlayer.toml"
    file.write_text('[clock]\nreference = "edge"\nmodel = "+8h"\n')
    found = _config.read(file).options
    assert (found["reference"], found["clock"]) == ("edge", {"model": "+8h"})


def _written(page: str) -> str:
    rows = "".join(
        f"| `{one.section}.{one.name}` | {'' if one.default is None else one.default}"
        f" | {one.unit} | {one.title} |\n"
        for one in stated.known()
    )
    page = VALUES.sub(
        lambda _: f"| key | default | unit | meaning |\n|---|---|---|---|\n{rows}", page
    )
    keys = "".join(
        f"| `{key}` | {kind} | {doc} |\n"
        for key, (kind, doc) in _config.OPTIONS.items()
    )
    keys += "".join(
        f"| `[{key}]` | table | {doc} |\n" for key, doc in _config.TABLES.items()
    )
    head = "| key | type | meaning |\n|---|---|---|\n"
    return OPTIONS.sub(lambda _: f"{head}{keys}", page)


@pytest.mark.checkout
def test_the_page_lists_every_key(
    root: Path, page: str, pytestconfig: pytest.Config
) -> None:
    """docs/configuration.md is what `make docs` writes."""
    now = _written(page)
    if pytestconfig.getoption("--write-docs"):
        (root / "docs" / "configuration.md").write_text(now, "utf-8")
    else:
        assert page == now, "`make docs` writes it anew"


def test_every_value_is_read_by_a_query() -> None:
    """A key that nothing reads would be a promise that nobody keeps."""
    root = assets.builtin("queries")
    groups: tuple[queries.Group, ...] = (
        *("views", "conditions", "rules", "verdicts", "investigations"),
    )
    found = {
        name
        for group in groups
        for query in queries.load(root, group)
        for name in stated.names_in(query.statement)
    }
    found |= {("targets", layer) for layer in ("model", "harness", "quota")}
    assert [
        one.name for one in stated.known() if (one.section, one.name) not in found
    ] == []
