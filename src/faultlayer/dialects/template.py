"""What templates of all dialects have in common: elements in a row become a layout."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from faultlayer.compile import JsonShape, PatternError
from faultlayer.dialects.strftime import escaped
from faultlayer.shape import Field, Stamp, Upstream

# What a value may look like. `text` is what a client or a program may choose.
INT: Final = r"-?\d+"
NUMBER: Final = r"-?\d+(?:\.\d+)?"
WORD: Final = "word"
TEXT: Final = "text"
# A request line without quotes around it: what follows must not be part of it.
_REQUEST: Final = r"(?:[A-Z]+ .*? HTTP/[\d.]+|[A-Z]+ \S+|\S*)"
METHOD, PATH, PROTOCOL = "method", "path", "protocol"
#: Columns that say which exchange it was, by the name of the header that holds it. The
#: order is that of preference.
HEADERS: Final = {
    "x-request-id": "request_id",
    "request-id": "request_id",
    "x-req-id": "request_id",
    "x-oneapi-request-id": "request_id",
    "x-kong-request-id": "request_id",
    "apim-request-id": "request_id",
    "x-ms-request-id": "request_id",
    "x-ms-client-request-id": "request_id",
    "x-correlation-id": "request_id",
    "user-agent": "user_agent",
    "x-user-id": "user_id",
    "x-user": "user_id",
    "x-project-id": "project_id",
    "x-tenant-id": "tenant_id",
    "x-model": "model",
    "x-model-name": "model",
    "x-quota-used": "quota_amount",
}
# What tells how an exchange ended, and which of it counts only beside the rest.
_REASONS: Final = (
    *("state", "flags", "details", "transport", "limit_req", "limit_conn"),
    *("server", "status"),
)
_ALONG: Final = frozenset({"server", "status"})
_PASSED: Final = dict.fromkeys(
    ("PASSED", "DELAYED", "REJECTED_DRY_RUN", "DELAYED_DRY_RUN"), "-"
)
_SAYS_NOTHING: Final[Mapping[str, Mapping[str, str]]] = {
    "state": {"--": "-"},
    "details": {"via_upstream": "-"},
    "limit_req": _PASSED,
    "limit_conn": _PASSED,
}
#: Names that programs give to the id of an exchange.
IDS: Final = (
    "x_request_id", "request_id", "requestid", "req_id", "reqid", "rid", "xrid",
    "http_request_id", "correlation_id",
)  # fmt: skip


class TemplateError(PatternError):
    """A template that says what its dialect does not know; `index` is where."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


@dataclass(frozen=True, slots=True)
class Element:
    """A piece of a template: literal text when `name` and `regex` are empty.

    `shape`: a regex, `WORD` or `TEXT`. `column`: what it means, of several the lowest
    `rank` counts. `always`: never null in JSON. `upstream`: connect, header, response,
    peer or answered. `lead`, `tail`: regexes of what stands before and after the value and belongs to
    no field. `void`: what is written when there is no value. `optional`: the value may be
    absent, and with it `pad`, the text before it.
    """

    source: str
    text: str = ""
    name: str = ""
    shape: str = ""
    column: str = ""
    scale: float = 1.0
    rank: int = 0
    stamp: tuple[str, ...] = ()
    start: bool = False
    always: bool = False
    upstream: str = ""
    reason: str = ""
    example: str = "-"
    lead: str = ""
    tail: str = ""
    void: str = ""
    pad: str = ""
    optional: bool = False

    @property
    def literal(self) -> bool:
        """Whether it is text that stands in the line as it is."""
        return not self.shape


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a layout: what the template says, its regex, an example."""

    source: str
    regex: str
    example: str


@dataclass(frozen=True, slots=True)
class Layout:
    """What a template says of its lines: their shape, and what their fields mean.

    `regexes` are tried in order; `json` stands in their place for JSON lines.
    """

    parts: tuple[Part, ...] = ()
    regexes: tuple[str, ...] = ()
    json: JsonShape | None = None
    names: tuple[str, ...] = ()
    fields: Mapping[str, Field] = field(default_factory=dict)
    stamps: tuple[Stamp, ...] = ()
    upstream: Upstream | None = None
    reason: Mapping[str, Field] = field(default_factory=dict)
    example: str = ""


def header(name: str, prefix: str) -> tuple[str, str, int]:
    """Give field name, column and rank of a header."""
    lower = name.lower().replace("_", "-")
    column = HEADERS.get(lower, "")
    rank = list(HEADERS).index(lower) if column else 0
    return prefix + re.sub(r"\W", "_", name.lower()), column, rank


def text(source: str, value: str | None = None) -> Element:
    """Give the element of literal text."""
    return Element(source, text=source if value is None else value)


# ---------------------------------------------------------------- lines


def line(elements: Sequence[Element], *, backslash: bool = False) -> Layout:
    r"""Give the layout of a line of text.

    `backslash`: within quotes the dialect writes `\"`, otherwise no quote at all. A line
    that has a quote where none should be is taken when one reading is the only one: all
    but the last free text hold no quote.
    """
    whole = _merged(elements)
    named = [one for one in whole if not one.literal]
    if not named:
        msg = "the template has no variable"
        raise PatternError(msg)
    if not any(one.text.strip() for one in whole) and len(named) == 1:
        msg = "the template would take any line"
        raise PatternError(msg)
    shapes = _shapes(whole, backslash=backslash)
    names = _names(whole)
    parts = tuple(
        Part(
            one.source,
            escaped(one.text) if one.literal else _group(one, name, shape),
            one.text if one.literal else one.pad + one.example,
        )
        for one, name, shape in zip(whole, names, shapes, strict=True)
    )
    regexes = ["".join(part.regex for part in parts)]
    free = [
        number
        for number, (one, shape) in enumerate(zip(whole, shapes, strict=True))
        if one.shape == TEXT and shape == r'[^"]*'
    ]
    if free:
        loose = [*parts]
        at = free[-1]
        loose[at] = replace(parts[at], regex=_group(whole[at], names[at], ".*"))
        regexes.append("".join(part.regex for part in loose))
    kept = [
        replace(one, name=name) for one, name in zip(whole, names, strict=True) if name
    ]
    return meanings(
        kept,
        Layout(
            parts=parts,
            regexes=tuple(regexes),
            names=tuple(one.name for one in kept),
            example="".join(part.example for part in parts),
        ),
    )


def _merged(elements: Sequence[Element]) -> list[Element]:
    """Join neighbouring literals."""
    whole: list[Element] = []
    for one in elements:
        if whole and one.literal and whole[-1].literal:
            before = whole[-1]
            whole[-1] = text(before.source + one.source, before.text + one.text)
        else:
            whole.append(one)
    if whole and whole[-1].literal:
        # The end of the line is not part of it.
        ended = whole[-1].text.rstrip("\r\n")
        whole[-1:] = [text(whole[-1].source, ended)] if ended else []
    return whole


def _names(elements: Sequence[Element]) -> list[str]:
    """Give each element's field; what stands twice is a field only once."""
    seen: set[str] = set()
    names = []
    for one in elements:
        names.append("" if one.name in seen else one.name)
        seen.add(one.name)
    return names


