"""Cuts the ends of a text column off without a pass over the column for each cut."""

from dataclasses import dataclass

import polars as pl


@dataclass(slots=True)
class Span:
    """A piece without its first `start` and last `end` characters.

    One slice of the piece costs a pass over the column, a slice of a slice costs two.
    """

    piece: pl.Expr
    start: int = 0
    end: int = 0

    @property
    def expr(self) -> pl.Expr:
        """Give what is between the ends."""
        column = self.piece.str.slice(self.start) if self.start else self.piece
        return column.str.head(-self.end) if self.end else column

    def first(self, count: int) -> pl.Expr:
        """Give so many characters of the left end."""
        return self.piece.str.slice(self.start, count)

    def last(self, count: int) -> pl.Expr:
        """Give the characters of the right end; fewer where the piece is too short."""
        return self.piece.str.slice(-self.end - count, count)

    def after(self, literal: str) -> pl.Expr:
        """Tell whether a literal is at the left end, and go behind it."""
        found = self.first(len(literal)) == literal
        if not self.start:
            found = self.piece.str.starts_with(literal)
        self.start += len(literal)
        return found
