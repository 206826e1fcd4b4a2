"""Finds formats of Python's logging in what configures it: INI, YAML, JSON or Python."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

#: Without one of these no text has a format of logging.
MARKS: Final = (
    "%(asctime)",
    "{asctime",
    "${asctime}",
    "$asctime",
    "%(t)s",
    "%(created)",
)

_STRING: Final = r"[rRuU]?\"(?:[^\"\\\n]|\\.)*\"|[rRuU]?'(?:[^'\\\n]|\\.|'')*'"
_KEY: Final = (
    r"(?m)(?:^|[\s{{,(])(?:- )?[\"']?(?P<key>{names})[\"']?[ \t]*(?::[ \t]*str[ \t]*)?"
    r"(?P<mark>[:=])[ \t]*"
)
_FORMAT: Final = re.compile(
    _KEY.format(names=r"(?i:(?:\w*log_?|access_?log_?|)(?:format|fmt))")
)
_DATE: Final = re.compile(_KEY.format(names=r"(?i:date_?(?:fmt|format))"))
_QUOTED: Final = re.compile(rf"\(?\s*(?P<all>(?:{_STRING})(?:\s*(?:{_STRING}))*)")
_PART: Final = re.compile(_STRING)
_BLOCK: Final = re.compile(r"[|>][+-]?\d?[ \t]*\n(?P<all>(?:[ \t]+\S[^\n]*\n?)+)")
_BARE: Final = re.compile(r"[^\n]+")
# Where the settings of one format end: a section of INI, a brace.
_EDGE: Final = re.compile(r"(?m)^\[|[{}]")
_NEAR: Final = 600  # characters that are looked at for its datefmt
_NAME: Final = re.compile(r"(?m)[\"']?\b([\w.-]+)[\"']?[ \t]*[:=][ \t]*(?:\{|$)")
_SECTION: Final = re.compile(r"(?m)^\[formatter_(\w+)\]")


@dataclass(frozen=True, slots=True)
class Found:
    """A format with its datefmt, the line where it stands and the name it goes by."""

    line: int
    name: str
    format: str
    datefmt: str


def formats(conf: str) -> Iterator[Found]:
    """Give the formats of a configuration, in their order."""
    if not any(mark in conf for mark in MARKS):
        return
    keys = [
        (key, value)
        for key in _FORMAT.finditer(conf)
        if any(mark in (value := _value(conf, key)) for mark in MARKS)
    ]
    for number, (key, value) in enumerate(keys):
        end = keys[number + 1][0].start() if number + 1 < len(keys) else len(conf)
        begin = keys[number - 1][0].end() if number else 0
        line = conf.count("\n", 0, key.start("key")) + 1
        date = _datefmt(conf, key, begin, end)
        yield Found(line, _name(conf, key), value, date)


def _value(conf: str, key: re.Match[str]) -> str:
    """Give a text as Python, YAML, JSON or INI write it."""
    at = key.end()
    quoted = _QUOTED.match(conf, at)
    if quoted:
        return "".join(map(_unquoted, _PART.findall(quoted.group("all"))))
    block = _BLOCK.match(conf, at)
    if block:
        return " ".join(block.group("all").split("\n")).strip()
    bare = _BARE.match(conf, at)
    return re.sub(r"\s+#.*$", "", bare.group().strip()) if bare else ""


def _unquoted(part: str) -> str:
    raw = part[0] in "rR"
    inner = part.lstrip("rRuU")[1:-1]
    if raw:
        return inner
    if part.endswith("'"):
        return inner.replace("''", "'").replace("\\'", "'")
    try:
        return str(json.loads(f'"{inner}"'))
    except ValueError:
        return inner


def _datefmt(conf: str, key: re.Match[str], begin: int, end: int) -> str:
    """Find the datefmt that goes with a format: behind it, else before it."""
    edge = _EDGE.search(conf, _after(conf, key), min(end, key.end() + _NEAR))
    behind = edge.start() if edge else min(end, key.end() + _NEAR)
    found = _DATE.search(conf, key.end(), behind)
    if found is None:
        start = max(begin, key.start() - _NEAR)
        edges = [one.end() for one in _EDGE.finditer(conf, start, key.start())]
        between = _DATE.finditer(conf, edges[-1] if edges else start, key.start())
        found = next(between, None)
        # Between two formats it is that of the first, unless something parts them.
        if found is not None and begin and not edges:
            found = None
    return _value(conf, found) if found is not None else ""


def _after(conf: str, key: re.Match[str]) -> int:
    """Give where the value of a key ends: braces of its own style are no edges."""
    quoted = _QUOTED.match(conf, key.end())
    if quoted:
        return quoted.end()
    end = conf.find("\n", key.end())
    return end if end >= 0 else len(conf)


def _name(conf: str, key: re.Match[str]) -> str:
    """Give the name of the formatter: of the section or the key around it."""
    start = max(0, key.start() - _NEAR)
    for regex in (_SECTION, _NAME):
        names = regex.findall(conf, start, key.start("key"))
        if names:
            return str(names[-1])
    return ""
