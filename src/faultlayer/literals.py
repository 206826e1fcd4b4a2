"""Tells cheaply that a pattern takes no line of a text: by what each must hold and begin with.

Compiling a regex costs more than matching it, so most are not even compiled.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

_TOKEN: Final = re.compile(
    r"\\(?P<escaped>.)"
    r"|(?P<set>\[\^?\]?(?:[^\]\\]|\\.)*\])"
    r"|(?P<open>\((?:\?(?:P<\w+>|:))?)"
    r"|(?P<close>\))|(?P<either>\|)|(?P<any>[.^$])"
    r"|(?P<plain>[^\\\[(){|*+?.^$])|(?P<other>.)",
    re.DOTALL,
)
_REPEAT: Final = re.compile(r"(?:[*+?]|\{(?P<least>\d+)(?:,\d*)?\})[?+]?")
# What changes the meaning of letters, or looks around.
_BEYOND: Final = re.compile(r"\(\?(?!P<|:)")


@dataclass(frozen=True, slots=True)
class Hint:
    """What a line must hold, and what its first character must match; empty: anything."""

    needed: str = ""
    begins: str = ""


@dataclass(slots=True)
class _Sequence:
    """What stands in a row: runs of text, and a regex of the first character."""

    runs: list[str] = field(default_factory=list)
    run: str = ""
    begins: str | None = None  # not known yet

    def text(self, char: str) -> None:
        self.run += char

    def end(self) -> None:
        if self.run:
            self.runs.append(self.run)
        self.run = ""

    def first(self, begins: str) -> None:
        if self.begins is None:
            self.begins = begins


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    least: int  # times that it stands there
    once: bool


def _tokens(regex: str) -> Iterator[_Token]:
    at = 0
    while at < len(regex):
        found = _TOKEN.match(regex, at)
        if found is None:
            return
        at = found.end()
        kind = found.lastgroup or "other"
        repeat = None if kind in {"open", "either"} else _REPEAT.match(regex, at)
        least = 1
        if repeat:
            at = repeat.end()
            given = repeat.group("least")
            least = int(given) if given else int(regex[repeat.start()] == "+")
        text = found.group()
        if kind == "escaped" and not found.group("escaped").isalnum():
            kind, text = "plain", found.group("escaped")
        yield _Token(kind, text, least, repeat is None)


def _choice(tokens: Iterator[_Token]) -> tuple[list[str], str, _Token | None]:
    """Read up to the closing bracket: what all branches hold, and begin with."""
    one, several = _Sequence(), False
    for token in tokens:
        if token.kind == "close":
            one.end()
            return _of_choice(one, token, several=several)
        if token.kind == "either":
            several = True
        elif token.kind == "open":
            one.end()
            runs, begins, close = _choice(tokens)
            if close is not None and close.least:
                one.runs += runs
                one.first(begins)
            one.first("")
        elif token.kind == "plain" and token.least:
            one.text(token.text)
            one.first(re.escape(token.text))
            if not token.once:
                one.end()
        else:
            one.end()
            known = token.kind in {"set", "escaped"} and token.least
            if token.kind != "any" or token.text == ".":
                one.first(token.text if known else "")
    one.end()
    return _of_choice(one, None, several=several)


def _of_choice(
    one: _Sequence, close: _Token | None, *, several: bool
) -> tuple[list[str], str, _Token | None]:
    if several:
        return [], "", close
    return one.runs, one.begins or "", close


def hint(regex: str) -> Hint:
    """Give what can be told of the lines of a regex without compiling it."""
    if _BEYOND.search(regex):
        return Hint()
    runs, begins, close = _choice(_tokens(regex))
    if close is not None:  # one bracket too many
        return Hint()
    return Hint(max(runs, key=len, default=""), begins)


def pieces(regex: str) -> list[str]:
    """Cut a regex before and behind its outermost groups; one with a choice stays whole."""
    found: list[str] = []
    depth, begun, at = 0, 0, 0
    while at < len(regex):
        token = _TOKEN.match(regex, at)
        if token is None:
            break
        at = token.end()
        if token.lastgroup == "open":
            if depth == 0 and token.start() > begun:
                found.append(regex[begun : token.start()])
                begun = token.start()
            depth += 1
        elif token.lastgroup == "close":
            repeat = _REPEAT.match(regex, at)
            at = repeat.end() if repeat else at
            depth -= 1
            if depth == 0:
                found.append(regex[begun:at])
                begun = at
        elif token.lastgroup == "either" and depth == 0:
            return [regex]
    return [*found, regex[begun:]] if begun < len(regex) else found


class Sight:
    """Lines seen as one text and as the set of their first characters."""

    def __init__(self, lines: Sequence[str | None]) -> None:
        there = [line for line in lines if line is not None]
        self._text = "\n".join(there)
        self._first = {line[:1] for line in there}

    def may_hold(self, hint: Hint) -> bool:
        """Tell whether some line may be of a pattern; never denies one that is."""
        if hint.needed not in self._text:
            return False
        if not hint.begins:
            return True
        match = _compiled(hint.begins).match
        return any(match(first) for first in self._first)


@cache
def _compiled(atom: str) -> re.Pattern[str]:
    return re.compile(atom)
