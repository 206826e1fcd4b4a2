"""Apache's `LogFormat`: `%` directives with conditions, modifiers and arguments."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from faultlayer.compile import TIME_LOCAL, PatternError
from faultlayer.dialects import json_template, template
from faultlayer.dialects.strftime import escaped, spelt
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
    TemplateError,
    header,
    text,
)

COMMON: Final = '%h %l %u %t "%r" %>s %b'
COMBINED: Final = f'{COMMON} "%{{Referer}}i" "%{{User-Agent}}i"'
NAMED: Final = {
    "common": COMMON,
    "combined": COMBINED,
    "vhost_common": f"%v {COMMON}",
    "vhost_combined": '%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"',
}
_TIME: Final = r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]"
_US: Final = 0.001

DIRECTIVES: Final[Mapping[str, tuple[str, Element]]] = {
    one.source: (name, one)
    for name, one in (
        ("client_ip", Element("a", shape=WORD, column="client", example="192.0.2.7")),
        ("local_ip", Element("A", shape=WORD, example="192.0.2.5")),
        ("bytes", Element("B", shape=INT, column="bytes_sent", example="167")),
        ("bytes", Element("b", shape=INT, column="bytes_sent", example="167")),
        (
            "duration_us",
            Element(
                "D", shape=INT, column="duration_ms", scale=_US, example="30001000"
            ),
        ),
        ("file", Element("f", shape=TEXT)),
        (
            "remote_host",
            Element("h", shape=WORD, column="client", rank=1, example="192.0.2.7"),
        ),
        ("protocol", Element("H", shape=WORD, column=PROTOCOL, example="HTTP/1.1")),
        ("keepalives", Element("k", shape=INT, example="0")),
        ("logname", Element("l", shape=WORD)),
        ("log_id", Element("L", shape=WORD)),
        ("method", Element("m", shape=WORD, column=METHOD, example="POST")),
        ("port", Element("p", shape=INT, example="443")),
        ("pid", Element("P", shape=INT, example="7")),
        ("query", Element("q", shape=r"(?:\?\S*?)?", always=True, example="")),
        (
            "request",
            Element(
                "r",
                shape=TEXT,
                column="message",
                example="POST /v1/chat/completions HTTP/1.1",
            ),
        ),
        ("handler", Element("R", shape=TEXT)),
        ("status", Element("s", shape=r"\d{3}", column="status", example="504")),
        (
            "time",
            Element(
                "t",
                shape=_TIME,
                stamp=(f"[{TIME_LOCAL}]",),
                start=True,
                example="[30/Nov/2026:05:22:41 +0000]",
            ),
        ),
        (
            "duration_s",
            Element(
                "T",
                shape=NUMBER,
                column="duration_ms",
                scale=1000,
                rank=3,
                example="30",
            ),
        ),
        ("user", Element("u", shape=TEXT)),
        ("path", Element("U", shape=TEXT, column=PATH, example="/v1/chat/completions")),
        ("server", Element("v", shape=WORD, example="llm.example")),
        ("server", Element("V", shape=WORD, example="llm.example")),
        ("connection", Element("X", shape=r"[X+-]", example="+")),
        ("bytes_in", Element("I", shape=INT, example="812")),
        (
            "bytes_out",
            Element("O", shape=INT, column="bytes_sent", rank=1, example="412"),
        ),
        ("bytes_transferred", Element("S", shape=INT, example="1224")),
    )
}
_UNITS: Final = {"us": (_US, 0), "ms": (1.0, 1), "s": (1000.0, 3)}
_EPOCHS: Final = {
    "sec": (r"\d{10}", "epoch_s", "1796016161"),
    "msec": (r"\d{13}", "epoch_ms", "1796016161250"),
    "usec": (r"\d{16}", "epoch_us", "1796016161250000"),
}
_TOKEN: Final = re.compile(
    r"%%|%[<>]?(?:!?\d{3}(?:,\d{3})*)?[<>]?(?:\{(?P<argument>[^}]*)\})?[<>]?"
    r"(?P<letter>\^t[io]|[A-Za-z])"
)


def layout(log_format: str) -> Layout:
    """Give the layout of a `LogFormat`: its string, its directive, or a usual nickname.

    Raises `PatternError` when it has none.
    """
    found = elements(NAMED.get(log_format, _string(log_format)))
    written = "".join(one.text for one in found).strip()
    if written.startswith("{") and written.endswith("}") and '"' in written:
        return json_template.line(found)
    return template.line(found, backslash=True)


def _string(log_format: str) -> str:
    r"""Give the string of a whole directive, its `\"` undone."""
    directive = re.fullmatch(
        r'\s*(?:LogFormat|CustomLog\s+\S+)\s+"((?:[^"\\]|\\.)*)".*',
        log_format,
        re.DOTALL,
    )
    if directive:
        log_format = directive.group(1)
    if '\\"' in log_format:
        log_format = log_format.replace('\\"', '"')
    return log_format.replace("\\t", "\t").replace("\\n", "\n").replace("\\\\", "\\")


def elements(log_format: str) -> list[Element]:
    """Split a `LogFormat` string into literals and directives."""
    found: list[Element] = []
    end = 0
    for match in _TOKEN.finditer(log_format):
        if match.start() > end:
            found.append(text(log_format[end : match.start()]))
        try:
            found.append(_directive(match))
        except PatternError as error:
            raise TemplateError(str(error), match.start()) from None
        end = match.end()
    if end < len(log_format):
        found.append(text(log_format[end:]))
    return _joined_stamps(found)


def _directive(match: re.Match[str]) -> Element:
    source, letter = match.group(), match.group("letter")
    argument = match.group("argument")
    if source == "%%":
        return text(source, "%")
    if argument is not None:
        special = _with_argument(source, letter, argument)
        if special is not None:
            return special
    known = DIRECTIVES.get(letter)
    if known is None:
        msg = f"no directive of Apache: {source!r}"
        raise PatternError(msg)
    name, one = known
    return replace(one, source=source, name=name)


def _with_argument(  # noqa: PLR0911 - one return a letter
    source: str, letter: str, argument: str
) -> Element | None:
    if letter in {"i", "o"}:
        answered = letter == "o"
        field, column, rank = header(argument, "res_" if answered else "req_")
        if column == "quota_amount" and not answered:
            column = ""
        return Element(
            source,
            name=field,
            shape=TEXT,
            column=column,
            rank=rank + 20 * answered,
            example="1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33"
            if column == "request_id"
            else "sdk/1.0"
            if column == "user_agent"
            else "-",
        )
    if letter == "T" and argument in _UNITS:
        scale, rank = _UNITS[argument]
        return Element(
            source,
            name=f"duration_{argument}",
            shape=NUMBER,
            column="duration_ms",
            scale=scale,
            rank=rank,
            example=f"{30001 / scale:.0f}",
        )
    if letter == "t":
        return _stamp(source, argument)
    if letter == "e" and argument.upper() == "UNIQUE_ID":
        return Element(
            source,
            name="unique_id",
            shape=WORD,
            column="request_id",
            rank=80,
            example="aSvW4cAAAgcAAAAHUnIAAAAA",
        )
    if letter in {"p", "P"}:
        return Element(
            source,
            name=f"{argument}_{letter.lower()}",
            shape=r"[0-9a-fx]+",
            example="7",
        )
    if letter in {"C", "e", "n"}:
        field = re.sub(r"\W", "_", argument.lower())
        return Element(source, name=field, shape=TEXT)
    return None


def _stamp(source: str, argument: str) -> Element:
    end = argument.startswith("end:")
    format_ = argument.removeprefix("begin:").removeprefix("end:")
    name = "end_time" if end else "time"
    if format_ in _EPOCHS:
        shape, spelling, example = _EPOCHS[format_]
        return Element(
            source, name=name, shape=shape, stamp=(spelling,), start=not end,
            example=example,
        )  # fmt: skip
    if format_ in {"msec_frac", "usec_frac"}:
        digits = 3 if format_ == "msec_frac" else 6
        return Element(
            source,
            name=format_,
            shape=rf"\d{{{digits}}}",
            example="250000"[:digits],
        )
    one = spelt(format_ or "%d/%b/%Y:%H:%M:%S %z")
    return Element(
        source, name=name, shape=one.regex, stamp=(one.format,), start=not end,
        example=one.example, tail=one.tail,
    )  # fmt: skip


def _joined_stamps(found: list[Element]) -> list[Element]:
    """Make one stamp of several `%{...}t` in a row, with their fractions between."""
    result: list[Element] = []
    for one in found:
        result.append(one)
        for between in (text(""), result[-2] if result[:-1] else text("")):
            size = 3 if between.text else 2
            if len(result) >= size and _continues(result[-size], between, one):
                result[-size:] = [_joined(result[-size], between, one)]
                break
    return result


def _joined(first: Element, between: Element, second: Element) -> Element:
    spelling = second.stamp[0] if second.stamp else f"%{len(second.example)}f"
    return replace(
        first,
        source=first.source + between.source + second.source,
        shape=first.shape + escaped(between.text) + second.shape,
        stamp=(first.stamp[0] + between.text + spelling,),
        example=first.example + between.text + second.example,
    )


def _continues(first: Element, between: Element, second: Element) -> bool:
    if not (first.stamp and between.literal and between.text in {".", ",", " ", ""}):
        return False
    if first.stamp[0].startswith("epoch"):
        return False
    return second.name.endswith("_frac") or second.stamp in {("%z",), ("%H:%M:%S",)}
