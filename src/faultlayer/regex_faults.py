"""Says what is wrong with a regex, at which character, and how it is written instead."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

# What authors bring from other engines, in the words of the message that it gets.
_HINTS: Final = (
    ("unknown extension ?<", "a named group is (?P<name>...)"),
    (
        "look-around",
        "match the text in the pattern itself; a [[reject]] needs no pattern",
    ),
    ("unrecognized flag", "a group cannot be repeated by its name, as in (?P=name)"),
    ("backreference", "a group cannot be repeated by its name or number"),
    ("redefinition of group", "give the second group another name, and [fields] both"),
    ("size limit", "use smaller counts than {1,1000} within repeated groups"),
    ("unterminated subpattern", "a bracket of the text itself is written \\( and \\)"),
    ("unbalanced parenthesis", "a bracket of the text itself is written \\( and \\)"),
    ("nothing to repeat", "a sign of the text itself is written \\*, \\+ or \\?"),
    ("unterminated character set", "a bracket of the text itself is written \\["),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, at which character of the regex, and a hint."""

    message: str
    index: int
    hint: str


def fault(regex: str, message: str) -> Fault:
    """Give what is wrong with a regex that could not be compiled.

    `message` is that of the engine that refused it; it counts if none is found here.
    """
    index = 0
    try:
        re.compile(regex)
    except re.error as error:
        message, index = error.msg, error.pos or 0
    else:
        index = _of_rust(regex)
    hint = next((hint for part, hint in _HINTS if part in message), "")
    return Fault(message, index, hint)


def _of_rust(regex: str) -> int:
    """Find the carets that its parser puts below the pattern."""
    try:
        pl.select(pl.lit("").str.contains(regex))
    except pl.exceptions.ComputeError as error:
        lines = str(error).split("\n")
        for line, below in pairwise(lines):
            if "^" in below and not below.strip(" ^") and regex in line:
                return below.index("^") - line.index(regex)
    return 0
