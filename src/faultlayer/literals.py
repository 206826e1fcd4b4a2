"""Tells cheaply that a pattern takes no line of a text: by what each must hold and begin with.

Compiling a regex costs more than matching it, so most are not even compiled.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

#: Characters of a line's beginning that are looked at: a stamp and what follows it.
WIDEST: Final = 32

_TOKEN: Final = re.compile(
    r"\\(?P<escaped>.)"
    r"|(?P<set>\[\^?\]?(?:[^\]\\]|\\.)*\])"
    r"|(?P<open>\((?:\?(?:P<\w+>|:))?)"
    r"|(?P<close>\))|(?P<either>\|)|(?P<any>[.^$])"
    r"|(?P<plain>[^\\\[(){|*+?.^$])|(?P<other>.)",
    re.DOTALL,
)
_REPEAT: Final = re.compile(
    r"(?:(?P<sign>[*+?])|\{(?P<least>\d+)(?P<range>,(?P<most>\d*))?\})[?+]?"
)
_SIGNS: Final[Mapping[str, tuple[int, int | None]]] = {
    "*": (0, None),
    "+": (1, None),
    "?": (0, 1),
}
# One character each.
_ANY: Final = frozenset({".", *(rf"\{letter}" for letter in "dDwWsS")})
_NOTHING: Final = frozenset({"^"})
# What changes the meaning of letters, or looks around.
_BEYOND: Final = re.compile(r"\(\?(?!P<|:)")


@dataclass(frozen=True, slots=True)
class Hint:
    """What a line must hold, and what its beginning must match; empty: anything.

    `begins` takes at most `WIDEST` characters, `first` one. Of each of `groups` a line
    holds one text at least.
    """

    needed: str = ""
    begins: str = ""
    first: str = ""
    groups: tuple[tuple[str, ...], ...] = ()


@dataclass(slots=True)
class _Sequence:
    """What stands in a row: runs of text, and a regex of how it begins.

    `open` as long as `begins` is all of it so far.
    """

    runs: list[str] = field(default_factory=list)
    run: str = ""
    begins: str = ""
    first: str = ""
    width: int = 0
    open: bool = True

    def text(self, char: str) -> None:
        self.run += char

    def end(self) -> None:
        if self.run:
            self.runs.append(self.run)
        self.run = ""

    def then(
        self, atom: str, first: str, width: int, times: "_Token", *, whole: bool = True
    ) -> None:
        """Add what follows, so many times; not `whole`: it goes on in an unknown way."""
        known = times.least if times.most is None else times.most
        if not self.open or self.width + known * width > WIDEST:
            self.open = False
            return
        if not self.begins:
            self.first = first if times.least else ""
        if known:
            self.begins += atom + _spelled(times.least, known)
        self.width += known * width
        self.open = whole and times.most is not None


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    least: int  # times that it stands there
    most: int | None

    @property
    def once(self) -> bool:
        return self.least == self.most == 1


def _tokens(regex: str) -> Iterator[_Token]:
    at = 0
    while at < len(regex):
        found = _TOKEN.match(regex, at)
        if found is None:
            return
        at = found.end()
        kind = found.lastgroup or "other"
        repeat = None if kind in {"open", "either"} else _REPEAT.match(regex, at)
        least, most = _times(repeat)
        if repeat:
            at = repeat.end()
        text = found.group()
        if kind == "escaped" and not found.group("escaped").isalnum():
            kind, text = "plain", found.group("escaped")
        yield _Token(kind, text, least, most)


def _spelled(least: int, most: int) -> str:
    if least == most:
        return "" if most == 1 else f"{{{most}}}"
    return f"{{{least},{most}}}"


def _times(repeat: re.Match[str] | None) -> tuple[int, int | None]:
    if repeat is None:
        return 1, 1
    if repeat["sign"]:
        return _SIGNS[repeat["sign"]]
    least = int(repeat["least"])
    if repeat["range"] is None:
        return least, least
    return least, int(repeat["most"]) if repeat["most"] else None


def _choice(tokens: Iterator[_Token]) -> tuple[_Sequence, _Token | None]:
    """Read up to the closing bracket: what all branches hold, and begin with."""
    branches = [_Sequence()]
    for token in tokens:
        if token.kind == "close":
            return _of_choice(branches), token
        if token.kind == "either":
            branches.append(_Sequence())
        elif token.kind == "open":
            branches[-1].end()
            inner, close = _choice(tokens)
            _add_group(branches[-1], inner, close)
        else:
            _add_single(branches[-1], token)
    return _of_choice(branches), None


def _add_group(one: _Sequence, inner: _Sequence, close: _Token | None) -> None:
    if close is None:
        one.open = False
        return
    if close.least:
        one.runs += inner.runs
    if close.once:
        one.then(inner.begins, inner.first, inner.width, close, whole=inner.open)
    elif inner.open and inner.begins:
        one.then(f"(?:{inner.begins})", inner.first, inner.width, close)
    else:
        one.open = False


def _add_single(one: _Sequence, token: _Token) -> None:
    plain = token.kind == "plain"
    if plain and token.least:
        one.text(token.text)
    if not (plain and token.once):
        one.end()
    if plain or token.kind == "set" or token.text in _ANY:
        atom = re.escape(token.text) if plain else token.text
        one.then(atom, atom, 1, token)
    elif token.text not in _NOTHING:
        one.open = False


def _of_choice(branches: Sequence[_Sequence]) -> _Sequence:
    for one in branches:
        one.end()
    if len(branches) == 1:
        return branches[0]
    if not all(one.begins for one in branches):
        return _Sequence(open=False)
    return _Sequence(
        begins=f"(?:{'|'.join(one.begins for one in branches)})",
        first=f"(?:{'|'.join(one.first for one in branches)})",
        width=max(one.width for one in branches),
        open=all(one.open for one in branches),
    )


def hint(regex: str) -> Hint:
    """Give what can be told of the lines of a regex without compiling it."""
    if _BEYOND.search(regex):
        return Hint()
    found, close = _choice(_tokens(regex))
    if close is not None:  # one bracket too many
        return Hint()
    return Hint(max(found.runs, key=len, default=""), found.begins, found.first)


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
    """Lines seen as one text and as the set of their beginnings."""

    def __init__(self, lines: Sequence[str | None]) -> None:
        there = [line for line in lines if line is not None]
        self._text = "\n".join(there)
        self._begins = {line[:WIDEST] for line in there}
        # Of other letters the regexes of Python and of polars do not say the same.
        self._foreign = not all(map(str.isascii, self._begins))

    def may_hold(self, hint: Hint) -> bool:
        """Tell whether some line may be of a pattern; never denies one that is."""
        if hint.needed not in self._text or not all(map(self._has, hint.groups)):
            return False
        if not hint.begins or self._foreign:
            return True
        match = _compiled(hint.begins).match
        return any(map(match, self._begins))

    def _has(self, group: tuple[str, ...]) -> bool:
        return any(text in self._text for text in group)


@cache
def _compiled(atom: str) -> re.Pattern[str]:
    return re.compile(atom)
