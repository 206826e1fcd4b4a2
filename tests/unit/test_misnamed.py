"""A wrong name in a statement is answered with the right one."""

import duckdb
import pytest

from faultlayer import answers, database
from faultlayer.case import Case
from faultlayer.errors import UsageError

MOMENT = "a moment is '2026-11-30 14:20:05' or '14:20:05', a span '10s' or '2m'"


@pytest.fixture(scope="module")
def con(small_case: Case) -> duckdb.DuckDBPyConnection:
    """Give a connection as `faultlayer sql` opens it."""
    opened = database.connect()
    database.attach_views(opened, small_case.path, sandbox=True)
    return opened


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("FROM verdict", "perhaps verdicts"),
        ("FROM requests", "perhaps rejects"),
        ("FROM zzz", "SHOW TABLES lists the tables"),
        ("SELECT cuase FROM verdicts", "perhaps cause, because"),
        ("SELECT v.strenght FROM verdicts AS v", "perhaps strength"),
        (
            "SELECT engine FROM verdicts",
            "engine is a column of attempts, events, events_raw, hops",
        ),
        ("SELECT zzz FROM verdicts", "DESCRIBE verdicts lists its columns"),
        (
            "SELECT status",
            "status is a column of attempts, clocks, events, events_raw, hops and 1 more",
        ),
        (
            'FROM verdicts WHERE layer = "model"',
            "a text stands in single quotes: 'model'",
        ),
        ("SELECT verdicts.cause", "the statement lacks FROM verdicts"),
        ("SELECT w.cause FROM verdicts AS v", "the statement reads v"),
        ("FROM aruond('14:05', '1s')", "perhaps around"),
        ("FROM around('noon', '1s')", MOMENT),
        ("FROM around('14:20', '1 fortnight') AS a", MOMENT),
        ("FROM around('25:00', '1s')", MOMENT),
        ("SELECT CAST(cause AS INTEGER) FROM verdicts", ""),
        (
            "SELECT around('14:05', '1s')",
            "it gives a table: write FROM around(moment, span)",
        ),
    ],
)
def test_hints(con: duckdb.DuckDBPyConnection, statement: str, hint: str) -> None:
    """The nearest name, where a column is, or what is written otherwise."""
    with pytest.raises(UsageError) as told:
        answers.answer(con, statement, "table")
    assert told.value.hint == hint
    assert isinstance(told.value.__cause__, duckdb.Error)
