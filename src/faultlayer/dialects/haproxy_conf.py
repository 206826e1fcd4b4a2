"""Reads HAProxy's configuration as far as logs go: their formats, and captured headers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from faultlayer.compile import PatternError
from faultlayer.dialects import haproxy, json_template, template
from faultlayer.dialects.template import Element, Layout, header, text

_SECTION: Final = re.compile(
    r"(?P<kind>global|defaults|frontend|listen|backend|peers|resolvers|userlist|cache"
    r"|program|mailers|http-errors|ring|fcgi-app|log-forward|crt-store)"
    r"(?:[ \t]+(?P<name>\S+))?"
)
_FORMAT: Final = re.compile(
    r'log-format[ \t]+(?:"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|((?:\\ |\S)+))'
)
_OPTION: Final = re.compile(r"option[ \t]+(httplog(?:[ \t]+clf)?|httpslog|tcplog)\b")
_CAPTURE: Final = re.compile(
    r"(?:(?P<declared>capture)[ \t]+(?P<side>request|response)[ \t]+header[ \t]+(?P<name>\S+)"
    r"|http-(?P<when>request|response)[ \t]+capture[ \t]+(?P<expression>\S+))"
    r"[ \t]+len[ \t]+\d+"
)
_HEADER: Final = re.compile(r"(?:req|res)\.f?hdr\(\s*['\"]?([\w.-]+)")
_NUMBERED: Final = re.compile(r"capture\.(req|res)\.hdr\((\d+)\)")
_SLOT: Final = r"[^|{}]*"


@dataclass(slots=True)
class _Section:
    """One section: its format with the line where it stands, and what it captures."""

    kind: str = ""
    name: str = ""
    line: int = 0
    format: str = ""
    said: bool = False  # the format is its own, not that of the defaults
    requests: list[str] = field(default_factory=list)
    responses: list[str] = field(default_factory=list)


def layouts(conf: str) -> Iterator[tuple[int, str, Layout]]:
    """Give line, name and layout of each format that differs from HAProxy's own.

    One with captured headers is of its frontend alone. What cannot be read is left out.
    """
    for one in _sections(conf):
        captures = bool(one.requests or one.responses)
        own = one.said and one.format not in haproxy.NAMED
        if not (own or (captures and one.format)):
            continue
        try:
            yield one.line, one.name if captures else "", _layout(one, captures)
        except PatternError:
            continue


def _sections(conf: str) -> Iterator[_Section]:
    now = _Section()
    default = ""
    for number, line in enumerate(conf.split("\n"), 1):
        words = line.strip()
        head = _SECTION.match(words)
        if head and not line[:1].isspace():
            yield now
            if now.kind == "defaults":
                default = now.format
            kind = head.group("kind")
            inherited = "" if kind in {"global", "defaults"} else default
            now = _Section(kind, head.group("name") or "", number, inherited)
            continue
        if format_ := _FORMAT.match(words):
            now.format = next(filter(None, format_.groups()), "")
            now.line, now.said = number, True
        elif option := _OPTION.match(words):
            now.format = "clf" if option.group(1).endswith("clf") else option.group(1)
        elif capture := _CAPTURE.match(words):
            side = capture.group("side") or capture.group("when")
            found = _HEADER.search(capture.group("expression") or "")
            name = capture.group("name") or (found.group(1) if found else "")
            (now.requests if side == "request" else now.responses).append(name)
    yield now


def _layout(section: _Section, captures: bool) -> Layout:
    if not captures:
        return haproxy.layout(section.format)
    found: list[Element] = []
    for one in haproxy.elements(haproxy.NAMED.get(section.format, section.format)):
        numbered = _NUMBERED.search(one.source)
        if one.name == "request_headers":
            found += _slots(one, section.requests, "req_")
        elif one.name == "response_headers":
            found += _slots(one, section.responses, "res_")
        elif one.name == "frontend" and section.name:
            found.append(replace(one, shape=re.escape(section.name), tail="~?"))
        elif numbered:
            side, number = numbered.group(1), int(numbered.group(2))
            names = section.requests if side == "req" else section.responses
            name = names[number] if number < len(names) else ""
            found.append(_named(one, name, f"{side}_", one.shape) if name else one)
        else:
            found.append(one)
    written = "".join(one.text for one in found).strip()
    if written.startswith("{") and written.endswith("}") and '"' in written:
        return json_template.line(found)
    return template.line(haproxy.blocks(found))


def _slots(one: Element, names: Sequence[str], prefix: str) -> Iterator[Element]:
    """Give a block of captured headers with a field for each."""
    if not names:
        yield one
        return
    yield text(one.source, "{")
    for number, name in enumerate(names):
        if number:
            yield text("", "|")
        slot = replace(one, source=one.source, example="-")
        yield _named(slot, name or f"{number + 1}", prefix, _SLOT)
    yield text("", "}")


def _named(one: Element, name: str, prefix: str, shape: str) -> Element:
    field_, column, rank = header(name, prefix)
    if column == "quota_amount" and prefix == "req_":
        column = ""
    return replace(one, name=field_, column=column, rank=rank, shape=shape)
