"""HAProxy's `log-format`: `%` aliases with flags, and expressions in `%[...]`."""

import re
from collections.abc import Mapping
from dataclasses import replace
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

HTTP: Final = (
    "%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc "
    "%ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r"
)
TCP: Final = "%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq"
HTTPS: Final = (
    f"{HTTP} %[fc_err]/%[ssl_fc_err,hex]/%[ssl_c_err]/%[ssl_c_ca_err]/"
    "%[ssl_fc_is_resumed] %[ssl_fc_sni]/%sslv/%sslc"
)
CLF: Final = (
    '%{+Q}o %{-Q}ci - - [%trg] %r %ST %B "" "" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta '
    "%tsc %ac %fc %bc %sc %rc %sq %bq %CC %CS %hrl %hsl"
)
NAMED: Final = {"httplog": HTTP, "tcplog": TCP, "httpslog": HTTPS, "clf": CLF}

_STAMP: Final = "%d/%b/%Y:%H:%M:%S"
_PLUS: Final = r"\+?"  # `logasap` was on: more came after it was logged
# A header may be absent, then so is the whole block and the space after it.
_BLOCK: Final = r"\{[^{}]*\}"


def _stamped(name: str, format_: str, rank: int, *, start: bool) -> Element:
    one = spelt(format_)
    return Element(
        name,
        shape=one.regex,
        stamp=(one.format,),
        rank=rank,
        start=start,
        example=one.example,
    )


# Flags of `%o` are not carried over to these: who wants hexadecimal says it for each.
_HEXADECIMAL: Final = {
    "ci",
    "cp",
    "fi",
    "fp",
    "bi",
    "bp",
    "si",
    "sp",
    "Ts",
    "rt",
    "pid",
}


def _timer(name: str) -> Element:
    return Element(
        name, shape=r"\d+", void="-1", lead=_PLUS, scale=1, always=True, example="0"
    )


