"""JSON lines: one bad line never touches its neighbours."""

import polars as pl
import pytest

from faultlayer import jsonl

GOOD = '{"a":1,"b":"x"}'


def _read(*lines: str) -> list[tuple[object, ...]]:
    found = jsonl.json_objects(pl.Series(lines), ["a", "b"])
    return found.select(jsonl.ROW, "a", "b").rows()


@pytest.mark.parametrize(
    "bad",
    [
        '{"a":"x',
        'y"}',
        "{}",
        "",
        "x",
        '{"a":1}{"a":2}',
        '{"a":1},{"a":2}',
        "[1]",
        '{"a":}x',
    ],
)
def test_a_line_that_is_no_object_is_left_out_alone(bad: str) -> None:
    """The lines around it keep their values and places."""
    assert _read(GOOD, bad, GOOD) == [(0, "1", "x"), (2, "1", "x")]


def test_a_string_over_two_lines_is_not_joined() -> None:
    """Two halves of an object are no object, even if they fit together."""
    assert _read('{"a":"x', 'y","b":"z"}') == []


@pytest.mark.parametrize(
    ("line", "a"),
    [
        ('{"a":009}', "9"),
        ('{"a":-007,"b":"k\\":009"}', "-7"),
        ('{"a":,"b":"x"}', None),
        ('{"b":"x","a":}', None),
        (r'{"a":"\x41\xE4\xB8\xAD"}', "A中"),
        (r'{"a":"\\x41"}', r"\x41"),
        ('{"a":NaN}', None),
        ('{"a":1,"a":2}', "1"),
        ('{"a":{"k":[1,null]}}', '{"k": [1, null]}'),
        ('{"a":true}', "true"),
        (r'{"a":"\ud800"}', "?"),
    ],
)
def test_what_nginx_writes_is_mended(line: str, a: str | None) -> None:
    """Zeros in front, no value at all, bytes as hex; the first of two keys counts."""
    mended = [row[1] for row in _read(GOOD, line)[1:]]
    assert [str(one).replace('","', '", "') if one else one for one in mended] == [a]


def test_other_keys_come_with_the_rest() -> None:
    """A key that nobody named is read too, wherever it stands first."""
    lines = pl.Series([GOOD] * 300 + ['{"a":1,"new":"k"}', GOOD])
    found = jsonl.json_objects(lines, ["a", "b"])
    assert found.columns == [jsonl.ROW, "a", "b", "new"]
    assert found.item(300, "new") == "k"


def test_an_array_is_an_object_where_the_format_says_so() -> None:
    """It stands under the key that the format gives it."""
    found = jsonl.json_objects(pl.Series(['[{"a":1}]']), ["all"], "all")
    assert found.item(0, "all") in {'[{"a":1}]', '[{"a": 1}]'}


def test_keys_of_earlier_lines_change_nothing() -> None:
    """They only save the second reading: what no line has is no column."""
    lines = pl.Series(['{"a":"1","b":"2"}', '{"a":"3","c":{"d":4}}'])
    seen: set[str] = set()
    first = jsonl.json_objects(lines, ["a"], seen=seen)
    assert seen == {"b", "c"}
    assert jsonl.json_objects(lines, ["a"], seen={"b", "z"}).equals(first)
    assert jsonl.json_objects(lines, ["a"]).equals(first)


def test_a_key_is_seen_whatever_stands_before_its_colon() -> None:
    """Blanks and tabs too; a key that only one line has is found."""
    lines = pl.Series(
        ['{"a":1}', '{"a":1,"b" :2}', '{"a":1,"c"\t : 3}', '{"a":"\\" :"}']
    )
    found = jsonl.json_objects(lines, ["a"])
    assert found.columns == ["_row", "a", "b", "c"]
    assert found.select("b", "c").rows() == [
        (None, None), ("2", None), (None, "3"), (None, None),
    ]  # fmt: skip
