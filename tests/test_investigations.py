"""Each saved investigation answers what it promises, on cases written by hand."""

import re
import shutil
from pathlib import Path

import pytest
from tests.investigation_worlds import (
    ALL,
    QUERIES,
    Ask,
    answered,
    columns,
    prepare,
    worlds,
)

from faultlayer import assets, derived, queries, signatures
from faultlayer.investigations import TOPICS, Investigation, load
from faultlayer.rule_bench import Prepared
from faultlayer.rule_records import RuleCase

WORLDS = list(worlds())
CASES = {name: case for name, case, _ in WORLDS}
ASKS = [ask for _, _, asks in WORLDS for ask in asks]

# What no world of records can hold; tests/unit/test_investigations.py has them.
ELSEWHERE = {"clocks", "rejects"}


@pytest.fixture(scope="module")
def nothing() -> Prepared:
    """Give a case without a single record."""
    return prepare(RuleCase("", "", 1, "no records"))


@pytest.fixture(scope="module")
def prepared() -> dict[str, Prepared]:
    """Give the judged worlds by name."""
    return {name: prepare(case) for name, case in CASES.items()}


@pytest.mark.parametrize("one", ALL.values(), ids=lambda one: one.name)
def test_header(one: Investigation) -> None:
    """A reader learns what is answered, what can be set, what comes out."""
    header = one.query.header
    assert one.topic in TOPICS
    assert re.search(r"[?.]$", header["answers"])
    assert "?" in header["answers"]
    assert not one.query.title.endswith(".")
    assert all(parameter.doc for parameter in one.parameters)
    assert all(text and not text.endswith(".") for text in one.columns.values())


@pytest.mark.parametrize("one", ALL.values(), ids=lambda one: one.name)
def test_empty_case(one: Investigation, nothing: Prepared) -> None:
    """Without records it gives no rows, but its documented columns."""
    result = nothing.con.execute(one.query.statement, one.values([]))
    assert [item[0] for item in result.description or ()] == list(one.columns)
    if one.name != "clocks":  # a world has its clocks, with records or without
        assert result.fetchall() == []


@pytest.mark.parametrize("one", ALL.values(), ids=lambda one: one.name)
def test_rows_are_in_order(one: Investigation) -> None:
    """The last thing that it does, but for a LIMIT, is to sort."""
    last = re.split(r"(?m)^\)", one.query.statement)[-1]
    assert re.search(r"(?m)^ORDER BY\b", last)


@pytest.mark.parametrize("ask", ASKS, ids=str)
def test_answer(ask: Ask, prepared: dict[str, Prepared]) -> None:
    """The answer about a world is the one worked out by hand."""
    assert answered(prepared[ask.world], ask) == ask.rows


@pytest.mark.parametrize("name", sorted(CASES))
def test_order_of_records_changes_nothing(
    name: str, prepared: dict[str, Prepared]
) -> None:
    """The same records in another order give the same rows in the same order."""
    shuffled = prepare(CASES[name], seed=7)
    for one in ALL.values():
        assert _answers(shuffled, one) == _answers(prepared[name], one), one.name


def _answers(world: Prepared, one: Investigation) -> list[str]:
    names = [
        name
        for name in columns(one, world)
        # Where a record stands in its file depends on the order, of course.
        if name not in {"line", "signature"}
    ]
    return list(answered(world, Ask("", one.name, (), tuple(names), ())))


def test_every_investigation_is_asked() -> None:
    """Each has an answer that is not empty, so that a test can fail."""
    asked = {ask.investigation for ask in ASKS if ask.rows}
    assert sorted(set(ALL) - asked - ELSEWHERE) == []


def test_every_parameter_is_tried() -> None:
    """Each parameter of an investigation is given another value somewhere."""
    tried = {
        (ask.investigation, text.partition("=")[0])
        for ask in ASKS
        for text in ask.params
    }
    untried = [
        f"{one.name} {parameter.name}"
        for one in ALL.values()
        for parameter in one.parameters
        if (one.name, parameter.name) not in tried
    ]
    assert untried == []


def test_views_of_a_finished_case_are_asked() -> None:
    """Those beside the investigations have columns, and answers worked out by hand."""
    views = [view.name for view in queries.load(QUERIES, "tables")]
    assert views == list(derived.TABLES)
    assert [
        view for view in views if view not in {ask.investigation for ask in ASKS}
    ] == []


def test_a_name_is_given_once() -> None:
    """No two investigations share a name, and the topics are in their order."""
    names = [one.name for one in load()]
    assert len(names) == len(set(names))
    topics = [one.topic for one in load()]
    assert topics == sorted(topics, key=TOPICS.index)


def test_drafted_signatures_load(prepared: dict[str, Prepared], tmp_path: Path) -> None:
    """A draft becomes a signature by a name for its kind, and takes its own sample."""
    ask = Ask("logs", "unexplained_messages", (), ("signature",), ())
    drafts = [row.replace("⏎", "\n") for row in answered(prepared["logs"], ask)]
    folder = tmp_path / "signatures"
    shutil.copytree(Path(str(assets.builtin("parsers"))) / "signatures", folder)
    kinds, texts = [], []
    for number, draft in enumerate(drafts):
        name = f"drafted_{number}"
        kinds.append(f'[[kinds]]\nname = "{name}"\ntiming = "any"\ntitle = "a draft"\n')
        texts.append(draft.replace('kind = ""', f'kind = "{name}"'))
    (folder / "drafts.toml").write_text("\n".join([*kinds, *texts]), "utf-8")
    assert drafts
    loaded = signatures.load(tmp_path)
    assert sum(item.kind.startswith("drafted_") for item in loaded.items) == len(drafts)