def _group(one: Element, name: str, shape: str) -> str:
    body = f"(?P<{name}>{shape})" if name else f"(?:{shape})"
    if one.void:
        body = f"(?:{one.void}|{body})"
    body = f"{escaped(one.pad)}{one.lead}{body}{one.tail}"
    return f"(?:{body})?" if one.optional else body


def _shapes(elements: Sequence[Element], *, backslash: bool) -> list[str]:
    """Choose the regex of each value by what stands around it."""
    shapes: list[str] = []
    quoted = False
    for number, one in enumerate(elements):
        if one.literal:
            quoted ^= one.text.count('"') % 2 == 1
            shapes.append("")
            continue
        after = elements[number + 1].text if number + 1 < len(elements) else ""
        last = number + 1 == len(elements)
        if one.shape == TEXT:
            if quoted:
                shape = r'(?:[^"\\]|\\.)*' if backslash else r'[^"]*'
            elif one.column == "message":
                shape = _REQUEST
            elif last:
                shape = ".*"
            else:
                shape = ".*?"
        elif one.shape == WORD:
            # An empty value is written as such: nginx has no dash for an empty header.
            shape = r'[^\s"]*'
            if after[:1] and after[0] not in ' "\t' and not quoted:
                shape += "?"
        else:
            shape = f"(?:{one.shape}|-)?" if quoted else f"(?:{one.shape}|-)"
            if one.always or one.stamp or one.void or one.optional:
                shape = one.shape
        shapes.append(shape)
    return shapes


# ---------------------------------------------------------------- what fields mean


def meanings(elements: Sequence[Element], layout: Layout) -> Layout:
    """Add which columns the fields of elements fill, and which is the time."""
    by_column: dict[str, list[Element]] = {}
    for one in sorted(elements, key=lambda one: one.rank):
        if one.column:
            by_column.setdefault(one.column, []).append(one)
    fields: dict[str, Field] = {}
    for column, found in by_column.items():
        if column in {METHOD, PATH, PROTOCOL}:
            continue
        scales = [one.scale for one in found]
        best = [one.name for one in found if one.scale == scales[0]]
        fields[column] = Field(tuple(best), scales[0])
    request = [
        by_column[part][0].name
        for part in (METHOD, PATH, PROTOCOL)
        if part in by_column
    ]
    if "message" not in fields and len(request) > 1:
        fields["message"] = Field((" ".join(request),))
    stamps = [
        Stamp(one.name, one.stamp, start=one.start)
        for one in sorted(elements, key=lambda one: one.rank)
        if one.stamp
    ]
    return replace(
        layout,
        fields=fields,
        stamps=tuple(stamps),
        upstream=_upstream(elements),
        reason=_reasons(elements),
    )


def _reasons(elements: Sequence[Element]) -> dict[str, Field]:
    """Give what an exchange's end is told by, in the order that signatures know."""
    found: dict[str, list[str]] = {}
    for one in elements:
        told = one.reason or ("status" if one.column == "status" else "")
        if told:
            found.setdefault(told, []).append(one.name)
    if set(found) <= _ALONG:
        return {}
    return {
        told: Field(
            tuple(dict.fromkeys(found[told])),
            values=_SAYS_NOTHING.get(told),
            along=told in _ALONG,
            chars=2 if told == "state" else 0,
        )
        for told in _REASONS
        if told in found
    }


def _upstream(elements: Iterable[Element]) -> Upstream | None:
    found: dict[str, list[Element]] = {}
    for one in elements:
        if one.upstream:
            found.setdefault(one.upstream, []).append(one)
    if not found:
        return None
    times = ("connect", "header", "response")
    timed = [one.scale for key in found if key in times for one in found[key]]
    names = {key: tuple(one.name for one in found[key]) for key in found}
    return Upstream(
        connect=names.get("connect", ()),
        header=names.get("header", ()),
        response=names.get("response", ()),
        peer=names.get("peer", ()),
        answered=names.get("answered", ()),
        scale=timed[0] if timed else 1000.0,
    )
