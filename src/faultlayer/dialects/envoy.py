"""Envoy's access log formats: strings and dictionaries of command operators."""

import json
import re
from collections.abc import Mapping
from typing import Final

from faultlayer.compile import PatternError
from faultlayer.dialects import json_template, template
from faultlayer.dialects.strftime import spelt
from faultlayer.dialects.template import (
    INT,
    METHOD,
    PATH,
    PROTOCOL,
    TEXT,
    WORD,
    Element,
    Layout,
    TemplateError,
    header,
    text,
)

DEFAULT: Final = (
    '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" '
    "%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% "
    '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" '
    '"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"\n'
)
_ISO: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
_OPERATOR: Final = re.compile(
    r"%%|%([A-Z][A-Z0-9_]*)(?:\(((?:[^()%]|%[^%()]*)*?(?:\([^()]*\)[^()]*)*)\))?(?::(\d+))?%"
)
OPERATORS: Final[Mapping[str, Element]] = {
    one.source: one
    for one in (
        Element("PROTOCOL", shape=WORD, column=PROTOCOL, example="HTTP/1.1"),
        Element(
            "RESPONSE_CODE",
            shape=r"\d{1,3}",
            column="status",
            always=True,
            example="504",
        ),
        Element("RESPONSE_FLAGS", shape=WORD, reason="flags", example="UT"),
        Element("RESPONSE_FLAGS_LONG", shape=WORD, reason="flags"),
        Element(
            "RESPONSE_CODE_DETAILS",
            shape=TEXT,
            reason="details",
            example="response_timeout",
        ),
        Element("CONNECTION_TERMINATION_DETAILS", shape=TEXT),
        Element("UPSTREAM_TRANSPORT_FAILURE_REASON", shape=TEXT, reason="transport"),
        Element("BYTES_RECEIVED", shape=INT, always=True, example="812"),
        Element(
            "BYTES_SENT", shape=INT, column="bytes_sent", always=True, example="24"
        ),
        Element(
            "DURATION",
            shape=INT,
            column="duration_ms",
            always=True,
            example="30001",
        ),
        Element("REQUEST_DURATION", shape=INT),
        Element("REQUEST_TX_DURATION", shape=INT),
        # The moment at which the upstream's first byte came, counted from the start.
        Element("RESPONSE_DURATION", shape=INT, upstream="header"),
        Element("RESPONSE_TX_DURATION", shape=INT),
        Element(
            "UPSTREAM_HOST",
            shape=WORD,
            column="upstream_addr",
            upstream="peer",
            example="192.0.2.31:8000",
        ),
        Element("UPSTREAM_CLUSTER", shape=TEXT, example="engine"),
        Element("UPSTREAM_REQUEST_ATTEMPT_COUNT", shape=INT, example="1"),
        Element("ROUTE_NAME", shape=TEXT, example="default"),
        Element("CONNECTION_ID", shape=INT, example="31"),
        Element("TRACE_ID", shape=WORD),
        Element(
            "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
            shape=WORD,
            column="client",
            example="192.0.2.7",
        ),
        Element(
            "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT",
            shape=WORD,
            column="client",
            rank=1,
            example="192.0.2.7",
        ),
        Element(
            "DOWNSTREAM_REMOTE_ADDRESS",
            shape=WORD,
            column="client",
            rank=2,
            example="192.0.2.7:51034",
        ),
    )
}
# Rank after the client's own id, which other logs have too.
_STREAM_ID: Final = 90


def layout(format_: str | Mapping[str, object]) -> Layout:
    """Give the layout of a format string, or of a dictionary as table or JSON text.

    A `text_format`, `json_format` and the like around it may stand there as well. Raises
    `PatternError` when there is no layout.
    """
    if isinstance(format_, str):
        if format_ in {"default", ""}:
            format_ = DEFAULT
        if not format_.lstrip().startswith("{"):
            return template.line(elements(format_))
        try:
            format_ = json.loads(format_)
        except ValueError as error:
            msg = f"envoy_format is no JSON: {error}"
            raise PatternError(msg) from None
    found = _inner(format_)
    if isinstance(found, str):
        return layout(found)
    if not isinstance(found, Mapping):
        msg = "envoy_format is a string or a dictionary"
        raise PatternError(msg)
    known: list[Element] = []
    return json_template.table(_placed(found, known), known)


def _inner(format_: object) -> object:
    """Find the format within the configuration that is around it."""
    if isinstance(format_, Mapping):
        for key in (
            "log_format", "typed_config", "config", "json_format", "typed_json_format",
            "text_format", "text_format_source", "inline_string", "format",
        ):  # fmt: skip
            if key in format_ and isinstance(format_[key], str | Mapping):
                if key == "format" and len(format_) > 1 and "path" not in format_:
                    continue
                return _inner(format_[key])
    return format_


