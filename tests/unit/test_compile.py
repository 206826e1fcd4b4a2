"""Plans: a quote-split takes what its regex takes, and nothing torn."""

import polars as pl
import pytest

from faultlayer import compile as plans
from faultlayer import quoted
from faultlayer.compile import JsonShape, PatternError

FORMAT = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
    'rt=$request_time up="$upstream_addr" id=$http_x_request_id q=$upstream_http_q'
)
LINE = (
    '10.0.0.1 - a [b] - [30/Nov/2026:05:26:44 +0000] "GET / HTTP/1.1" 200 8 '
    'rt=0.005 up="10.0.0.2:80, unix:/x" id=r-1 q=0.5'
)


def test_a_line_is_cut_into_its_variables() -> None:
    """Numbers and the time are typed; what a client writes stays text."""
    match = quoted.quote_plan(FORMAT).match(pl.Series([LINE]))
    assert match.rows is None
    row = match.fields.row(0, named=True)
    assert row["remote_addr"] == "10.0.0.1"
    assert row["remote_user"] == "a [b] -"
    assert (row["status"], row["body_bytes_sent"], row["request_time"]) == (
        200,
        8,
        0.005,
    )
    assert row["upstream_addr"] == "10.0.0.2:80, unix:/x"
    assert (row["http_x_request_id"], row["upstream_http_q"]) == ("r-1", "0.5")


def test_every_torn_line_is_refused_by_both_plans() -> None:
    """A line that is cut anywhere before its last value is not taken.

    Inside the last one nothing tells: only the bytes of the line do.
    """
    torn = pl.Series([LINE[:end] for end in range(len(LINE) - len("0.5"))])
    quote = quoted.quote_plan(FORMAT)
    regex = plans.regex_plan(quoted.log_regex(FORMAT))
    assert len(quote.match(torn).fields) == 0
    assert len(regex.match(torn).fields) == 0
    late = pl.Series([LINE[begin:] for begin in range(9, len(LINE))])
    assert len(quote.match(late).fields) == 0


def test_an_ambiguous_line_is_left_to_the_regex() -> None:
    """A client wrote the literal into its id: the last one is nginx's."""
    line = LINE.replace("id=r-1", "id=r q=9")
    assert len(quoted.quote_plan(FORMAT).match(pl.Series([line])).fields) == 0
    match = plans.regex_plan(quoted.log_regex(FORMAT)).match(pl.Series([line]))
    assert match.fields.item(0, "http_x_request_id") == "r q=9"
    assert match.fields.item(0, "upstream_http_q") == "0.5"


@pytest.mark.parametrize("value", ["+5", "1e3", ".5", "5.", "inf", "nan", "0x1", ""])
def test_the_regex_takes_what_the_split_takes(value: str) -> None:
    """Few lines are asked by the regex alone, so it may not be the narrower one."""
    for old in ("rt=0.005", " 8 "):
        new = old.replace("0.005", value).replace("8", value)
        line = pl.Series([LINE.replace(old, new)])
        split = len(quoted.quote_plan(FORMAT).match(line).fields)
        assert (
            len(plans.regex_plan(quoted.log_regex(FORMAT)).match(line).fields) >= split
        )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("9:1 200 0.003 0.010", ("9:1", "200", "0.003", "0.010")),
        ("- - - 0.000", ("-", "-", "-", "0.000")),
        ("9:1, 9:2 502, 200 0.0, 0.1 0.1", ("9:1, 9:2", "502, 200", "0.0, 0.1", "0.1")),
        (
            "9:1 : [::2]:8 502 : 200 0.0 : 0.1 0.1",
            ("9:1 : [::2]:8", "502 : 200", "0.0 : 0.1", "0.1"),
        ),
        ("9:1, 9:2 502, 200 0.0, x 0.1", None),
    ],
)
def test_lists_between_spaces_end_where_their_items_do(
    line: str, expected: tuple[str, ...] | None
) -> None:
    """Lists of upstreams hold spaces: none of them takes a part of its neighbour."""
    log_format = "$upstream_addr $upstream_status $upstream_response_time $request_time"
    names = (
        "upstream_addr",
        "upstream_status",
        "upstream_response_time",
        "request_time",
    )
    text = pl.Series([line])
    plans_ = (
        quoted.quote_plan(log_format),
        plans.regex_plan(quoted.log_regex(log_format)),
    )
    found = [plan.match(text).fields.select(names).cast(pl.String) for plan in plans_]
    rows = [row for fields in found for row in fields.rows()]
    if expected is None:
        assert rows == []
        return
    assert rows
    assert {row[:3] for row in rows} == {expected[:3]}
    assert {float(row[3]) for row in rows} == {float(expected[3])}


def test_dropped_variables_are_checked_but_not_given() -> None:
    """What no column needs is not computed."""
    plan = quoted.quote_plan(FORMAT, drop={"remote_user", "upstream_addr"})
    match = plan.match(pl.Series([LINE, LINE.replace(" - a", "")]))
    assert "remote_user" not in match.fields.columns
    assert match.fields.get_column("remote_addr").to_list() == ["10.0.0.1"]


