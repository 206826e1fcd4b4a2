"""`around` and `of` answer, in the sandbox and in case.duckdb, what their names ask."""

import contextlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from faultlayer import answers, database, functions
from faultlayer.case import Case
from faultlayer.errors import UsageError

Build = Callable[..., Case]
Rows = list[tuple[Any, ...]]

ID = "7f26411e-1f0a-4c6e-9a51-0d2f6a9be001"
BARE = ID.replace("-", "")
ACCESS, FINE, RECEIVED, DEAD = 10**10 + 1, 10**10 + 2, 2 * 10**10 + 1, 2 * 10**10 + 2

# What the issue of this case is asked for, and people look for by these names.
NAMED = [
    "attempts",
    "events",
    "verdicts",
    "findings",
    "conditions",
    "incidents",
    "hops",
    "ledger",
    "balances",
    "in_flight",
    "clocks",
    "sources",
    "rejects",
    "join_quality",
]


@contextlib.contextmanager
def sandbox(case: Case) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a case as `faultlayer sql` does."""
    con = database.connect()
    database.attach_views(con, case.path, sandbox=True)
    yield con
    con.close()


@contextlib.contextmanager
def catalogue(case: Case) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open case.duckdb with nothing but DuckDB, from the folder of the case."""
    with contextlib.chdir(case.path):
        con = getattr(duckdb, "connect")("case.duckdb", read_only=True)  # noqa: B009
        yield con
        con.close()


OPENED = [sandbox, catalogue]


def short(rows: Rows) -> list[str]:
    """Give times as seconds after 14:20, the rest as it is."""
    start = datetime(2026, 11, 30, 14, 20)  # noqa: DTZ001
    return [
        " ".join(
            f"{(cell - start) / timedelta(seconds=1):g}s"
            if isinstance(cell, datetime)
            else str(cell)
            for cell in row
        )
        for row in rows
    ]


@pytest.mark.parametrize("opened", OPENED)
def test_around_a_moment(small_case: Case, opened: Any) -> None:
    """Records of all layers by corrected time, both ends of the span among them."""
    asked = "SELECT ts, away_ms, layer, kind, event_id FROM around({})"
    with opened(small_case) as con:
        for said, rows in (
            (
                "'2026-11-30 14:20:05', '1s'",
                [
                    f"5.5s 500.0 harness access {ACCESS}",
                    f"5.5s 500.0 model engine_dead {DEAD}",
                    f"6s 1000.0 harness access {FINE}",
                ],
            ),
            ("'14:20:03', '500ms'", [f"3.5s 500.0 model request_received {RECEIVED}"]),
            ("'2026-11-30T14:20:06.5Z', '0.5s'", [f"6s -500.0 harness access {FINE}"]),
            (
                "(SELECT max(ts_start) FROM attempts), '1s'",
                [
                    f"5.5s 500.0 harness access {ACCESS}",
                    f"5.5s 500.0 model engine_dead {DEAD}",
                    f"6s 1000.0 harness access {FINE}",
                ],
            ),
            ("'14:20:00', '1s'", []),
            ("NULL, '1s'", []),
        ):
            assert short(con.execute(asked.format(said)).fetchall()) == rows


@pytest.mark.parametrize("opened", OPENED)
def test_around_each_row_of_another_table(small_case: Case, opened: Any) -> None:
    """The moment may be a column, even one that the tables inside have as well."""
    sql = (
        "SELECT v.attempt_id, a.event_id FROM verdicts AS v"
        " JOIN attempts AS events USING (attempt_id), around(events.ts_start, '500ms') AS a"
    )
    with opened(small_case) as con:
        assert con.execute(sql).fetchall() == [(ACCESS, RECEIVED)]


WHOLE = [
    f"3s None attempt 1 None None 502 failed, 2500 ms, engine e-0, model demo-7b,"
    f" user u-7 {ACCESS} {ID}",
    f"3.5s 5000 event None model vllm request_received record 1 of engine.log"
    f" {RECEIVED} {ID}",
    f"5.5s 1000 event None harness nginx access record 1 of harness_access.log"
    f" {ACCESS} {ID}",
    f"5.5s None verdict 1 model None model.engine_dead corroborated: engine e-0 was"
    f" dead from 14:20:05.500 {ACCESS} {ID}",
]


@pytest.mark.parametrize("opened", OPENED)
def test_all_of_a_request(small_case: Case, opened: Any) -> None:
    """By any spelling of its id, as logged, pasted or begun: all in time, verdicts last."""
    with opened(small_case) as con:
        for said in (
            ID,
            ID.upper(),
            BARE,
            f"{ID}-0a1b2c3d",
            f"chatcmpl-{ID}",
            f'"{ID}",',
            ID[:8],
            BARE[:10].upper(),
            "7",
        ):
            rows = con.execute("FROM of($id)", {"id": said}).fetchall()
            assert short(rows) == WHOLE, said


@pytest.mark.parametrize("opened", OPENED)
def test_of_nothing(small_case: Case, opened: Any) -> None:
    """What no request is called gives no row, and so does saying nothing."""
    with opened(small_case) as con:
        for said in ("nothing-like-it", "", "  ", None, ID + "9"):
            assert con.execute("FROM of($id)", {"id": said}).fetchall() == []


