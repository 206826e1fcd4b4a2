"""Reads Envoy's and Istio's configurations as far as access log formats go, JSON or YAML.

Of YAML only what such formats are written in: plain, quoted and block texts, nested keys.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

KEYS: Final = (
    "json_format",
    "typed_json_format",
    "text_format",
    "inline_string",
    "accessLogFormat",
    "format",
)
Format = str | Mapping[str, object]

_OPERATOR: Final = re.compile(r"%[A-Z_]+(?:\([^)%]*(?:%[^)]*)?\))?(?::\d+)?%")
_ENTRY: Final = re.compile(
    r"(?P<indent> *)(?:- +)?(?P<key>\"[^\"]*\"|'[^']*'|[\w.@/-]+):(?: +(?P<value>\S.*))?$"
)
_BLOCK: Final = re.compile(r"[|>][+-]?\d?\s*(?:#.*)?$")


def formats(text: str) -> list[tuple[int, Format]]:
    """Give the formats of a configuration with their lines; perhaps none."""
    if not any(key in text for key in KEYS) or not _OPERATOR.search(text):
        return []
    if text.lstrip().startswith("{"):
        try:
            return [(1, one) for one in _of_json(json.loads(text))]
        except ValueError:
            return []
    return list(_of_yaml(text.split("\n")))


def _of_json(whole: object) -> Iterator[Format]:
    if isinstance(whole, Mapping):
        for key, value in whole.items():
            if key in KEYS and _is_format(value):
                yield value
            else:
                yield from _of_json(value)
    elif isinstance(whole, list):
        for value in whole:
            yield from _of_json(value)


def _is_format(value: object) -> bool:
    if isinstance(value, str):
        return bool(_OPERATOR.search(value))
    return isinstance(value, Mapping) and any(map(_is_format, value.values()))


def _of_yaml(lines: Sequence[str]) -> Iterator[tuple[int, Format]]:
    for number, line in enumerate(lines):
        entry = _ENTRY.match(line)
        if entry is None or entry.group("key").strip("\"'") not in KEYS:
            continue
        value = _value(lines, number, entry)
        if isinstance(value, str | Mapping) and _is_format(value):
            yield number + 1, value


def _value(lines: Sequence[str], number: int, entry: re.Match[str]) -> object:
    """Give the value of an entry: a text, or a table of what is indented below it."""
    value = entry.group("value") or ""
    indent = len(entry.group("indent"))
    inside = list(_below(lines[number + 1 :], indent))
    if _BLOCK.match(value):
        least = min(
            (len(one) - len(one.lstrip()) for one in inside if one.strip()), default=0
        )
        joined = "\n" if value.startswith("|") else " "
        return joined.join(one[least:] for one in inside).strip("\n ")
    if value and not value.startswith("#"):
        return _text(value)
    return _table(inside)


def _below(lines: Sequence[str], indent: int) -> Iterator[str]:
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            return
        yield line


def _table(lines: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    first: int | None = None
    for number, line in enumerate(lines):
        entry = _ENTRY.match(line)
        if entry is None:
            continue
        indent = len(entry.group("indent"))
        first = indent if first is None else first
        if indent == first:
            found[entry.group("key").strip("\"'")] = _value(lines, number, entry)
    return found


def _text(value: str) -> str:
    """Undo YAML's quotes."""
    if value.startswith('"'):
        found = re.match(r'"(?:[^"\\]|\\.)*"', value)
        try:
            return str(json.loads(found.group())) if found else value
        except ValueError:
            return value.strip('"')
    if value.startswith("'"):
        found = re.match(r"'(?:[^']|'')*'", value)
        return found.group()[1:-1].replace("''", "'") if found else value
    return re.sub(r"\s+#.*$", "", value)
