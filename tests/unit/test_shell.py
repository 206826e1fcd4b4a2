"""The shell answers, explains and goes on, whatever is entered; no terminal needed."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from faultlayer import database, lexicon
from faultlayer.case import Case
from faultlayer.commands import _dots, _shell

ENDLESS = "SELECT count(*) FROM range(1_000_000_000_000) AS t (i) WHERE i % 7 = 3;"

# What would reach out of the case, also from within what the functions are given.
ATTACKS = [
    "SELECT * FROM read_text('/etc/passwd');",
    "FROM of((SELECT content FROM read_text('/etc/passwd')));",
    "FROM around((SELECT min(content) FROM read_text('/etc/passwd')), '1s');",
    "of(getenv('HOME'));",
    "WITH a AS (COPY (FROM of('7')) TO '{out}') SELECT 1;",
    "WITH events AS (COPY (SELECT 1) TO '{out}') FROM of('7');",
    "COPY (FROM of('7')) TO '{out}';",
    "SELECT 1; COPY (SELECT 1) TO '{out}';",
    "FROM query('COPY (SELECT 1) TO ''{out}''');",
    "SET memory_limit = '100GB';",
    "RESET max_execution_time;",
    "SET lock_configuration = false;",
    "CREATE OR REPLACE TEMP MACRO of(id) AS TABLE SELECT 1;",
    "DROP VIEW verdicts;",
    "ATTACH '{out}';",
]


@pytest.fixture(scope="module")
def con(small_case: Case) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection as `faultlayer sql` opens it."""
    opened = database.connect()
    database.attach_views(opened, small_case.path, sandbox=True)
    yield opened
    opened.close()


def talk(
    con: duckdb.DuckDBPyConnection, *entries: str | type[BaseException]
) -> list[str | type[BaseException]]:
    """Enter one after the other, then Ctrl-D; gives what was not read any more."""
    left = list(entries)

    def read() -> str:
        if not left:
            raise EOFError
        entry = left.pop(0)
        if isinstance(entry, str):
            return entry
        raise entry

    _shell.converse(con, read, _dots.Settings("csv", 200))
    return left


