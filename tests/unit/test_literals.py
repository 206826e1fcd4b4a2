"""What is told of a pattern's lines without it never denies a line that it takes."""

import re
from functools import cache

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultlayer import parse
from faultlayer.literals import Hint, Sight, hint, pieces
from faultlayer.take import take


@cache
def definitions() -> parse.Definitions:
    """Load the built-in definitions once."""
    return parse.load_definitions()


@pytest.mark.parametrize(
    ("regex", "needed", "begins"),
    [
        (r"\[(?P<a>\d+)\] Loading model\.\.\. x?", "] Loading model... ", r"\[\d"),
        (r"(?:a)?bc", "bc", "(?:a){0,1}bc"),
        (r"(?:ab+)?c", "c", ""),
        (r"ab|cd", "", "(?:ab|cd)"),
        (r"(?P<x>ab|cd)ef", "ef", "(?:ab|cd)ef"),
        (r"(?:a|b*)c", "c", ""),
        (r"(?:a|b+)c", "c", "(?:a|b)"),
        (r"(?P<x>(?:INFO) )y+z{2}w{0,3}", "INFO", r"INFO\ y"),
        (r"\d{4}-x*y", "-", r"\d{4}\-"),
        (r"^\d{2,3}-", "-", r"\d{2,3}\-"),
        (r"a.(?:b|c)d", "a", "a.(?:b|c)d"),
        (r"a(?:bc){2}d", "bc", "a(?:bc){2}d"),
        (r"\ba", "a", ""),
        (r"x{40}", "x", ""),
        (r"(?i)abc", "", ""),
        (r"[a-z]+\$", "$", "[a-z]"),
        (r"[a-z]*b", "b", ""),
        (r"(((ab)))c", "ab", "abc"),
    ],
)
def test_text_and_beginning_are_found(regex: str, needed: str, begins: str) -> None:
    """The longest text that must be there, and what a line begins with."""
    found = hint(regex)
    assert (found.needed, found.begins) == (needed, begins)


def test_no_sample_is_denied_by_the_pattern_that_takes_it() -> None:
    """All samples and look-alikes against all patterns."""
    known = definitions()
    lines = [
        sample.line.split("\n", maxsplit=1)[0]
        for one in known.formats
        if not one.table
        for sample in (*one.samples, *one.rejects)
    ]
    taken = 0
    for one in known.formats:
        for pattern in one.patterns:
            hits, _ = take(pl.Series(lines), [(one, [pattern])])
            for hit in hits:
                rows = range(len(lines)) if hit.rows is None else hit.rows.to_list()
                for row in rows:
                    taken += 1
                    assert Sight([lines[row]]).may_hold(pattern.hint), pattern.name
    assert taken > 200


def test_of_each_group_of_texts_one_has_to_be_there() -> None:
    """As an object that a pattern takes has one of some keys."""
    sight = Sight(['{"id": 1}', '{"msg": "x"}'])
    assert sight.may_hold(Hint(groups=(('"id"',), ('"message"', '"msg"'))))
    assert not sight.may_hold(Hint(groups=(('"id"',), ('"message"', '"text"'))))


_ATOMS = st.sampled_from(
    [
        "a",
        "b",
        r"\d",
        "[ab]",
        r"\.",
        "(?:a|b)",
        "(?:a|ab|b+)",
        "(?:a|)",
        "(?P<g>ab)",
        "(?:ab)?",
        "a*",
        "b+",
        "a{2}",
        "b{1,2}",
        "(?:a.){2}",
    ]
)


@given(st.lists(_ATOMS, min_size=1, max_size=5), st.text("ab.0", max_size=8))
def test_a_line_that_matches_may_hold_what_is_needed(
    atoms: list[str], line: str
) -> None:
    """For regexes of any build."""
    regex = "".join(atoms)
    if regex.count("(?P<g>") < 2 and re.fullmatch(regex, line):
        assert Sight([line]).may_hold(hint(regex))


def test_most_patterns_need_not_be_tried() -> None:
    """Of a file of one program few other formats are compiled at all."""
    [line] = [
        sample.line
        for sample in definitions().format("nginx_combined").samples
        if sample.number == 0
    ]
    sight = Sight([line])
    tried = [
        pattern.name
        for one in definitions().formats
        for pattern in one.patterns
        if sight.may_hold(pattern.hint)
    ]
    every = [pattern for one in definitions().formats for pattern in one.patterns]
    assert len(tried) < len(every) / 2


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (r"a(?P<x>\d+) b(?:c(d))?e", ["a", r"(?P<x>\d+)", " b", "(?:c(d))?", "e"]),
        (r"(?P<x>a|b)", ["(?P<x>a|b)"]),
        (r"a|(?P<x>b)", [r"a|(?P<x>b)"]),
        (r"\(a[(]", [r"\(a[(]"]),
    ],
)
def test_a_regex_is_cut_at_its_groups(regex: str, expected: list[str]) -> None:
    """One with an outer choice stays whole; the pieces are the regex."""
    assert pieces(regex) == expected
    assert "".join(pieces(regex)) == regex
