"""Puts invented values in the place of real ones, with the same shape, for samples.

Whoever sends a format to others sends its samples: ids, addresses, names, keys and texts
must not be those of the logs.
"""

import regex

from faultlayer import masking

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# A stamp is no secret, and a sample without it proves nothing.
_STAMP = (
    r"\d{4}[-/]\d\d[-/]\d\d[T :-]+\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:\.\d+)?(?: [+-]\d{4})?"
    r"|[A-Z][a-z]{2} [ \d]\d(?: \d{4})? \d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b1[5-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?\b"
)
_TOKEN = regex.compile(
    rf"""
    (?P<stamp>{_STAMP})
    | (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<uuid>\b{_UUID}\b)
    | (?P<ipv4>\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b)
    | (?P<ipv6>(?<![\w:.])(?:[0-9a-fA-F]{{1,4}}:){{2,7}}:?(?:[0-9a-fA-F]{{1,4}})?(?::[0-9a-fA-F]{{1,4}})*(?![\w:]))
    | (?P<hex>\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{{12,}}\b)
    | (?P<query>(?<=\?)[^\s"']+)
    | (?P<user>(?i:\b(?:user|username|user_id|uid|tenant|tenant_id|project|project_id
        |account|org|owner|customer|session|session_id|trace_id|x-request-id
        |request_id|req_id|reqid|rid)\\?["']?\s*[:=]\s*\\?["']?)\K(?!(?:null|none|true|false)\b)[\w@.-]+)
    | (?P<name>(?i:https?://)\K[\w-]+(?:\.[\w-]+)+)
    | (?P<mixed>\b(?=\w*\d)(?=\w*[A-Za-z])[A-Za-z0-9]{{16,}}\b)
    | (?P<number>\b\d{{11,}}\b)
    """,
    regex.VERBOSE,
)
_DIGITS = "0123456789"
_HEX = "9c1f0d7a4be2368f5"
_SMALL = "kqzvtxbnwm"


def line(text: str) -> str:
    """Give a line or a record with invented values; the same value becomes the same."""
    known: dict[str, str] = {}
    counts: dict[str, int] = {}

    def put(match: regex.Match[str]) -> str:
        value, kind = match.group(), match.lastgroup or ""
        if kind == "stamp" or _harmless(value):
            return value
        if value not in known:
            counts[kind] = counts.get(kind, 0) + 1
            known[value] = _value(kind, value, counts[kind])
        return known[value]

    return _TOKEN.sub(put, masking.blanked(text))


def _harmless(value: str) -> bool:
    return not value.strip("0-") or value in {"127.0.0.1", "0.0.0.0"}  # noqa: S104


def _value(kind: str, value: str, number: int) -> str:
    if kind == "ipv4":
        return f"192.0.2.{number % 254 + 1}"
    if kind == "ipv6":
        return f"2001:db8::{number:x}"
    if kind == "email":
        return f"user{number}@example.com"
    if kind == "name":
        return f"host{number}.example"
    return shaped(value, number)


def shaped(value: str, number: int) -> str:
    """Give other letters and digits in the places of those of a value."""
    hexadecimal = not value.strip("0123456789abcdefABCDEF-")
    put_in = []
    for at, char in enumerate(value):
        turn = at * 7 + number * 3
        if char in _DIGITS and not hexadecimal:
            put_in.append(_DIGITS[(int(char) + turn % 9 + 1) % 10])
        elif hexadecimal and char.isalnum():
            other = _HEX[turn % len(_HEX)]
            keeps = char.isdigit() == other.isdigit() or len(value) > 8  # noqa: PLR2004
            put = other if keeps else char
            put_in.append(put.upper() if char.isupper() else put)
        elif char.isalpha() and char.isascii():
            other = _SMALL[turn % len(_SMALL)]
            put_in.append(other.upper() if char.isupper() else other)
        else:
            put_in.append(char)
    return "".join(put_in)