def test_questions_and_answers(
    con: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQL of several lines, several statements at once, and calls without FROM."""
    left = talk(
        con,
        "SELECT cause\nFROM verdicts;",
        "SELECT 1 AS a; SELECT ';' AS b;",
        "of('7f26');",
        "",
        ".format jsonl",
        "SELECT 2 AS c;",
        ".format table",
        ".rows 1",
        "FROM range(3) AS t (d);",
    )
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert left == []
    assert lines[:7] == ["cause", "model.engine_dead", "a", "1", "b", ";", lines[6]]
    assert lines[6].startswith("ts,ts_error_us,what,attempt,layer")
    assert lines[-3:] == ['{"c": 2}', "d", "0"]
    assert err.splitlines() == [
        "1 of 3 rows shown; .rows 0 shows all, .format csv writes all",
        "",
    ]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("FROM verdict;", "hint: perhaps verdicts"),
        ("SELECT cuase FROM verdicts;", "hint: perhaps cause, because"),
        ("SELEC 1;", "faultlayer: Parser Error: syntax error"),
        ("SELECT 1; DROP VIEW verdicts;", "faultlayer: a case is read-only: DROP"),
        ("of('req-' || chr(27) || '[31m');", "\n"),
        (".schema verdict", "hint: perhaps verdicts"),
        (".tabels", "hint: perhaps .tables"),
        (".nothing", "hint: .help lists the commands"),
        (".format parquet", "hint: one of table, csv, json, jsonl, md"),
        (".rows many", "hint: .rows 0 shows all"),
        (".format", "answers are written as csv"),
    ],
)
def test_mistakes_are_told_and_it_goes_on(
    con: duckdb.DuckDBPyConnection,
    capsys: pytest.CaptureFixture[str],
    entry: str,
    told: str,
) -> None:
    """With a hint, without a traceback, and the next entry is answered."""
    talk(con, entry, "SELECT 'still here' AS a;")
    out, err = capsys.readouterr()
    assert told in err
    assert "\x1b" not in out + err
    assert out.endswith("a\nstill here\n")


def test_ctrl_c_while_typing(
    con: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Drops what is typed, and no more."""
    assert talk(con, KeyboardInterrupt, "SELECT 1 AS a;", KeyboardInterrupt) == []
    assert capsys.readouterr().out == "a\n1\n"


def test_ctrl_c_stops_a_query(
    con: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a signal does to the database ends the answer and not the shell."""
    ended = threading.Event()

    def press() -> None:
        while not ended.wait(0.2):  # the first may come before the query runs
            database.interrupt()

    pressing = threading.Thread(target=press)
    entries = iter([ENDLESS, "SELECT 1 AS a;", ".quit"])

    def read() -> str:
        entry = next(entries)
        if entry == ENDLESS:
            pressing.start()
        else:
            ended.set()
            pressing.join()
        return entry

    _shell.converse(con, read, _dots.Settings("csv", 200))
    out, err = capsys.readouterr()
    assert (out, err.split()) == ("a\n1\n", ["interrupted"])


@pytest.mark.parametrize("word", [".quit", ".q", ".exit", ".quit;", "quit", "Exit;"])
def test_quit(con: duckdb.DuckDBPyConnection, word: str) -> None:
    """It ends there."""
    assert talk(con, word, "SELECT 1;") == ["SELECT 1;"]


def test_the_tables_are_told(
    con: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    """`.tables` has all of them, `.schema` all columns, each with its meaning."""
    known = lexicon.tables().values()
    talk(con, ".tables")
    listed = " ".join(capsys.readouterr().out.split())
    assert [one.name for one in known if f"{one.call} {one.doc}" not in listed] == []
    talk(con, ".schema")
    text = " ".join(capsys.readouterr().out.split())
    lines = [
        f"{name} {f'{one.types[name]} ' if one.types else ''}{doc}"
        for one in known
        for name, doc in one.columns.items()
    ]
    assert [line for line in lines if line not in text] == []
    talk(con, ".schema Around")
    text = capsys.readouterr().out
    assert text.startswith("around(moment, span)  records of all layers")
    assert "moment" in text.splitlines()[1]
    assert "takes" in text.splitlines()[1]


def test_help_names_every_command(
    con: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the queries that it shows can be run."""
    talk(con, ".help")
    text = capsys.readouterr().out
    assert [name for name, *_ in _dots.described() if f"\n{name} " not in text] == []
    examples = [line.partition(";")[0] for line in text.splitlines() if ";  " in line]
    assert len(examples) == 3
    for example in examples:
        con.execute(database.one_statement(con, example)).fetchall()


@pytest.mark.parametrize("entry", ATTACKS)
def test_nothing_but_the_case_is_reached(
    con: duckdb.DuckDBPyConnection,
    small_case: Case,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    entry: str,
) -> None:
    """No file is read or written, nothing is set, and no table changes."""
    before = sorted(small_case.path.parent.rglob("*"))
    limit = con.execute("SELECT current_setting('memory_limit')").fetchall()
    talk(con, entry.replace("{out}", str(tmp_path / "out")))
    out, err = capsys.readouterr()
    assert err.startswith("faultlayer: ")
    assert out in {"", "1\n1\n"}
    assert list(tmp_path.iterdir()) == []
    assert sorted(small_case.path.parent.rglob("*")) == before
    assert con.execute("SELECT current_setting('memory_limit')").fetchall() == limit
    assert con.execute("SELECT count(*) FROM of('7f26')").fetchall() == [(4,)]


def test_time_and_memory_are_bounded(
    small_case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of statements and of what the functions are given; the shell goes on."""
    con = database.connect(
        memory_limit="60MB", threads=1, time_limit=timedelta(milliseconds=300)
    )
    database.attach_views(con, small_case.path, sandbox=True)
    large = "SELECT string_agg(md5(i::VARCHAR), ',') FROM range(3_000_000) AS t (i)"
    talk(
        con,
        ENDLESS,
        f"of(({ENDLESS.removesuffix(';')}));",
        f"{large};",
        f"of(({large}));",
        "SELECT 1 AS a;",
    )
    out, err = capsys.readouterr()
    told = [line for line in err.splitlines() if line.startswith("faultlayer: ")]
    assert out == "a\n1\n"
    assert told[:2] == ["faultlayer: the query takes longer than --timeout"] * 2
    assert len(told) == 4
    con.close()
