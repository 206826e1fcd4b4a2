"""Finds where in a TOML file its keys and values stand, so that messages can point there.

The file has been read by a parser before: what is no TOML gives fewer places, no error.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

Path = tuple[str | int, ...]

_SPACE: Final = re.compile(r"[ \t]*")
_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR: Final = re.compile(r"[^,\]}#\n]*")
_ESCAPE: Final = re.compile(
    r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[ \t]*\r?\n[ \t\r\n]*|.)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands: offsets of its content; `escaped` strings hold escapes."""

    start: int
    end: int
    escaped: bool = False


@dataclass(slots=True)
class Places:
    """Offsets of keys and values by path: `("pattern", 0, "regex", 1)`.

    `containers` are arrays and inline tables, by their opening bracket.
    """

    text: str
    keys: dict[Path, int] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    containers: dict[Path, int] = field(default_factory=dict)
    _lines: list[int] = field(default_factory=list)

    def position(self, offset: int) -> tuple[int, int]:
        """Give line and column, from 1, of an offset."""
        if not self._lines:
            self._lines = [0, *(m.end() for m in re.finditer("\n", self.text))]
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def line(self, number: int) -> str:
        """Give a line by its number, from 1."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""

    def key(self, path: Path) -> int | None:
        """Give the offset of a key, or of the nearest table that it would be in."""
        while path and path not in self.keys:
            path = path[:-1]
        return self.keys.get(path)

    def inside(self, path: Path, index: int) -> int | None:
        """Give the offset of a character of a text, or of texts that are joined."""
        pieces = [path] if path in self.values else list(self._pieces(path))
        for piece in pieces:
            span = self.values[piece]
            size, offset = self._size(span, index)
            if index < size or piece == pieces[-1]:
                return min(offset, span.end)
            index -= size
        return self.containers.get(path, self.key(path))

    def _pieces(self, path: Path) -> Iterator[Path]:
        number = 0
        while (*path, number) in self.values:
            yield (*path, number)
            number += 1

    def _size(self, span: Span, index: int) -> tuple[int, int]:
        """Give how many characters a text has, and the offset of one of them."""
        if not span.escaped:
            return span.end - span.start, span.start + index
        at, count, offset = span.start, 0, span.end
        while at < span.end:
            if count == index:
                offset = at
            escape = _ESCAPE.match(self.text, at)
            if escape:
                at = escape.end()
                count += "\n" not in escape.group()
            else:
                at += 1
                count += 1
        return count, offset


def places(text: str) -> Places:
    """Find the places of a file."""
    found = Places(text)
    _Scan(text, found).file()
    return found


class _Scan:
    """Reads a TOML file once, from its start to the first thing that is none."""

    def __init__(self, text: str, found: Places) -> None:
        self.text = text
        self.found = found
        self.at = 0
        self.counts: dict[Path, int] = {}

    def file(self) -> None:
        table: Path = ()
        while True:
            self.skip(_BLANK)
            if self.at >= len(self.text):
                return
            start = self.at
            if self.text.startswith("[", self.at):
                double = self.text.startswith("[[", self.at)
                self.at += 1 + double
                names = self.names()
                table = self.table(names, double=double)
                self.found.keys[table] = start
                close = self.text.find("\n", self.at)
                self.at = len(self.text) if close < 0 else close
                continue
            if not self.pair(table):
                return

    def table(self, names: list[str], *, double: bool) -> Path:
        """Give the path that a header means: arrays of tables by their last one."""
        path: Path = ()
        for number, name in enumerate(names):
            path = (*path, name)
            if double and number == len(names) - 1:
                self.found.keys.setdefault(path, self.at)
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def pair(self, table: Path) -> bool:
        start = self.at
        names = self.names()
        self.skip(_SPACE)
        if not names or not self.text.startswith("=", self.at):
            return False
        path = (*table, *names)
        self.found.keys[path] = start
        self.at += 1
        self.skip(_SPACE)
        self.value(path)
        return True

    def names(self) -> list[str]:
        names: list[str] = []
        while True:
            self.skip(_SPACE)
            quote = self.text[self.at : self.at + 1]
            if quote and quote in "\"'":
                end = self.text.find(quote, self.at + 1)
                if end < 0:
                    return names
                names.append(self.text[self.at + 1 : end])
                self.at = end + 1
            else:
                match = _BARE_KEY.match(self.text, self.at)
                if not match:
                    return names
                names.append(match.group())
                self.at = match.end()
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return names
            self.at += 1

    def value(self, path: Path) -> None:
        first = self.text[self.at : self.at + 1]
        if first and first in "\"'":
            self.string(path)
        elif first == "[":
            self.array(path)
        elif first == "{":
            self.inline(path)
        else:
            match = _SCALAR.match(self.text, self.at)
            end = match.end() if match else self.at
            content = self.text[self.at : end].rstrip()
            self.found.values[path] = Span(self.at, self.at + len(content))
            self.at = end

    def string(self, path: Path) -> None:
        quote = self.text[self.at]
        long = self.text.startswith(quote * 3, self.at)
        mark = quote * 3 if long else quote
        start = self.at + len(mark)
        if long:
            start += len(self.text[start : start + 2]) - len(
                re.sub(r"^\r?\n", "", self.text[start : start + 2])
            )
        end = start
        while end < len(self.text) and not self.text.startswith(mark, end):
            end += 2 if quote == '"' and self.text[end] == "\\" else 1
        # Up to two quotes may stand before the closing three.
        while long and self.text.startswith(quote, end + 3):
            end += 1
        end = min(end, len(self.text))
        self.found.values[path] = Span(start, end, escaped=quote == '"')
        self.at = end + len(mark)

    def array(self, path: Path) -> None:
        self.found.containers[path] = self.at
        self.at += 1
        number = 0
        while self.at < len(self.text):
            self.skip(_BLANK)
            if self.text.startswith("]", self.at):
                self.at += 1
                return
            start = self.at
            self.found.keys[*path, number] = self.at
            self.value((*path, number))
            number += 1
            self.skip(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif self.at == start:
                return

    def inline(self, path: Path) -> None:
        self.found.containers[path] = self.at
        self.at += 1
        while self.at < len(self.text):
            self.skip(_BLANK)
            if self.text.startswith("}", self.at):
                self.at += 1
                return
            if not self.pair(path):
                return
            self.skip(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1

    def skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
