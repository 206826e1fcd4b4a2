"""Answers of queries are right in every format, and safe where eyes see them."""

import csv
import json
import os
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from faultlayer import answers, database
from faultlayer.errors import UsageError

MIXED = """
SELECT * FROM (VALUES
    (1, 'plain', TIMESTAMP '2026-11-30 14:20:05.5', [1, 2], 0.5, true),
    (2, '=cmd()', NULL, NULL, 'nan'::DOUBLE, NULL),
    (3, 'sk-abcdefgh12345678 | <b>' || chr(27) || '[31m', NULL, [], NULL, false)
) AS t (number, text, ts, list, ratio, flag)
ORDER BY number
"""


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    """Give an empty database."""
    return database.connect()


def written(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, sql: str = MIXED
) -> str:
    """Write an answer to a file and give its text."""
    path = tmp_path / "answer"
    answers.answer(con, sql, kind, output=path)
    assert [item.name for item in tmp_path.iterdir()] == ["answer"]
    return path.read_bytes().decode()


def test_csv(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Data as it is, but no text that a spreadsheet would run."""
    rows = list(csv.reader(written(con, tmp_path, "csv").splitlines()))
    assert rows == [
        ["number", "text", "ts", "list", "ratio", "flag"],
        ["1", "plain", "2026-11-30 14:20:05.5", "[1, 2]", "0.5", "true"],
        ["2", "'=cmd()", "", "", "", ""],
        ["3", "sk-abcdefgh12345678 | <b>\x1b[31m", "", "[]", "", "false"],
    ]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\tx", "\rx"])
def test_formulas_are_guarded(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, text: str
) -> None:
    """Text that begins like a formula gets a quote; a negative number does not."""
    path = tmp_path / "a.csv"
    answers.answer(con, f"SELECT '{text}' AS t, -1 AS n", "csv", output=path)
    with path.open(newline="") as file:
        assert list(csv.reader(file))[1] == ["'" + text, "-1"]


def test_json(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """One array of objects; times in ISO 8601, what is no number is null."""
    rows = json.loads(written(con, tmp_path, "json"))
    assert rows[0]["ts"] == "2026-11-30T14:20:05.500000Z"
    assert [row["ratio"] for row in rows] == [0.5, None, None]
    assert [row["list"] for row in rows] == [[1, 2], None, []]
    assert rows[1]["text"] == "=cmd()"


def test_jsonl(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """One object a line, the same as in json."""
    lines = written(con, tmp_path, "jsonl").splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows == json.loads(written(con, tmp_path, "json"))


def test_parquet(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Types survive."""
    path = tmp_path / "a.parquet"
    answers.answer(con, MIXED, "parquet", output=path)
    table = pq.read_table(path)
    assert table.num_rows == 3
    assert str(table.schema.field("ts").type) == "timestamp[us]"


def test_markdown(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """A table that no cell can break out of, with secrets masked."""
    lines = written(con, tmp_path, "md").splitlines()
    assert lines[1] == "| --: | --- | --- | --- | --: | --- |"
    assert lines[4] == "| 3 | sk-*** \\| &lt;b> |  | [] |  | false |"


def test_table(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """Aligned, safe and masked."""
    lines = written(con, tmp_path, "table").splitlines()
    assert (
        lines[0] == "number  text          ts                     list    ratio  flag"
    )
    assert lines[1].startswith("     1  plain         2026-11-30 14:20:05.5  [1, 2]")
    assert lines[3].startswith("     3  sk-*** | <b>  NULL")


@pytest.mark.parametrize(
    ("kind", "text"),
    [("csv", "a\n"), ("json", "[]\n"), ("jsonl", ""), ("md", "| a |\n| --: |\n")],
)
def test_an_empty_answer_is_empty_data(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, kind: str, text: str
) -> None:
    """Nothing found is not a message."""
    assert written(con, tmp_path, kind, "SELECT 1 AS a WHERE false") == text


def test_a_long_table_is_cut_and_says_so(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """The note tells how many rows there are; 0 means all."""
    path = tmp_path / "t"
    sql = "SELECT range AS n FROM range(5000)"
    note = answers.answer(con, sql, "table", output=path, limit=10)
    assert note.startswith("10 of 5,000 rows shown")
    assert len(path.read_text().splitlines()) == 11
    answers.answer(con, sql, "table", output=path, limit=0)
    assert len(path.read_text().splitlines()) == 5001


def test_a_failed_query_leaves_the_old_file(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """The file gets its name only when the answer is complete."""
    path = tmp_path / "answer.csv"
    path.write_text("old")
    sql = "SELECT CAST(if(range = 9000, 'x', '1') AS INTEGER) FROM range(10000)"
    with pytest.raises(UsageError, match="Conversion Error"):
        answers.answer(con, sql, "csv", output=path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["answer.csv"]  # noqa: PTH208 - hidden files too


def test_a_folder_that_is_not_there(con: duckdb.DuckDBPyConnection) -> None:
    """The message names the file."""
    with pytest.raises(UsageError, match="cannot be written"):
        answers.answer(con, "SELECT 1", "csv", output=Path("/nowhere/at/all.csv"))


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (None, None, "table"),
        (None, "a.csv", "csv"),
        (None, "a.PARQUET", "parquet"),
        ("json", "a.csv", "json"),
    ],
)
def test_the_format_follows_the_file_name(
    kind: str | None, name: str | None, expected: str
) -> None:
    """An option wins over a name, a name over the default."""
    assert answers.format_of(kind, Path(name) if name else None) == expected