@pytest.mark.parametrize("user", ["", "a", "a b", " - ", "\u00e4\u00f6\u00fc"])
def test_an_address_ends_at_the_first_space(user: str) -> None:
    """A user that nobody wants may hold anything; a space too few is another shape."""
    plan = quoted.quote_plan(FORMAT, drop={"remote_user"})
    line = LINE.replace(" - a [b] - [", f" - {user} [")
    short = LINE.replace(" - a [b] - [", " - [")
    assert LINE not in (line, short)
    match = plan.match(pl.Series([line, short]))
    assert match.fields.get_column("remote_addr").to_list() == ["10.0.0.1"]
    assert match.rows is not None
    assert match.rows.to_list() == [0]


@pytest.mark.parametrize(
    ("log_format", "why"),
    [
        ("no variable", "log_format has no variable"),
        ("$status $status", "log_format has $status twice"),
        ("$status$request", "nothing separates $status from $request"),
    ],
)
def test_a_format_that_cannot_be_read_is_refused(log_format: str, why: str) -> None:
    """The message says what to change."""
    with pytest.raises(PatternError) as caught:
        quoted.quote_plan(log_format)
    assert str(caught.value) == why


def test_a_regex_has_to_take_the_whole_line() -> None:
    """Anchors are implied, and optional groups may all be absent."""
    match = plans.regex_plan(r"a(?P<x>\d)?").match(pl.Series(["a", "a1", "ba", "a12"]))
    assert match.rows is not None
    assert match.rows.to_list() == [0, 1]
    assert match.fields.get_column("x").to_list() == [None, "1"]


def test_many_lines_are_taken_as_few_are() -> None:
    """Of many, what stands before the free text is cut off and read once for all."""
    heads = ("I 12:00 ", "I 12:01 ", "(p) W 12:00 ", "E 12:00", "I 12 ", "")
    texts = (
        "",
        "a",
        " a: (p) W 12:00 b",
        "\u4f60 \u00e9",
        "two\nlines",
        "\r",
        "x" * 99,
    )
    some = [head + text for head in heads for text in texts]
    own = [f"I 12:{number:02} {number}" for number in range(60)]
    for regex in (
        r"(?:\((?P<who>\w+)\) )?(?P<level>[IWE]) (?P<at>\d+:\d+) (?P<text>.*)",
        r"(?:\((?P<who>\w+)\) )?(?P<level>[IWE]) (?P<at>\d+:\d+) ?(?P<text>.*)",
        r"(?P<level>[IWE]) (?P<at>\d+?(?::\d+?)??)(?P<text>.*)",
        r"(?P<level>[IWE]?)(?P<text>.*)",
        r"(?P<level>[IWE]) (?P<at>\d\d)\b(?P<text>.*)",
        r"I (?P<text>.*)",
    ):
        plan = plans.regex_plan(regex)
        for lines in (some * 7, own * 5, [*own, *some] * 3, some[:7] * 40):
            column = pl.Series([*lines, None])
            many = plan.match(column)
            few = [plan.match(column[at : at + 9]) for at in range(0, len(column), 9)]
            rows = [
                9 * part + row
                for part, match in enumerate(few)
                for row in (match.rows if match.rows is not None else range(9))
            ]
            assert many.rows is not None
            assert many.rows.to_list() == rows
            assert many.fields.equals(pl.concat(match.fields for match in few))


def test_lines_that_come_again_are_captured_as_if_they_did_not() -> None:
    """Of many equal lines each is captured once: the answer is that of one after another."""
    some = ["GET /a 200", "GET /b", "none", None, "GET /\u4f60 404", "GET /a 200 "]
    plan = plans.regex_plan(r"(?P<verb>[A-Z]+) (?P<path>\S+)(?: (?P<status>\d+))?")
    few = plan.match(pl.Series(some, dtype=pl.String))
    many = plan.match(pl.Series([*some * 4000, "POST /c 201"], dtype=pl.String))
    assert few.rows is not None
    assert few.rows.to_list() == [0, 1, 4]
    assert many.rows is not None
    rows = [6 * time + row for time in range(4000) for row in (0, 1, 4)]
    assert many.rows.to_list() == [*rows, 24000]
    assert many.fields[:-1].equals(pl.concat([few.fields] * 4000))
    assert many.fields.row(-1) == ("POST", "/c", "201")


@pytest.mark.parametrize("regex", ["x+", "(?P<a>x", r"(?P<a>x)(?=y)"])
def test_a_regex_of_another_dialect_is_refused(regex: str) -> None:
    """Look-around and groups without a name fail when the file is read."""
    with pytest.raises(PatternError):
        plans.regex_plan(regex)


def test_a_json_shape_is_told_by_keys_and_values() -> None:
    """Required, forbidden, one of several, one of some values."""
    shape = JsonShape(
        require=("a",), one_of=("b", "c"), forbid=("d",), values={"e": ["x", "y"]}
    )
    lines = pl.Series(
        [
            '{"a":1,"b":2,"e":"x"}',
            '{"a":1,"e":"x"}',
            '{"a":1,"c":2,"d":3,"e":"x"}',
            '{"a":1,"c":2,"e":"z"}',
            '{"a":null,"c":2,"e":"x"}',
            "text",
        ]
    )
    match = plans.json_plan(shape).match(lines)
    assert match.rows is not None
    assert match.rows.to_list() == [0]
