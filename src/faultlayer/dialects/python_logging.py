"""Python's `logging` formats in `%`, `{` and `$` style, and gunicorn's access format."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from faultlayer.compile import PatternError
from faultlayer.dialects import json_template, template
from faultlayer.dialects.strftime import escaped, spelt
from faultlayer.dialects.template import (
    IDS,
    INT,
    METHOD,
    NUMBER,
    PATH,
    PROTOCOL,
    TEXT,
    WORD,
    Element,
    Layout,
    header,
    text,
)

#: What `basicConfig` writes when nobody says otherwise.
BASIC: Final = "%(levelname)s:%(name)s:%(message)s"
_LEVEL: Final = r"[A-Za-z]+"
_DATE: Final = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"

ATTRIBUTES: Final[Mapping[str, Element]] = {
    one.source: one
    for one in (
        Element("name", name="logger", shape=TEXT, example="gateway.server"),
        Element("levelname", name="level", shape=_LEVEL, example="INFO"),
        Element("levelno", name="levelno", shape=r"\d+", example="20"),
        Element("pathname", name="file", shape=TEXT, example="/srv/gateway/server.py"),
        Element("filename", name="file", shape=WORD, example="server.py"),
        Element("module", name="module", shape=WORD, example="server"),
        Element("funcName", name="function", shape=WORD, example="handle"),
        Element("lineno", name="line_number", shape=r"\d+", example="31"),
        Element(
            "created",
            name="created",
            shape=r"\d+\.\d+",
            stamp=("epoch_s",),
            example="1796016161.250000",
        ),
        Element("msecs", name="msecs", shape=NUMBER, example="250"),
        Element("relativeCreated", name="relative_ms", shape=NUMBER, example="1250"),
        Element("thread", name="thread", shape=r"\d+", example="140021"),
        Element("threadName", name="thread_name", shape=TEXT, example="MainThread"),
        Element("taskName", name="task", shape=TEXT, example="None"),
        Element("process", name="process", shape=r"\d+", example="7"),
        Element("processName", name="process_name", shape=TEXT, example="MainProcess"),
        Element("message", name="message", shape=TEXT, example="request accepted"),
        # uvicorn's own.
        Element(
            "levelprefix", name="level", shape=_LEVEL, example="INFO:    ", tail=": *"
        ),
        Element(
            "client_addr",
            name="client",
            shape=WORD,
            tail=r"(?::\d+)?",
            column="client",
            example="192.0.2.7",
        ),
        Element(
            "request_line",
            name="request",
            shape=TEXT,
            column="message",
            example="POST /v1/chat/completions HTTP/1.1",
        ),
        Element(
            "status_code",
            name="status",
            shape=r"\d{3}",
            tail=r"(?: [A-Za-z][A-Za-z' -]*)?",
            column="status",
            always=True,
            example="504",
        ),
    )
}
_GUNICORN: Final[Mapping[str, Element]] = {
    one.source: one
    for one in (
        Element("h", name="client", shape=WORD, column="client", example="192.0.2.7"),
        Element("l", name="logname", shape=WORD),
        Element("u", name="user", shape=WORD),
        Element(
            "t",
            name="time",
            shape=r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]",
            stamp=("[%d/%b/%Y:%H:%M:%S %z]",),
            always=True,
            example="[30/Nov/2026:05:22:41 +0000]",
        ),
        Element(
            "r",
            name="request",
            shape=TEXT,
            column="message",
            example="POST /v1/chat/completions HTTP/1.1",
        ),
        Element("m", name="method", shape=WORD, column=METHOD, example="POST"),
        Element("U", name="path", shape=WORD, column=PATH, example="/v1/models"),
        Element("q", name="query", shape=TEXT, example=""),
        Element("H", name="protocol", shape=WORD, column=PROTOCOL, example="HTTP/1.1"),
        Element(
            "s", name="status", shape=r"\d{3}", column="status", always=True, example="504"
        ),
        Element("B", name="bytes", shape=INT, column="bytes_sent", example="24"),
        Element("b", name="bytes", shape=INT, column="bytes_sent", example="24"),
        Element("f", name="referer", shape=TEXT),
        Element(
            "a", name="user_agent", shape=TEXT, column="user_agent", example="sdk/1.0"
        ),
        Element(
            "T", name="duration_s", shape=INT, column="duration_ms", scale=1000, rank=3,
            example="30",
        ),
        Element(
            "L", name="duration", shape=NUMBER, column="duration_ms", scale=1000, rank=2,
            example="30.001",
        ),
        Element(
            "D", name="duration_us", shape=INT, column="duration_ms", scale=0.001,
            example="30001000",
        ),
        Element("M", name="duration_ms", shape=INT, column="duration_ms", rank=1,
                example="30001"),
        Element("p", name="process", shape=r"<?\d+>?", example="<7>"),
    )
}  # fmt: skip
_PERCENT: Final = re.compile(
    r"%%|%\((?P<name>[^)]+)\)(?P<flags>[-+ #0]*)(?P<width>\d+)?(?:\.(?P<cut>\d+))?"
    r"(?P<type>[diouxXeEfFgGcrsa])"
)
_BRACE: Final = re.compile(
    r"\{\{|\}\}|\{(?P<name>[\w.]+)(?:\[[^\]]*\])?(?:![rsa])?"
    r"(?::(?P<fill>.(?=[<>^=]))?(?P<align>[<>^=])?[+\- ]?#?0?(?P<width>\d+)?[,_]?"
    r"(?:\.(?P<cut>\d+))?(?P<type>[a-zA-Z%])?)?\}"
)
_DOLLAR: Final = re.compile(r"\$\$|\$\{(?P<name>\w+)\}|\$(?P<bare>\w+)")


def layout(format_: str, datefmt: str = "") -> Layout:
    """Give the layout of a logging format; raises `PatternError` when it has none."""
    found = elements(format_, datefmt)
    written = "".join(one.text for one in found).strip()
    if written.startswith("{") and written.endswith("}") and '"' in written:
        return json_template.line(found)
    return template.line(found, backslash=_is_gunicorn(format_))


def _is_gunicorn(format_: str) -> bool:
    names = {match.group("name") for match in _PERCENT.finditer(format_)}
    return bool(names & {"r", "s", "h", "m"}) and not names & {"message", "levelname"}


def style(format_: str) -> str:
    """Tell the style of a format: `%`, `{` or `$`."""
    if any(match.group("name") for match in _PERCENT.finditer(format_)):
        return "%"
    dollars = {
        match.group("name") or match.group("bare")
        for match in _DOLLAR.finditer(format_)
    }
    if dollars & {"asctime", *ATTRIBUTES}:
        return "$"
    if any(match.group("name") for match in _BRACE.finditer(format_)):
        return "{"
    msg = "no field in %(name)s, {name} or $name"
    raise PatternError(msg)


def elements(format_: str, datefmt: str = "") -> list[Element]:
    """Split a format into literals and fields."""
    kind = style(format_)
    gunicorn = kind == "%" and _is_gunicorn(format_)
    scan = {"%": _PERCENT, "{": _BRACE, "$": _DOLLAR}[kind]
    found: list[Element] = []
    end = 0
    for match in scan.finditer(format_):
        if match.start() > end:
            found.append(text(format_[end : match.start()]))
        end = match.end()
        groups = match.groupdict()
        name = groups.get("name") or groups.get("bare")
        if not name:
            found.append(text(match.group(), match.group()[0]))
            continue
        one = _field(match.group(), name, datefmt, gunicorn=gunicorn)
        found.append(_padded(one, groups))
    if end < len(format_):
        found.append(text(format_[end:]))
    return _with_fractions(found)


def _field(source: str, name: str, datefmt: str, *, gunicorn: bool) -> Element:
    if name == "asctime":
        return _asctime(source, datefmt)
    if gunicorn:
        if name in _GUNICORN:
            return replace(_GUNICORN[name], source=source)
        match = re.fullmatch(r"\{([^}]+)\}([ioe])", name)
        if match:
            field, column, rank = header(match.group(1), "req_")
            return Element(source, name=field, shape=TEXT, column=column, rank=rank)
    known = ATTRIBUTES.get(name)
    if known is not None:
        return replace(known, source=source)
    field = re.sub(r"\W", "_", name.lower()).strip("_") or "value"
    column = "request_id" if field in IDS else ""
    if field in {"user_id", "tenant_id", "project_id", "model"}:
        column = field
    return Element(
        source,
        name=field,
        shape=TEXT,
        column=column,
        rank=IDS.index(field) if field in IDS else 0,
        example="1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33" if column else "-",
    )


def _asctime(source: str, datefmt: str) -> Element:
    if not datefmt:
        return Element(
            source,
            name="ts",
            shape=_DATE + r",\d{3}",
            stamp=("%Y-%m-%d %H:%M:%S,%3f",),
            always=True,
            example="2026-11-30 05:22:41,250",
        )
    one = spelt(datefmt)
    return Element(
        source,
        name="ts",
        shape=one.regex,
        stamp=(one.format,),
        always=True,
        example=one.example + one.tail_example,
        tail=one.tail,
    )


def _padded(one: Element, groups: Mapping[str, str | None]) -> Element:
    """Allow for the spaces of a field of a certain width."""
    if not groups.get("width") or one.stamp:
        return one
    align = groups.get("align")
    flags = groups.get("flags")
    left = align == "<" or (flags is not None and "-" in flags)
    numeric = groups.get("type") in {"d", "f", "x"}
    if align is None and flags is None:
        left = not numeric
    if flags is not None and "0" in flags:
        return one
    if align == "^":
        return replace(one, lead=" *", tail=one.tail + " *")
    if left:
        return replace(one, tail=one.tail + " *")
    return replace(one, lead=" *")


def _with_fractions(found: list[Element]) -> list[Element]:
    """Make one stamp of `%(asctime)s.%(msecs)03d`."""
    result: list[Element] = []
    for one in found:
        result.append(one)
        if len(result) < 3:  # noqa: PLR2004 - stamp, point, fraction
            continue
        first, between, second = result[-3:]
        if (
            first.stamp
            and second.name == "msecs"
            and between.literal
            and between.text in {".", ","}
            and "f" not in first.stamp[0].lower().replace("%f", "")[-3:]
        ):
            joined = replace(
                first,
                source=first.source + between.source + second.source,
                shape=first.shape + escaped(between.text) + r"\d{1,3}",
                stamp=(first.stamp[0] + between.text + "%3f",),
                example=first.example + between.text + "250",
            )
            result[-3:] = [joined]
    return result
