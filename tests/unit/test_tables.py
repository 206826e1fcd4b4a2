"""Tables: the rows below a header, wherever the blocks end."""

import json

import polars as pl
import pytest

from faultlayer import logical_lines
from faultlayer.tables import Reading, Table, matching

DMON = Table(header=r"# *gpu\b.*")
CSV = Table(header=r"id,.*", split="comma", units=" (?:%|MiB)")


def rows(reading: Reading, first: int, *text: str) -> list[object]:
    """Give each line as its object, or as the text that it stayed."""
    numbers = pl.Series(range(first, first + len(text)))
    found = reading.rows(numbers, pl.Series(text)).to_list()
    return [json.loads(one) if one.startswith("{") else one for one in found]


def lines(*text: str) -> pl.DataFrame:
    """Give lines with the columns of `unwrap.LINES`, a byte longer than their text."""
    lengths = [len(one) + 1 for one in text]
    return logical_lines.plain(
        pl.DataFrame(
            {
                "line": range(1, len(text) + 1),
                "byte_offset": [sum(lengths[:n]) for n in range(len(text))],
                "byte_length": lengths,
                "text": text,
            }
        )
    )


def test_a_row_takes_the_names_of_the_header_above_it() -> None:
    """A later header with other columns counts from its line on."""
    found = rows(Reading(DMON), 1, "# gpu sm", "0 99", "# gpu pwr sm", "0 300 98")
    assert found[1] == {"gpu": "0", "sm": "99"}
    assert found[3] == {"gpu": "0", "pwr": "300", "sm": "98"}


def test_a_header_counts_in_the_blocks_after_it() -> None:
    """Also when an earlier block is given again: its rows keep their own header."""
    reading = Reading(DMON)
    rows(reading, 1, "# gpu sm", "0 99", "# gpu pwr", "0 300")
    assert rows(reading, 5, "1 301") == [{"gpu": "1", "pwr": "301"}]
    assert rows(reading, 2, "0 99") == [{"gpu": "0", "sm": "99"}]


@pytest.mark.parametrize("line", ["0 99 1", "0", "# Idx %", "", "text"])
def test_what_is_no_row_stays_as_it_is(line: str) -> None:
    """A line with another number of values is none, nor is one before any header."""
    assert rows(Reading(DMON), 1, "# gpu sm", line)[1] == line
    assert rows(Reading(DMON), 1, line) == [line]


def test_quoted_values_hold_commas_quotes_and_nothing() -> None:
    """Units of the header and of the values are taken off, dots become underscores."""
    found = rows(
        Reading(CSV), 1, "id,used.x [MiB], note", '7, 23 MiB,"a, ""b"" c"', "8,,"
    )
    assert found[1] == {"id": "7", "used_x": "23", "note": 'a, "b" c'}
    assert found[2] == {"id": "8", "used_x": "", "note": ""}


def test_a_quoted_value_may_span_lines() -> None:
    """The joined row has the bytes and lines of all of them."""
    joined = Reading(CSV).joined(lines("id,n", '1,"a', 'b"', "2,c"), last=True)
    assert joined.get_column("text").to_list() == ["id,n", '1,"a\nb"', "2,c"]
    assert joined.get_column("lines").to_list() == [1, 2, 1]
    assert joined.get_column("byte_length").to_list() == [5, 8, 4]
    assert joined.get_column("byte_offset").to_list() == [0, 5, 13]


def test_an_open_quote_waits_for_the_next_block_but_not_for_ever() -> None:
    """What nothing closes is lines of their own."""
    open_ = lines("id,n", '1,"a', "b")
    assert Reading(CSV).joined(open_, last=False).get_column("whole").to_list() == [
        True,
        False,
    ]
    ended = Reading(CSV).joined(open_, last=True)
    assert ended.get_column("text").to_list() == ["id,n", '1,"a', "b"]
    long = lines("id,n", '1,"a', *["b"] * 600)
    assert Reading(CSV).joined(long, last=False).get_column("whole").all()


def test_a_table_is_one_when_most_lines_are_its_rows() -> None:
    """A header in a log of something else makes none."""
    named = [("dmon", DMON)]
    assert matching(pl.Series(["# gpu sm", "0 99", "1 98"]), named) == "dmon"
    assert matching(pl.Series(["# gpu sm", "0 99", "x", "y", "z"]), named) is None
    assert matching(pl.Series(["0 99", "1 98"]), named) is None


@pytest.mark.parametrize("mark", [";", "\t"])
def test_the_header_says_what_stands_between_values(mark: str) -> None:
    """A comma is then like any other character."""
    table = Table(header=r"id[;\t].*", split="comma")
    head = mark.join(("id", "content", "other"))
    found = rows(Reading(table), 1, head, mark.join(("7", "a, b", f'"x{mark}""y"""')))
    assert found[1] == {"id": "7", "content": "a, b", "other": f'x{mark}"y"'}


def test_a_value_of_many_lines_does_not_hide_the_table() -> None:
    """Its lines are not counted as lines that are no rows."""
    table = Table(header=r"id,.*", split="comma")
    text = ["id,content", "1,x", '2,"a', *["b"] * 20, 'c"', "3,y"]
    assert matching(pl.Series(text), [("t", table)]) == "t"
    assert (
        matching(pl.Series(["id,content", *["b"] * 20, "3,y"]), [("t", table)]) is None
    )