ALIASES: Final[Mapping[str, tuple[str, Element]]] = {
    one.source: (name, one)
    for name, one in (
        ("client_ip", Element("ci", shape=WORD, column="client", example="192.0.2.7")),
        ("client_port", Element("cp", shape=INT, example="51034")),
        ("frontend_ip", Element("fi", shape=WORD, example="192.0.2.5")),
        ("frontend_port", Element("fp", shape=INT, example="443")),
        ("backend_ip", Element("bi", shape=WORD, example="192.0.2.5")),
        ("backend_port", Element("bp", shape=INT, example="40112")),
        (
            "server_ip",
            Element(
                "si",
                shape=WORD,
                column="upstream_addr",
                upstream="peer",
                rank=1,
                example="192.0.2.31",
            ),
        ),
        ("server_port", Element("sp", shape=INT, example="8000")),
        ("time", _stamped("tr", f"{_STAMP}.%3f", 0, start=True)),
        ("accept_time", _stamped("t", f"{_STAMP}.%3f", 1, start=True)),
        ("time_zoned", _stamped("trl", f"{_STAMP} %z", 3, start=True)),
        ("time_utc", _stamped("trg", f"{_STAMP} %z", 3, start=True)),
        ("accept_zoned", _stamped("Tl", f"{_STAMP} %z", 4, start=True)),
        ("accept_utc", _stamped("T", f"{_STAMP} %z", 4, start=True)),
        ("epoch", _stamped("Ts", "%s", 5, start=True)),
        ("millis", Element("ms", shape=r"\d{1,3}", example="250")),
        ("frontend", Element("f", shape=WORD, example="edge")),
        ("frontend", Element("ft", shape=WORD, example="edge")),
        ("backend", Element("b", shape=WORD, example="engines")),
        (
            "server",
            Element(
                "s",
                shape=WORD,
                column="upstream_addr",
                upstream="peer",
                void="<(?:NOSRV|STATS|DELAYED)>",
                reason="server",
                example="engine-0",
            ),
        ),
        ("tr_request", _timer("TR")),
        ("tq_request", _timer("Tq")),
        ("ti_idle", _timer("Ti")),
        ("th_handshake", _timer("Th")),
        ("tw_queue", _timer("Tw")),
        (
            "tc_connect",
            replace(_timer("Tc"), upstream="connect", example="1"),
        ),
        (
            "tr_response",
            replace(_timer("Tr"), upstream="header", example="-1"),
        ),
        ("td_data", _timer("Td")),
        (
            "ta_active",
            replace(_timer("Ta"), column="duration_ms", example="30001"),
        ),
        (
            "tt_total",
            replace(_timer("Tt"), column="duration_ms", rank=1, example="30001"),
        ),
        ("tu_user", replace(_timer("Tu"), column="duration_ms", rank=2)),
        ("status", Element("ST", shape=r"-?\d{1,3}", column="status", example="504")),
        (
            "bytes",
            Element(
                "B",
                shape=r"\d+",
                lead=_PLUS,
                column="bytes_sent",
                example="194",
                always=True,
            ),
        ),
        ("bytes_uploaded", Element("U", shape=INT, example="812")),
        ("request_cookie", Element("CC", shape=WORD)),
        ("response_cookie", Element("CS", shape=WORD)),
        (
            "termination",
            Element("tsc", shape=r"[\w-]{4}", reason="state", example="sH--"),
        ),
        (
            "termination",
            Element("ts", shape=r"[\w-]{2}", reason="state", example="sD"),
        ),
        ("actconn", Element("ac", shape=INT, example="2")),
        ("feconn", Element("fc", shape=INT, example="2")),
        ("beconn", Element("bc", shape=INT, example="1")),
        ("srv_conn", Element("sc", shape=INT, example="1")),
        ("retries", Element("rc", shape=r"\d+", lead=_PLUS, example="0", always=True)),
        ("srv_queue", Element("sq", shape=INT, example="0")),
        ("backend_queue", Element("bq", shape=INT, example="0")),
        ("request_headers", Element("hr", shape=_BLOCK, example="{h-1}")),
        ("response_headers", Element("hs", shape=_BLOCK, example="{h-2}")),
        ("request_headers", Element("hrl", shape=TEXT)),
        ("response_headers", Element("hsl", shape=TEXT)),
        (
            "request",
            Element(
                "r",
                shape=TEXT,
                column="message",
                example="POST /v1/chat/completions HTTP/1.1",
            ),
        ),
        ("method", Element("HM", shape=WORD, column=METHOD, example="POST")),
        (
            "uri",
            Element("HU", shape=WORD, column=PATH, example="/v1/chat/completions"),
        ),
        (
            "path",
            Element("HP", shape=WORD, column=PATH, rank=1, example="/v1/models"),
        ),
        (
            "path",
            Element("HPO", shape=WORD, column=PATH, rank=1, example="/v1/models"),
        ),
        ("query", Element("HQ", shape=TEXT, example="")),
        ("protocol", Element("HV", shape=WORD, column=PROTOCOL, example="HTTP/1.1")),
        ("hostname", Element("H", shape=WORD, example="lb-1")),
        (
            "unique_id",
            Element(
                "ID",
                shape=WORD,
                column="request_id",
                rank=50,
                example="C0000207:C75A_C0000205:01BB_692BD6E1_0001:07",
            ),
        ),
        ("log_counter", Element("lc", shape=INT, example="7")),
        ("request_counter", Element("rt", shape=r"[0-9A-Fa-f]+", example="7")),
        ("pid", Element("pid", shape=r"[0-9A-Fa-f]+", example="7")),
        ("origin", Element("OG", shape=WORD)),
        ("ssl_cipher", Element("sslc", shape=WORD)),
        ("ssl_version", Element("sslv", shape=WORD)),
    )
}
_TOKEN: Final = re.compile(
    r"%%|%(?:\((?P<name>[^):]*)(?::[^)]*)?\))?(?:\{(?P<flags>[^}]*)\})?"
    r"(?:\[(?P<expr>(?:[^\[\]]|\[[^\]]*\])*)\]|(?P<alias>[A-Za-z]+))"
)
_HEADER: Final = re.compile(
    r"(?:capture\.)?(?P<side>req|res)\.f?hdr\(\s*['\"]?(?P<name>[\w.-]+)['\"]?"
)


def layout(log_format: str) -> Layout:
    """Give the layout of a `log-format`, or of `httplog`, `tcplog`, `httpslog`, `clf`.

    Raises `PatternError` when it has none.
    """
    found = elements(NAMED.get(log_format, log_format))
    written = "".join(one.text for one in found).strip()
    if written.startswith("{") and written.endswith("}") and '"' in written:
        return json_template.line(found)
    return template.line(blocks(found))


