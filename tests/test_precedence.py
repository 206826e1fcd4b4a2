"""Whichever two findings an attempt has, the one decides that the method says, pair by pair."""

import re
import tomllib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest

from faultlayer import assets, queries
from faultlayer.queries import Query

QUERIES = assets.builtin("queries")
RULES: dict[str, Query] = {rule.name: rule for rule in queries.load(QUERIES, "rules")}
RANKED = next(q for q in queries.load(QUERIES, "verdicts") if q.name == "ranked")
STRENGTHS = ("proven", "corroborated", "inferred")
TABLE: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("precedence.toml").read_text("utf-8")
)
GROUPS: dict[str, Any] = TABLE["group"]
PLACE = {
    rule: (step, turn)
    for step, group in enumerate(GROUPS.values())
    for turn, rule in enumerate(group["order"])
}
ROLE = {rule: group["role"] for group in GROUPS.values() for rule in group["order"]}


def strengths(rule: str) -> list[str]:
    """Give the strengths that a rule's statement can give, strongest first."""
    text = RULES[rule].statement
    return [one for one in STRENGTHS if f"'{one}'" in text]


def members(names: list[str]) -> Iterator[str]:
    """Give the rules that a row of the table means."""
    for name in names:
        group = name.removeprefix("group.")
        yield from GROUPS[group]["order"] if group != name else [name]


def apart() -> set[frozenset[str]]:
    """Give the pairs of rules that cannot be found of one attempt."""
    return {
        frozenset((one, other))
        for row in TABLE["never"]
        for one in members(row["these"])
        for other in members(row["those"])
        if one != other
    }


def wins(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Say by hand whether the first (rule, strength) decides against the second."""
    return min(one, other, key=_rank) == one


def _rank(finding: tuple[str, str]) -> tuple[bool, int, tuple[int, int]]:
    rule, strength = finding
    return ROLE[rule] != "root", STRENGTHS.index(strength), PLACE[rule]


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    """Give a connection with an empty table of findings."""
    made = duckdb.connect()
    made.execute(
        "CREATE TABLE findings (attempt_id BIGINT, rule VARCHAR, cause VARCHAR,"
        " role VARCHAR, strength VARCHAR, precedence BIGINT, ts TIMESTAMP)"
    )
    return made


def decided(
    con: duckdb.DuckDBPyConnection, rows: list[tuple[int, str, str, str, str, int, str]]
) -> dict[int, tuple[str, str, str]]:
    """Give (rule, strength, cause) of the finding that comes first, by attempt."""
    con.execute("DELETE FROM findings")
    values = ", ".join(repr(row) for row in rows)
    con.execute(f"INSERT INTO findings VALUES {values}")
    found = con.execute(
        f"SELECT attempt_id, rule, strength, cause FROM ({RANKED.statement})"
        " WHERE place = 1"
    ).fetchall()
    return {
        attempt: (rule, strength, cause) for attempt, rule, strength, cause in found
    }


def test_every_rule_has_its_place() -> None:
    """No rule is left out, none is in two groups, and each group says why."""
    listed = [rule for group in GROUPS.values() for rule in group["order"]]
    assert sorted(listed) == sorted(RULES)
    assert all(row["because"] for row in [*GROUPS.values(), *TABLE["never"]])


def test_roles_are_those_of_the_method() -> None:
    """What masks is a symptom in its header as well."""
    told = {name: rule.header["role"] for name, rule in RULES.items()}
    assert told == ROLE


def test_rows_name_rules_that_are_there() -> None:
    """A row about a rule that went would prove nothing."""
    for row in TABLE["never"]:
        assert set(members(row["these"])) | set(members(row["those"])) <= set(RULES)


def test_every_pair_is_decided_as_the_method_says(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Both findings are there, in either order of time: the one wins that should."""
    never = apart()
    asked: list[tuple[tuple[str, str], tuple[str, str]]] = [
        ((one, strong), (other, weak))
        for one, other in combinations(sorted(RULES), 2)
        if frozenset((one, other)) not in never
        for strong in strengths(one)
        for weak in strengths(other)
    ]
    assert len(asked) > 2000
    rows = [
        (
            2 * number + late,
            rule,
            _cause(rule, turn),
            ROLE[rule],
            strength,
            int(RULES[rule].header["precedence"]),
            f"2026-06-15 12:00:0{turn if late else 1 - turn}",
        )
        for number, pair in enumerate(asked)
        for turn, (rule, strength) in enumerate(pair)
        for late in (0, 1)
    ]
    found = decided(con, rows)
    wrong = {
        f"{one} against {other}: {found[2 * number + late][:2]}"
        for number, (one, other) in enumerate(asked)
        for late in (0, 1)
        if found[2 * number + late][:2] != (one if wins(one, other) else other)
    }
    assert wrong == set()


def test_causes_of_one_rule_are_told_apart(con: duckdb.DuckDBPyConnection) -> None:
    """One rule can give several causes: what says more comes first, however late."""
    pairs = [(row["first"], then) for row in TABLE["same"] for then in row["then"]]
    rows = [
        (number, "engine_down", cause, "root", "corroborated", 510, at)
        for number, (first, then) in enumerate(pairs)
        for cause, at in (
            (first, "2026-06-15 12:00:09"),
            (then, "2026-06-15 12:00:00"),
        )
    ]
    found = decided(con, rows)
    assert [found[number][2] for number in range(len(pairs))] == [
        first for first, _ in pairs
    ]


def test_of_named_reasons_the_earlier_comes_first(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Two engines died of what is named: neither says more, so time decides."""
    named = _named()
    rows = []
    for number, (one, other) in enumerate(combinations(named, 2)):
        for late, causes in enumerate(((one, other), (other, one))):
            for second, cause in enumerate(causes):
                at = f"2026-06-15 12:00:0{second}"
                rows.append(
                    (2 * number + late, "engine_down", cause, "root", "corroborated", 510, at)
                )  # fmt: skip
    found = decided(con, rows)
    for number, (one, other) in enumerate(combinations(named, 2)):
        assert found[2 * number][2] == one
        assert found[2 * number + 1][2] == other


def _named() -> list[str]:
    """Give the causes that records name as the reason of a death."""
    view = next(q for q in queries.load(QUERIES, "views") if q.name == "named_causes")
    every = re.findall(r"'(model\.\w+)'", view.statement)
    return sorted(set(every) - {"model.hung", "model.worker_died"})


def _cause(rule: str, turn: int) -> str:
    """Give a cause of a rule; of those that give several, one for each side."""
    cause = RULES[rule].header["cause"]
    return cause if cause != "*" else ("model.cuda_oom", "model.gpu_xid")[turn]