def _placed(whole: Mapping[str, object], known: list[Element]) -> dict[str, object]:
    """Put places of elements where the operators stand."""
    placed: dict[str, object] = {}
    for key, value in whole.items():
        if isinstance(value, Mapping):
            placed[str(key)] = _placed(value, known)
            continue
        written = ""
        for one in elements(str(value)):
            if one.literal:
                written += one.text
            else:
                written += json_template.place(len(known))
                known.append(one)
        placed[str(key)] = written
    return placed


def elements(format_: str) -> list[Element]:
    """Split a format string into literals and operators."""
    found: list[Element] = []
    end = 0
    for match in _OPERATOR.finditer(format_):
        if match.start() > end:
            found.append(text(format_[end : match.start()]))
        if match.group() == "%%":
            found.append(text("%%", "%"))
        else:
            found.append(_operator(match.group(), match.group(1), match.group(2) or ""))
        end = match.end()
    if end < len(format_):
        found.append(text(format_[end:]))
    at = 0
    for one in found:
        if one.literal and one.source != "%%" and "%" in one.source:
            stray = one.source.index("%")
            msg = f"no operator of Envoy: {one.source[stray:][:30]!r}"
            raise TemplateError(msg, at + stray)
        at += len(one.source)
    return found


def _operator(source: str, name: str, argument: str) -> Element:
    if name == "START_TIME":
        return _start(source, argument)
    if name in {"REQ", "REQ_WITHOUT_QUERY", "RESP", "TRAILER"}:
        return _header(source, name, argument)
    if name == "STREAM_ID":
        return Element(
            source,
            name="stream_id",
            shape=WORD,
            column="request_id",
            rank=_STREAM_ID,
            example="1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33",
        )
    if name in {"DYNAMIC_METADATA", "FILTER_STATE", "METADATA", "CLUSTER_METADATA"}:
        words = re.sub(r"\W+", "_", argument.lower()).strip("_")
        return Element(source, name=f"{name.lower()}_{words}", shape=TEXT)
    known = OPERATORS.get(name)
    if known is None:
        return Element(source, name=name.lower(), shape=TEXT)
    return Element(
        source,
        name=name.lower(),
        shape=known.shape,
        column=known.column,
        rank=known.rank,
        always=known.always,
        upstream=known.upstream,
        reason=known.reason,
        scale=1,
        example=known.example,
    )


def _start(source: str, argument: str) -> Element:
    if not argument:
        return Element(
            source,
            name="start_time",
            shape=_ISO,
            stamp=("%Y-%m-%dT%H:%M:%S%.fZ",),
            start=True,
            always=True,
            example="2026-11-30T05:22:41.250Z",
        )
    one = spelt(argument)
    return Element(
        source,
        name="start_time",
        shape=one.regex,
        stamp=(one.format,),
        start=True,
        always=True,
        example=one.example + one.tail_example,
        tail=one.tail,
    )


def _header(source: str, name: str, argument: str) -> Element:
    """Give the element of `REQ(X?Y)`: the first counts, the other stands in for it."""
    names = [one.strip().upper() for one in argument.split("?") if one.strip()]
    answered = name in {"RESP", "TRAILER"}
    if ":METHOD" in names:
        return Element(source, name="method", shape=WORD, column=METHOD, example="POST")
    if ":PATH" in names or "X-ENVOY-ORIGINAL-PATH" in names:
        return Element(
            source,
            name="path",
            shape=WORD,
            column=PATH,
            example="/v1/chat/completions",
        )
    if ":AUTHORITY" in names:
        return Element(source, name="authority", shape=WORD, example="llm.example")
    if "X-ENVOY-UPSTREAM-SERVICE-TIME" in names:
        return Element(
            source,
            name="upstream_service_time",
            shape=INT,
            upstream="header",
            scale=1,
            example="-",
        )
    if not names:
        return Element(source, name=name.lower(), shape=TEXT)
    field, column, rank = header(names[0], "resp_" if answered else "req_")
    if column == "quota_amount" and not answered:
        column = ""
    return Element(
        source,
        name=field,
        # Envoy makes and checks the id; a client chooses the rest.
        shape=WORD if column == "request_id" else TEXT,
        column=column,
        rank=rank + 20 * answered,
        example="1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33"
        if column == "request_id"
        else "sdk/1.0"
        if column == "user_agent"
        else "-",
    )