def elements(log_format: str) -> list[Element]:
    """Split a `log-format` into literals and aliases."""
    found: list[Element] = []
    end = 0
    quoted = False
    for match in _TOKEN.finditer(log_format):
        if match.start() > end:
            found.append(text(log_format[end : match.start()]))
        try:
            found_here, quoted = _element(match, quoted)
        except PatternError as error:
            raise TemplateError(str(error), match.start()) from None
        found += found_here
        end = match.end()
        if not found_here and log_format[end : end + 1] == " ":
            end += 1  # the flags that `%o` sets are no field of the line
    if end < len(log_format):
        found.append(text(log_format[end:]))
    # In older configurations spaces are escaped; several are one.
    return [
        replace(one, text=re.sub(r"\\([ \"#'\\])", r"\1", re.sub(r" +", " ", one.text)))
        if one.literal
        else one
        for one in found
    ]


def _element(match: re.Match[str], quoted: bool) -> tuple[list[Element], bool]:
    source = match.group()
    if source == "%%":
        return [text(source, "%")], quoted
    flags = match.group("flags") or ""
    if "+X" in flags and match.group("alias") in _HEXADECIMAL:
        name, one = ALIASES[match.group("alias")]
        plain = replace(one, source=source, name=name, column="", stamp=(), void="")
        return [replace(plain, shape="[0-9A-F]+", upstream="")], quoted
    own = False if "-Q" in flags else True if "+Q" in flags else quoted
    if match.group("alias") == "o":
        return [], own
    rest = ""
    if match.group("expr") is not None:
        one = _expression(source, match.group("expr"), match.group("name") or "")
    else:
        one, rest = _alias(source, match.group("alias"))
    if own and one.shape in {TEXT, WORD, _BLOCK}:
        quote = text("", '"')
        found = [
            quote,
            replace(one, shape=TEXT if one.shape == TEXT else one.shape),
            quote,
        ]
    else:
        found = [one]
    return [*found, *([text(rest)] if rest else [])], quoted


def _alias(source: str, letters: str) -> tuple[Element, str]:
    """Find the longest alias that the letters begin with; the rest is text."""
    for size in range(min(4, len(letters)), 0, -1):
        known = ALIASES.get(letters[:size])
        if known is not None:
            name, one = known
            rest = letters[size:]
            shown = source[: len(source) - len(rest)] if rest else source
            return replace(one, source=shown, name=name), rest
    msg = f"no alias of HAProxy: {source!r}"
    raise PatternError(msg)


def _expression(source: str, expression: str, name: str) -> Element:
    found = _HEADER.search(expression)
    if found:
        answered = found.group("side") == "res"
        field, column, rank = header(
            found.group("name"), "res_" if answered else "req_"
        )
        if column == "quota_amount" and not answered:
            column = ""
        example = "1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33"
        return Element(
            source,
            name=field,
            shape=TEXT,
            column=column,
            rank=rank,
            example=example if column == "request_id" else "-",
        )
    if expression.startswith("unique-id"):
        return _alias(source, "ID")[0]
    if expression.startswith(("date", "accept_date", "request_date")):
        return _date(source, expression)
    words = name or re.sub(r"\W+", "_", expression).strip("_").lower()
    return Element(source, name=words or "value", shape=TEXT)


def _date(source: str, expression: str) -> Element:
    start = not expression.startswith("date")
    written = re.search(r"[lu]time\(\s*['\"]?([^'\")]*)", expression)
    if written:
        one = spelt(written.group(1))
        return Element(
            source, name="date", shape=one.regex, stamp=(one.format,), rank=7,
            start=start, example=one.example, tail=one.tail,
        )  # fmt: skip
    millis = "ms" in expression
    return Element(
        source,
        name="epoch",
        shape=r"\d{13}" if millis else r"\d{10}",
        stamp=("epoch_ms" if millis else "epoch_s",),
        rank=6,
        start=start,
        example="1796016161250" if millis else "1796016161",
    )


def blocks(found: list[Element]) -> list[Element]:
    """Let the blocks of captured headers be absent, with the space before them."""
    result: list[Element] = []
    for one in found:
        before = result[-1] if result else None
        if one.shape != _BLOCK:
            result.append(one)
            continue
        pad = ""
        if before is not None and before.literal and before.text.endswith(" "):
            pad = " "
            result[-1] = text(before.source[:-1], before.text[:-1])
        result.append(replace(one, pad=pad, optional=True))
    return [one for one in result if not one.literal or one.text]
