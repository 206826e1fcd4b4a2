"""Spells tables, queries and texts of logs as Markdown."""

from collections.abc import Iterator, Sequence


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Give the lines of a table; cells are escaped."""
    yield "| " + " | ".join(headers) + " |"
    yield "|" + " --- |" * len(headers)
    for row in rows:
        yield "| " + " | ".join(text(cell) for cell in row) + " |"


def query(sql: str) -> Iterator[str]:
    """Name the query that gives the numbers above."""
    yield from ("", f"`{sql}`")


def text(words: str) -> str:
    """Escape what Markdown or HTML would take for its own."""
    for char in "\\|*_`[]":
        words = words.replace(char, "\\" + char)
    return words.replace("<", "&lt;")