@pytest.mark.parametrize("opened", OPENED)
def test_a_beginning_of_several(build_case: Build, opened: Any) -> None:
    """It is not chosen for the person; an id that begins another one is still itself."""
    from_three = [
        {"attempt_id": FINE, "request_id": "req-1", "attempt": 1, "failed": False},
        {"attempt_id": ACCESS, "request_id": "req-10", "attempt": 1, "failed": False},
        {"attempt_id": DEAD, "request_id": "req-2\x1b[31m", "attempt": 1},
    ]
    with opened(build_case(attempts=from_three)) as con:
        found = con.execute("SELECT DISTINCT request_id FROM of('req-1')").fetchall()
        assert found == [("req-1",)]
        with pytest.raises(
            UsageError, match="4 requests have an id that begins so"
        ) as told:
            answers.answer(con, "FROM of('req')", "table")
        assert "\x1b" not in str(told.value)


def test_a_record_that_names_several(build_case: Build) -> None:
    """It is of each request that it names."""
    case = build_case()
    with sandbox(case) as con:
        events = con.sql("FROM events_raw").to_arrow_table().to_pylist()
    events[3]["id_parts"] = [f"{ID}-0a1b2c3d", "req-other"]
    case = build_case(case.path.with_name("other"), events=events)
    with sandbox(case) as con:
        for said, found in ((ID, [RECEIVED, ACCESS, DEAD]), ("req-other", [DEAD])):
            rows = con.execute(
                "SELECT event_id FROM of($id) WHERE what = 'event' ORDER BY event_id",
                {"id": said},
            ).fetchall()
            assert sorted(found) == [row[0] for row in rows]


@pytest.mark.parametrize("opened", OPENED)
def test_everything_has_its_meaning(small_case: Case, opened: Any) -> None:
    """Every view and column has a comment, and so have the functions."""
    with opened(small_case) as con:
        views = dict(
            con.execute(
                "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        )
        columns = con.execute(
            "SELECT table_name, column_name, comment FROM duckdb_columns()"
            " WHERE NOT internal"
        ).fetchall()
        made = con.execute(
            "SELECT function_name, parameters, comment FROM duckdb_functions()"
            " WHERE function_type = 'table_macro' AND NOT internal ORDER BY ALL"
        ).fetchall()
    assert set(NAMED) <= set(views)
    assert [name for name, comment in views.items() if not comment] == []
    assert [row for row in columns if row[0] in views and not row[2]] == []
    assert {row[0] for row in columns} >= set(views)
    assert made == [
        (one.name, list(one.parameters), one.query.title) for one in functions.load()
    ]


@pytest.mark.parametrize("one", functions.load(), ids=lambda one: one.name)
def test_headers_say_what_they_give(small_case: Case, one: functions.Function) -> None:
    """The documented columns are those that come, each with its meaning."""
    call = f"FROM {one.name}({', '.join('NULL' for _ in one.parameters)})"
    with sandbox(small_case) as con:
        described = con.execute(call).description or []
    assert [item[0] for item in described] == list(one.columns)
    assert all(one.columns.values())
    kinds = [text.partition(";") for text in one.parameters.values()]
    assert all(kind in {"text", "time", "duration"} and doc for kind, _, doc in kinds)
    used = set(re.findall(r"\$(\w+)", one.query.statement))
    assert used == set(one.parameters)


@pytest.mark.parametrize(
    ("text", "rows"),
    [(f"of('{ID[:8]}')", 4), (" Around ('14:20:05', '1s');", 3), ("VALUES (1)", 1)],
)
def test_a_bare_call_is_a_statement(small_case: Case, text: str, rows: int) -> None:
    """At the prompt and in a one-liner FROM may be left out."""
    with sandbox(small_case) as con:
        assert len(con.execute(database.one_statement(con, text)).fetchall()) == rows


def test_a_wrong_moment_is_told(small_case: Case) -> None:
    """What is no time and no span is an error, not an empty answer."""
    with sandbox(small_case) as con:
        for said in ("'noon', '1s'", "'14:20', 'a while'", "'25:00', '1s'"):
            with pytest.raises(duckdb.ConversionException):
                con.execute(f"FROM around({said})").fetchall()
        with pytest.raises(UsageError, match="syntax error"):
            database.one_statement(con, "of('x'")


def test_a_case_is_where_it_is(build_case: Build, tmp_path: Path) -> None:
    """case.duckdb holds paths relative to its folder: it can be moved as a whole."""
    case = build_case()
    moved = case.path.rename(tmp_path / "moved")
    with catalogue(Case(moved, case.manifest)) as con:
        assert con.execute("SELECT count(*) FROM events").fetchall() == [(4,)]


def test_a_case_from_elsewhere(small_case: Case) -> None:
    """Where its folder is named first, as docs/sql.md has it."""
    con = getattr(duckdb, "connect")()  # noqa: B009
    con.execute(f"SET file_search_path = '{small_case.path}'")
    con.execute(f"ATTACH '{small_case.path}/case.duckdb' AS c (READ_ONLY)")
    con.execute("USE c")
    assert con.execute("SELECT count(*) FROM of('7f26')").fetchall() == [(4,)]
    con.close()


@pytest.mark.skipif(shutil.which("duckdb") is None, reason="there is no DuckDB shell")
def test_the_shell_of_duckdb(small_case: Case) -> None:
    """It opens case.duckdb, also an older one, and has the functions."""
    done = subprocess.run(
        ["duckdb", "-readonly", "-csv", "case.duckdb", "SELECT what FROM of('7f26')"],  # noqa: S607
        cwd=small_case.path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["what", "attempt", "event", "event", "verdict"]
