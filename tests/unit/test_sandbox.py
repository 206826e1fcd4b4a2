"""User SQL reads the tables of its case and reaches nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from faultlayer import answers, database
from faultlayer.case import Case
from faultlayer.errors import UsageError

Build = Callable[..., Case]

# What DuckDB itself takes for a SELECT or an EXPLAIN, so that only the lock stops it.
ATTACKS = [
    "WITH a AS (COPY (SELECT 1) TO '{out}') SELECT 1",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '{case}/verdicts.parquet'",
    "SELECT * FROM read_parquet('{case}/events/*.parquet')",
    "SELECT * FROM parquet_metadata('{case}/verdicts.parquet')",
    "SELECT * FROM read_duckdb('{case}/case.duckdb')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM 'https://example.invalid/x.parquet'",
    "SELECT * FROM which_secret('s3://x', 's3')",
    "SELECT getenv('HOME')",
    "SELECT * FROM query('COPY (SELECT 1) TO ''{out}''')",
    "SELECT * FROM host_variable",
    "SELECT * FROM arrow_scan(1, 1, 1)",
    "SELECT * FROM pandas_scan(1)",
    "SELECT * FROM disable_profiling()",
    "WITH a AS (INSERT INTO verdicts (rule) VALUES ('x')) SELECT 1",
]

# Refused before they run, and by the lock, too.
STATEMENTS = [
    "COPY (SELECT 1) TO '{out}'",
    "COPY verdicts FROM '/etc/passwd'",
    "EXPORT DATABASE '{out}'",
    "ATTACH '{out}'",
    "ATTACH '{case}/case.duckdb' AS c (READ_ONLY)",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET enable_external_access",
    "SET lock_configuration = false",
    "SET memory_limit = '100GB'",
    "SET python_enable_replacements = true",
    "PRAGMA enable_profiling",
    "CREATE SECRET (TYPE s3)",
    "CALL enable_logging('QueryLog')",
]

# Harmless in memory, but not what a case is for.
OTHERS = [
    "CREATE TABLE t AS SELECT 1",
    "CREATE TEMP TABLE t AS SELECT 1",
    "ATTACH ':memory:' AS m",
    "DROP VIEW verdicts",
    "BEGIN",
    "PREPARE p AS SELECT 1",
    "SET VARIABLE a = 1",
    "USE main",
]

READING = [
    "SELECT count(*) FROM events",
    "FROM verdicts",
    "WITH a AS (SELECT 1 AS b) SELECT b FROM a",
    "DESCRIBE events",
    "SHOW TABLES",
    "SUMMARIZE verdicts",
    "EXPLAIN SELECT 1",
    "VALUES (1)",
    "PIVOT verdicts ON layer USING count(*)",
    "SELECT 1;",
    "SELECT ';'; -- one; statement;",
]


@pytest.fixture
def locked(build_case: Build) -> tuple[duckdb.DuckDBPyConnection, Path]:
    """Give a sandboxed connection and the case that it reads."""
    case = build_case()
    con = database.connect()
    database.attach_views(con, case.path, sandbox=True)
    return con, case.path


def _filled(text: str, case: Path) -> str:
    return text.replace("{out}", str(case.parent / "out")).replace("{case}", str(case))


@pytest.mark.parametrize("text", ATTACKS + STATEMENTS)
def test_the_lock_holds_by_itself(
    locked: tuple[duckdb.DuckDBPyConnection, Path], text: str
) -> None:
    """Even a statement that nobody checked reads and writes nothing outside."""
    con, case = locked
    host_variable: Any = [1]  # a replacement scan would find it
    before = sorted(case.parent.rglob("*"))
    with pytest.raises(duckdb.Error):
        con.execute(_filled(text, case)).fetchall()
    assert sorted(case.parent.rglob("*")) == before
    assert host_variable


@pytest.mark.parametrize("text", STATEMENTS + OTHERS)
def test_what_is_no_reading_statement_is_refused(
    locked: tuple[duckdb.DuckDBPyConnection, Path], text: str
) -> None:
    """The message comes before the statement runs."""
    con, case = locked
    with pytest.raises(UsageError, match="a case is read-only"):
        database.one_statement(con, _filled(text, case))


@pytest.mark.parametrize("text", READING)
def test_reading_statements_work(
    locked: tuple[duckdb.DuckDBPyConnection, Path], text: str
) -> None:
    """All ways to read are open."""
    con, _ = locked
    con.execute(database.one_statement(con, text)).fetchall()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1; SELECT 2", "2 statements given, one is allowed"),
        ("SELECT 1; COPY (SELECT 1) TO 'x'", "2 statements given, one is allowed"),
        ("", "no statement given"),
        (" -- nothing\n;", "no statement given"),
        ("SELEC 1", "syntax error"),
    ],
)
def test_one_statement_only(
    locked: tuple[duckdb.DuckDBPyConnection, Path], text: str, message: str
) -> None:
    """None, two, or no SQL at all: each is told in words."""
    con, _ = locked
    with pytest.raises(UsageError, match=message):
        database.one_statement(con, text)


def test_only_the_tables_of_the_case_are_listed(
    locked: tuple[duckdb.DuckDBPyConnection, Path],
) -> None:
    """Nothing of the machinery shows."""
    con, _ = locked
    names = [row[0] for row in con.execute("SHOW TABLES").fetchall()]
    assert names == sorted(database.VIEWS)


def test_a_sandbox_still_spills(build_case: Build, tmp_path: Path) -> None:
    """A sort beyond the memory limit uses the spill folder, locked or not."""
    case = build_case()
    spill = tmp_path / "spill"
    spill.mkdir()
    con = database.connect(memory_limit="60MB", threads=1, temp_dir=spill)
    database.attach_views(con, case.path, sandbox=True)
    sql = (
        "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY md5(i::VARCHAR)) AS n"
        " FROM range(1500000) AS t (i))"
    )
    assert con.execute(sql).fetchall() == [(1500000,)]


def test_bad_settings_are_told(tmp_path: Path) -> None:
    """A memory limit that is none is the user's mistake, not a crash."""
    with pytest.raises(UsageError, match="the database refuses its settings"):
        database.connect(memory_limit="much", temp_dir=tmp_path)


def test_an_interrupt_passes_over_what_is_closed() -> None:
    """Ctrl-C may come when a connection has just ended, and stops the others."""
    gone, busy = database.connect(), database.connect()
    gone.close()
    database.interrupt()
    assert busy.execute("SELECT 1").fetchall() == [(1,)]
    busy.close()


def test_a_query_that_is_interrupted_by_nobody_took_too_long() -> None:
    """DuckDB says the same of Ctrl-C and, at times, of the end of its time."""
    error = duckdb.InterruptException("INTERRUPT Error: Interrupted!")
    database.stopped()
    assert str(answers.refused(error)) == "the query takes longer than --timeout"
    database.interrupt()
    with pytest.raises(KeyboardInterrupt):
        answers.refused(error)
