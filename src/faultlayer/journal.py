"""Reads what `journalctl` prints entry by entry: `-o export` and `-o verbose`."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

#: An entry's first byte, the byte after it, and its fields; None where it has none.
Entry = tuple[int, int, Mapping[str, object] | None]

_FIELD: Final = re.compile(rb"[A-Z_][A-Z0-9_]{0,63}(?:=|\n)")
_STAMPED: Final = re.compile(rb"(?:^|\n)__REALTIME_TIMESTAMP=\d+\n")
_LENGTH: Final = 8  # bytes of the length of a binary field
# The cursor has the microseconds; the stamp before it may be of any zone.
_HEAD: Final = re.compile(
    rb"\S+ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ "
    rb"\[s=[0-9a-f]+;i=[0-9a-f]+;b=[0-9a-f]+;m=[0-9a-f]+;t=([0-9a-f]+);x=[0-9a-f]+\]"
    rb"[ \t]*\r?\n"
)
_NAMED: Final = re.compile(rb" {4}([A-Z_][A-Z0-9_]{0,63})=")
_SHOWN: Final = re.compile(rb"(?:^|\n)(?:%b)(?: {4,}[^\n]*\n){2}" % _HEAD.pattern)


def is_export(head: bytes) -> bool:
    """Tell whether entries of `-o export` begin with these bytes."""
    return bool(_FIELD.match(head) and _STAMPED.search(head))


def is_verbose(head: bytes) -> bool:
    """Tell whether there are entries of `-o verbose` among these bytes."""
    return b";t=" in head and _SHOWN.search(head) is not None


def exported(data: bytes) -> Iterator[Entry]:
    """Give the entries of `-o export`: fields, with an empty line between."""
    start = at = 0
    fields: dict[str, object] = {}
    while at < len(data):
        end = data.find(b"\n", at)
        line = data[at : end if end >= 0 else len(data)]
        after = end + 1 or len(data)
        name, equals, value = line.partition(b"=")
        if not line:
            if fields:
                yield start, after, fields
                fields, start = {}, after
        elif equals:
            _add(fields, name, value)
        else:
            size = int.from_bytes(data[after : after + _LENGTH], "little")
            stop = after + _LENGTH + size
            if data[stop : stop + 1] == b"\n":
                _add(fields, line, data[after + _LENGTH : stop])
                after = stop + 1
        at = after
    if start < len(data):
        yield start, len(data), fields or None


def verbose(data: bytes) -> Iterator[Entry]:
    """Give the entries of `-o verbose`: a stamp with a cursor, then indented fields.

    A further line of a field is indented as far as its first. What stands between
    entries, like the mark of another boot, is an entry without fields.
    """
    start = at = 0
    fields: dict[str, object] | None = None
    indent, parts = b"", [b"", b""]  # of the field: name, value so far

    while at < len(data):
        after = data.find(b"\n", at) + 1 or len(data)
        line = data[at:after]
        head, named = _HEAD.match(line), _NAMED.match(line)
        if fields is not None and named and not (indent and line.startswith(indent)):
            _add(fields, *parts)
            indent = b" " * named.end()
            parts = [named.group(1), line[named.end() :].rstrip(b"\r\n")]
        elif fields is not None and indent and line.startswith(indent):
            parts[1] += b"\n" + line[len(indent) :].rstrip(b"\r\n")
        else:
            if fields is not None:
                _add(fields, *parts)
            if at > start:
                yield start, at, fields
            start, fields, indent, parts = at, None, b"", [b"", b""]
            if head:
                fields = {"__REALTIME_TIMESTAMP": str(int(head.group(1), 16))}
        at = after
    if fields is not None:
        _add(fields, *parts)
    if start < len(data):
        yield start, len(data), fields


def _add(fields: dict[str, object], name: bytes, value: bytes) -> None:
    if not name:
        return
    key = name.decode("ascii", "replace")
    text = value.decode("utf-8", "replace")
    before = fields.get(key)
    if before is None:
        fields[key] = text
    elif isinstance(before, list):
        before.append(text)
    else:
        fields[key] = [before, text]
