"""A rule of one's own, dropped into a folder with its cases, decides like a built-in one."""

import json
from pathlib import Path

import pytest
from tests.test_cli import Faultlayer, faultlayer
from tests.test_config import line

__all__ = ["faultlayer"]

RULE = """-- title: Refused with 503 before it reached anybody, as in every maintenance
-- layer: harness
-- cause: harness.maintenance
-- role: root
-- precedence: 1000
-- known gaps: other reasons of such a 503
SELECT
    failures.attempt_id,
    'harness.maintenance' AS cause,
    'inferred' AS strength,
    failures.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [failures.attempt_id] AS evidence,
    '503, and nobody was asked' AS because
FROM failures
WHERE failures.status = 503 AND NOT failures.tried_upstream
"""
CASES = """
[[event]]
name = "exchange"
log = "access"
kind = "access"
id = "r-1"
at = 10.0
took = 0.01
status = 503
forwarded = false
upstream_hops = 0

[[case]]
name = "503"
fires = { r-1 = "harness.maintenance inferred" }
verdicts = { r-1 = "harness.maintenance inferred" }

[[case]]
name = "502"
set = { exchange = { status = 502 } }
fires = {}

[[case]]
name = "somebody was asked"
set = { exchange = { forwarded = true, upstream_hops = 1 } }
fires = {}
"""


@pytest.fixture
def rules(faultlayer: Faultlayer) -> Path:
    """Give a folder with the rule and its cases, beside a log of one 503."""
    del faultlayer  # it changes into an empty folder
    Path("access.log").write_text(
        line(1, 10, 200, 0.5, "0.5") + line(2, 20, 503, 0.001)
    )
    folder = Path("our_rules")
    folder.mkdir()
    (folder / "maintenance.sql").write_text(RULE)
    (folder / "maintenance.toml").write_text(CASES)
    return folder


def test_a_rule_in_a_folder_gives_its_verdict(
    faultlayer: Faultlayer, rules: Path
) -> None:
    """Nothing else is touched; the case has the hashes of what decided."""
    ended = faultlayer("analyze", "access.log", "--quiet")
    sql = "SELECT layer, cause, strength, rule FROM verdicts"
    before = faultlayer("sql", "faultlayer-case", sql, "--format", "csv").out
    assert before.splitlines()[1] == "undetermined,undetermined,undetermined,none"
    arguments = ("analyze", "access.log", "--rules", str(rules), "--quiet")
    ended = faultlayer(*arguments, "--fail-on", "harness.maintenance")
    assert ended.code == 4
    after = faultlayer("sql", "faultlayer-case", sql, "--format", "csv").out
    assert after.splitlines()[1] == "harness,harness.maintenance,inferred,maintenance"
    hashes = json.loads(Path("faultlayer-case/case.json").read_text())["definitions"]
    assert {"our_rules/maintenance.sql", "our_rules/maintenance.toml"} <= hashes.keys()


def test_rules_of_ones_own_are_tested(faultlayer: Faultlayer, rules: Path) -> None:
    """`rules test` proves a folder as `analyze` does."""
    ended = faultlayer("rules", "test", str(rules))
    assert (ended.code, ended.out) == (0, "1 rule or condition, 3 cases, no problem\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("sql", "= 503", "= 502", "maintenance.toml:13: case '503'"),
        ("sql", "= 503", "= 503 OR", "maintenance.sql:7: syntax error"),
        ("sql", "failures.status", "failures.code", "maintenance.sql:17: Binder"),
        ("sql", "FALSE AS clock", "0 AS clock", "clock_sensitive INTEGER,"),
        ("sql", "FROM failures", "FROM '/etc/passwd'", "is no table of a case"),
        ("sql", "failures.ts_start AS", "now()::TIMESTAMP AS", "now is not allowed"),
        ("sql", "-- precedence: 1000", "-- precedence: 260", "has precedence 260"),
        ("sql", "-- precedence: 1000", "-- precedence: one", "is no whole number"),
        ("sql", "-- role: root", "-- role: boss", "role 'boss' is none"),
        ("sql", "-- layer: harness", "-- layer: quota", "not of the layer quota"),
        ("sql", "-- layer: harness\n", "", "maintenance.sql:1: header lacks layer"),
        ("sql", "-- known gaps", "-- replaces: nothing\n-- known gaps", "'nothing'"),
        ("toml", "fires = {}", "fire = {}", "unknown keys ['fire']"),
        ("toml", "status = 502", "state = 502", "no columns ['state']"),
    ],
)
def test_a_wrong_rule_is_refused(
    faultlayer: Faultlayer, rules: Path, file: str, old: str, new: str, message: str
) -> None:
    """Exit 7 with file and line, before anything is read; the test says the same."""
    path = rules / f"maintenance.{file}"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    ended = faultlayer("analyze", "access.log", "--rules", str(rules))
    assert (ended.code, ended.out) == (7, "")
    assert message in ended.err
    assert not Path("faultlayer-case").exists()
    tested = faultlayer("rules", "test", str(rules))
    assert tested.code == 7
    assert message in tested.out


def test_a_built_in_rule_is_replaced_only_when_that_is_said(
    faultlayer: Faultlayer, rules: Path
) -> None:
    """The same name is an error; `replaces` is told in the summary and the case."""
    for suffix in ("sql", "toml"):
        (rules / f"maintenance.{suffix}").rename(rules / f"edge_limit.{suffix}")
    ended = faultlayer("analyze", "access.log", "--rules", str(rules))
    assert ended.code == 7
    assert "a built-in one is called edge_limit" in ended.err
    told = RULE.replace("-- known gaps", "-- replaces: edge_limit\n-- known gaps")
    (rules / "edge_limit.sql").write_text(told)
    ended = faultlayer("analyze", "access.log", "--rules", str(rules))
    assert ended.code == 0, ended.err
    assert "told    rule edge_limit is replaced" in ended.out


def test_a_rule_without_cases_is_refused(faultlayer: Faultlayer, rules: Path) -> None:
    """It must be seen to fire and to stay silent; a folder without rules is no folder."""
    (rules / "maintenance.toml").unlink()
    ended = faultlayer("analyze", "access.log", "--rules", str(rules))
    assert ended.code == 7
    assert "no case in which it fires something" in ended.err
    (rules / "maintenance.sql").unlink()
    ended = faultlayer("analyze", "access.log", "--rules", str(rules))
    assert ended.code == 6
    assert "holds no rule" in ended.err


def test_a_file_names_the_folder_of_rules(faultlayer: Faultlayer, rules: Path) -> None:
    """Seen from where the file lies; its causes are known to [layers] and fail-on."""
    rules.rename("etc_rules")
    Path("own.toml").write_text(
        "rules = 'etc_rules'\nfail-on = 'client'\n[layers]\n"
        "'harness.maintenance' = 'client'\n"
    )
    assert faultlayer("analyze", "access.log", "--config", "own.toml").code == 4
