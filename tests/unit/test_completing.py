"""Tab offers what can stand there, the columns of the tables at hand first."""

import time

import pytest

from faultlayer import completing, lexicon

COMMANDS = [
    (".tables", "the tables", ()),
    (".schema", "columns", tuple(lexicon.tables())),
    (".format", "how", ("table", "csv")),
]
FUNCTIONS = ["count", "coalesce", "concat"]


def offered(text: str) -> list[str]:
    """Give what is offered at the `|` of a text."""
    before, _, after = text.partition("|")
    found = completing.candidates(before, after, commands=COMMANDS, functions=FUNCTIONS)
    return [one.text for one in found]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("SEL|", ["SELECT"]),
        ("sel|", ["select"]),
        ("SELECT * FROM ver|", ["verdicts"]),
        ("SELECT v.re| FROM verdicts AS v", ["request_id"]),
        ("SELECT v.us| FROM verdicts v JOIN attempts a ON true", []),
        ("SELECT a.us| FROM verdicts v JOIN attempts a ON true", ["user_id"]),
        ("FROM verdicts WHERE stren|", ["strength"]),
        ("FROM verdicts WHERE STREN|", ["strength"]),
        ("FROM of('x') WHERE wha|", ["what"]),
        ("FROM of('x') AS o WHERE o.wha|", ["what"]),
        ("FROM verdicts, hop|", ["hops"]),
        ("FROM verdicts,hop|", ["hops"]),
        ("FROM verdicts ORDER BY layer, ca|", ["cause", "case", "cast", "cascades"]),
        ("FROM verdicts, of('a') o, ha|", []),
        ("FROM around('14:05', ca|", ["case", "cast", "cascades", "cause"]),
        ("FROM aro|", ["around"]),
        ("WITH bad AS (FROM verdicts) FROM ba|", ["bad", "balances"]),
        ("DESCRIBE join_|", ["join_quality"]),
        ("SELECT coal|", ["coalesce"]),
        ("SELECT 'ver|'", []),
        ("SELECT 1 -- ver|", []),
        (".sch|", [".schema"]),
        (".schema verd|", ["verdicts"]),
        (".format |", ["table", "csv"]),
        (".tables verd|", []),
        ("SELECT 1 + |;|", None),
    ],
)
def test_what_is_offered(text: str, first: list[str] | None) -> None:
    """By what stands before and behind the cursor."""
    found = offered(text)
    assert found if first is None else found == first


def test_columns_of_named_tables_come_first() -> None:
    """Then keywords, tables, and columns that another table has."""
    found = offered("SELECT c| FROM verdicts")
    wanted = ["cause", "contributing", "cleared", "clock_sensitive", "condition_id"]
    assert found[:5] == wanted
    rest = [found.index(name) for name in ("cross", "clocks", "clock_id")]
    assert rest == sorted(rest)


def test_each_says_what_it_is() -> None:
    """The meaning of a column or table stands beside it."""
    [one] = completing.candidates("SELECT caus", " FROM verdicts")
    assert (one.text, one.typed, one.doc) == (
        "cause",
        4,
        "verdicts: cause as in the taxonomy",
    )
    [table] = completing.candidates("FROM verd")
    assert table.doc == "one row per failed attempt"


def test_every_table_is_offered() -> None:
    """After FROM stand all tables and functions of a case."""
    assert offered("FROM |") == list(lexicon.tables())


@pytest.mark.parametrize(
    "text",
    [
        "FROM " * 9000,
        "FROM" + " " * 40_000 + "1",
        "FROM " + "a, " * 15_000,
        "'a''" * 9000,
        "(" * 40_000,
        "FROM a " + "JOIN b " * 6000,
        "with a as (" * 4000,
        "/* " * 15_000,
    ],
    ids=lambda text: f"{text[:9]}...",
)
def test_long_texts_are_no_trouble(text: str) -> None:
    """What somebody pastes takes time that grows with its length alone."""
    begun = time.process_time()
    completing.candidates(text)
    assert time.process_time() - begun < 2
