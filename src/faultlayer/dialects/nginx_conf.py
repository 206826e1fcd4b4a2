"""Reads an nginx configuration as far as logs go: its formats and which file uses which."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from faultlayer.dialects import nginx
from faultlayer.dialects.nginx import ESCAPES
from faultlayer.dialects.template import Layout

#: One of these makes a text worth reading.
MARKS: Final = ("log_format", "access_log", "log-format-upstream")
_MOST_TOKENS: Final = 200_000
_DEEPEST: Final = 8  # files that include files
_INGRESS: Final = re.compile(r"(?m)^\s*log-format-upstream:[ \t]*(\S.*)$")
_INGRESS_JSON: Final = re.compile(r"log-format-escape-json:\s*['\"]?true")


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive outside of its block: name, arguments, line."""

    name: str
    arguments: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A `log_format` directive: `text` is what its strings make together."""

    name: str
    escape: str
    text: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class AccessLog:
    """An `access_log` directive: the file and the name of its format."""

    file: str
    format: str


@dataclass(frozen=True, slots=True)
class Logging:
    """What a configuration says of logs."""

    formats: tuple[LogFormat, ...]
    logs: tuple[AccessLog, ...]


def tokens(source: str) -> Iterator[tuple[str, int, bool]]:
    r"""Yield words of a configuration with their line, and whether they were quoted.

    Quotes go around whole words; within them `\"`, `\'`, `\\`, `\t`, `\r`, `\n` are
    replaced. `{`, `}` and `;` are words of their own. A comment begins at a `#` that
    begins a word.
    """
    at, number, count = 0, 1, 0
    size = len(source)
    while at < size and count < _MOST_TOKENS:
        char = source[at]
        if char == "\n":
            number += 1
            at += 1
        elif char.isspace():
            at += 1
        elif char == "#":
            end = source.find("\n", at)
            at = size if end < 0 else end
        elif char in "{};":
            count += 1
            yield char, number, False
            at += 1
        else:
            count += 1
            begun, start = number, at
            quoted = char in "\"'"
            word, at = _quoted(source, at) if quoted else _bare(source, at)
            number += source.count("\n", start, at)
            yield word, begun, quoted


def _quoted(source: str, at: int) -> tuple[str, int]:
    quote, word = source[at], []
    at += 1
    while at < len(source) and source[at] != quote:
        if source[at] == "\\" and at + 1 < len(source):
            word.append(_unescaped(source[at + 1]))
            at += 2
        else:
            word.append(source[at])
            at += 1
    return "".join(word), at + 1


def _unescaped(char: str) -> str:
    known = {"t": "\t", "r": "\r", "n": "\n"}
    return known.get(char, char if char in "\"'\\" else f"\\{char}")


def _bare(source: str, at: int) -> tuple[str, int]:
    begun = at
    while at < len(source) and not source[at].isspace() and source[at] != ";":
        if source[at] == "{" and source[at - 1 : at] != "$":
            break
        if source[at] == "$" and source[at + 1 : at + 2] == "{":
            at += 1
        at += 2 if source[at] == "\\" else 1
    return source[begun:at], at


def directives(source: str) -> Iterator[Directive]:
    """Yield all directives, whatever block they stand in."""
    words: list[str] = []
    line = 1
    for word, number, quoted in tokens(source):
        if not quoted and word in {";", "{", "}"}:
            if words:
                yield Directive(words[0], tuple(words[1:]), line)
            words = []
            continue
        if not words:
            line = number
        words.append(word)


def read(
    path: str, source: str, other: Callable[[str], Sequence[tuple[str, str]]]
) -> Logging:
    """Read a configuration and what it includes, or the settings of an ingress.

    `other` gives path and text of the files that an `include` means.
    """
    formats: list[LogFormat] = []
    logs: list[AccessLog] = []
    _read(path, source, other, formats, logs, [path])
    formats += _of_ingress(path, source)
    return Logging(tuple(dict.fromkeys(formats)), tuple(dict.fromkeys(logs)))


def _of_ingress(path: str, source: str) -> Iterator[LogFormat]:
    """Give the `log-format-upstream` of an ingress controller's ConfigMap."""
    found = _INGRESS.search(source)
    if found:
        value = found.group(1).strip()
        if value[:1] == value[-1:] and value[:1] in {'"', "'"} and len(value) > 1:
            quote = value[0]
            value = value[1:-1].replace(quote * 2 if quote == "'" else '\\"', quote)
        escape = "json" if _INGRESS_JSON.search(source) else "default"
        line = source.count("\n", 0, found.start()) + 1
        yield LogFormat("upstreaminfo", escape, value, path, line)


def _read(
    path: str,
    source: str,
    other: Callable[[str], Sequence[tuple[str, str]]],
    formats: list[LogFormat],
    logs: list[AccessLog],
    within: list[str],
) -> None:
    for one in directives(source):
        if one.name == "log_format" and len(one.arguments) > 1:
            formats.append(_log_format(one, path))
        elif one.name == "access_log" and one.arguments:
            named = [word for word in one.arguments[1:] if "=" not in word]
            if one.arguments[0] != "off":
                logs.append(AccessLog(one.arguments[0], (named or ["combined"])[0]))
        elif one.name == "include" and one.arguments and len(within) < _DEEPEST:
            for file, text in other(one.arguments[0]):
                if file not in within:
                    _read(file, text, other, formats, logs, [*within, file])


def _log_format(one: Directive, path: str) -> LogFormat:
    name, *strings = one.arguments
    escape = "default"
    if strings[0].startswith("escape="):
        escape = strings.pop(0).removeprefix("escape=")
        escape = escape if escape in ESCAPES else "default"
    return LogFormat(name, escape, "".join(strings), path, one.line)


def meant(pattern: str, path: str) -> bool:
    """Tell whether an `include` of a configuration means the file at a path.

    The archive's folders need not be those of the machine: the end of the path counts.
    """
    wanted = pattern.strip("/").split("/")
    there = path.strip("/").split("/")
    known = min(len(wanted), len(there), 2)
    return all(
        fnmatchcase(a, b) for a, b in zip(there[-known:], wanted[-known:], strict=True)
    )


def layout(one: LogFormat) -> Layout:
    """Give the layout of a directive, also where its variables cannot be split for certain.

    Raises `PatternError` when there is none.
    """
    return nginx.layout(one.text, one.escape)
