"""nginx's `log_format`: strings as they stand in its configuration, escaped in three ways."""

import re
from dataclasses import replace
from typing import Final

from faultlayer.compile import TIME_LOCAL, PatternError
from faultlayer.dialects import json_template, template
from faultlayer.dialects.template import (
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
from faultlayer.quoted import LISTS

ESCAPES: Final = ("default", "json", "none")
COMBINED: Final = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
    '"$http_referer" "$http_user_agent"'
)
_TIME: Final = r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}"
_ISO: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d"
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def _known() -> dict[str, Element]:
    rows = (
        Element("remote_addr", shape=WORD, column="client", example="192.0.2.7"),
        Element("realip_remote_addr", shape=WORD, example="192.0.2.7"),
        Element("remote_port", shape=INT, example="51034"),
        Element("remote_user", shape=TEXT),
        Element(
            "msec",
            shape=r"\d+\.\d{3}",
            stamp=("epoch_s",),
            always=True,
            example="1796016161.250",
        ),
        Element(
            "time_iso8601",
            shape=_ISO,
            stamp=("%Y-%m-%dT%H:%M:%S%:z",),
            rank=1,
            always=True,
            example="2026-11-30T05:22:41+00:00",
        ),
        Element(
            "time_local",
            shape=_TIME,
            stamp=(TIME_LOCAL,),
            rank=2,
            always=True,
            example="30/Nov/2026:05:22:41 +0000",
        ),
        Element(
            "request",
            shape=TEXT,
            column="message",
            example="POST /v1/chat/completions HTTP/1.1",
        ),
        Element("request_method", shape=WORD, column=METHOD, example="POST"),
        Element("request_uri", shape=TEXT, column=PATH, example="/v1/chat/completions"),
        Element("uri", shape=TEXT, column=PATH, rank=1, example="/v1/chat/completions"),
        Element("document_uri", shape=TEXT, column=PATH, rank=2, example="/v1/models"),
        Element("args", shape=TEXT),
        Element("query_string", shape=TEXT),
        Element("server_protocol", shape=WORD, column=PROTOCOL, example="HTTP/1.1"),
        Element("status", shape=r"\d{3}", column="status", always=True, example="504"),
        Element(
            "body_bytes_sent",
            shape=INT,
            column="bytes_sent",
            always=True,
            example="167",
        ),
        Element(
            "bytes_sent",
            shape=INT,
            column="bytes_sent",
            rank=1,
            always=True,
            example="412",
        ),
        Element("request_length", shape=INT, always=True, example="812"),
        Element(
            "request_time",
            shape=NUMBER,
            column="duration_ms",
            scale=1000,
            always=True,
            example="30.001",
        ),
        Element("upstream_connect_time", upstream="connect", example="0.001"),
        Element("upstream_header_time", upstream="header", example="29.500"),
        Element("upstream_response_time", upstream="response", example="30.000"),
        Element("upstream_addr", column="upstream_addr", example="192.0.2.31:8000"),
        Element("upstream_status", upstream="answered", example="504"),
        Element("upstream_response_length", example="0"),
        Element("upstream_bytes_received", example="0"),
        Element("upstream_bytes_sent", example="812"),
        # The client's own id first: its other logs have it too.
        Element(
            "request_id",
            shape=WORD,
            column="request_id",
            rank=100,
            example="9c1f0d7a4be2436f8a51c0de7f2b6e90",
        ),
        Element(
            "req_id",
            shape=WORD,
            column="request_id",
            rank=50,
            example="9c1f0d7a4be2436f8a51c0de7f2b6e90",
        ),
        Element("connection", shape=INT, always=True, example="31"),
        Element("connection_requests", shape=INT, always=True, example="1"),
        Element("pid", shape=INT, always=True, example="7"),
        Element("request_completion", shape=r"(?:OK)?", example="OK"),
        Element("pipe", shape="[p.]", example="."),
        Element("scheme", shape=WORD, example="http"),
        Element("host", shape=WORD, example="llm.example"),
        Element("hostname", shape=WORD, example="edge-1"),
        Element("server_name", shape=WORD, example="llm.example"),
        Element("server_addr", shape=WORD, example="192.0.2.5"),
        Element("server_port", shape=INT, example="443"),
        Element("ssl_protocol", shape=WORD, example="TLSv1.3"),
        Element("ssl_cipher", shape=WORD, example="TLS_AES_256_GCM_SHA384"),
        Element("ssl_server_name", shape=WORD, example="llm.example"),
        Element("limit_req_status", shape=WORD, reason="limit_req", example="PASSED"),
        Element("limit_conn_status", shape=WORD, reason="limit_conn", example="PASSED"),
        Element("upstream_cache_status", shape=WORD),
        Element("gzip_ratio", shape=NUMBER),
        Element("proxy_upstream_name", shape=TEXT, example="default-engine-8000"),
        Element("proxy_alternative_upstream_name", shape=TEXT, example=""),
        Element("namespace", shape=WORD, example="default"),
        Element("ingress_name", shape=WORD, example="llm"),
        Element("service_name", shape=WORD, example="engine"),
    )
    found = {}
    for one in rows:
        shape = one.shape or LISTS[one.source]
        scale = 1000.0 if one.upstream else one.scale
        found[one.source] = replace(one, name=one.source, shape=shape, scale=scale)
    return found


KNOWN: Final = _known()
_HEADER: Final = re.compile(r"(http|sent_http|upstream_http|upstream_trailer)_(\w+)")


def layout(log_format: str, escape: str = "default") -> Layout:
    """Give the layout of a `log_format`; raises `PatternError` when it has none."""
    if escape not in ESCAPES:
        msg = f"escape is one of {', '.join(ESCAPES)}"
        raise PatternError(msg)
    found = elements(log_format)
    if is_json(log_format):
        return json_template.line(found)
    return template.line(found, backslash=escape == "json")


def is_json(log_format: str) -> bool:
    """Tell whether a `log_format` spells a JSON object."""
    return log_format.lstrip().startswith("{") and log_format.rstrip().endswith("}")


def elements(log_format: str) -> list[Element]:
    """Split a `log_format` into literals and variables."""
    found: list[Element] = []
    end = 0
    for match in _VARIABLE.finditer(log_format):
        if match.start() > end:
            found.append(text(log_format[end : match.start()]))
        found.append(_variable(match.group(), match.group(1) or match.group(2)))
        end = match.end()
    if end < len(log_format):
        found.append(text(log_format[end:]))
    return found


def _variable(source: str, name: str) -> Element:
    known = KNOWN.get(name)
    if known is not None:
        return replace(known, source=source)
    match = _HEADER.fullmatch(name)
    if match:
        _, column, rank = header(match.group(2), "")
        # What an upstream answered is nearer to the truth than what a client sent.
        answered = match.group(1) != "http"
        if column == "quota_amount" and not answered:
            column = ""
        return Element(
            source,
            name=name,
            shape=TEXT,
            column=column,
            rank=rank + 20 * answered,
            example=_example(column),
        )
    return Element(source, name=name, shape=TEXT)


def _example(column: str) -> str:
    return {
        "request_id": "1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33",
        "user_agent": "sdk/1.0",
        "user_id": "u-1",
        "model": "llm-7b",
        "quota_amount": "0.42",
    }.get(column, "-")
