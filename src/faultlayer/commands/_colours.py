"""Which parts of SQL that is being typed are shown how."""

from itertools import pairwise
from typing import Final

import duckdb

STYLES: Final = {
    "keyword": "bold",
    "string_const": "ansigreen",
    "numeric_const": "ansicyan",
    "comment": "ansibrightblack",
}
"""Styles of prompt_toolkit by kind of token."""


def lines(text: str) -> list[list[tuple[str, str]]]:
    """Give each line of a text as pieces of a style class and what is shown in it."""
    found: list[list[tuple[str, str]]] = [[]]
    for kind, piece in _pieces(text):
        style = f"class:{kind}" if kind in STYLES else ""
        first, *rest = piece.split("\n")
        found[-1].append((style, first))
        found += [[(style, line)] for line in rest]
    return found


def _pieces(text: str) -> list[tuple[str, str]]:
    if text.lstrip().startswith("."):
        return [("", text)]
    try:
        tokens = [(start, kind.name) for start, kind in duckdb.tokenize(text)]
    except duckdb.Error:
        return [("", text)]
    whole = text.encode()  # what offsets count
    marks = [(0, ""), *tokens, (len(whole), "")]
    return [
        (kind, whole[start:end].decode("utf-8", "replace"))
        for (start, kind), (end, _) in pairwise(marks)
        if start < end
    ]
