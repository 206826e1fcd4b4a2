"""What people have in their configuration, pasted, reads the lines that it makes."""

import io
import json
import logging
import re
from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest

from faultlayer.compile import PatternError
from faultlayer.dialects import apache, envoy, haproxy, nginx, python_logging
from faultlayer.dialects.strftime import spelt
from faultlayer.dialects.template import Layout, TemplateError

ID = "1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33"


def read(layout: Layout, line: str) -> Mapping[str, str]:
    """Give the fields of a line by the first regex that takes it; none is no mapping."""
    for regex in layout.regexes:
        found = re.fullmatch(regex, line)
        if found:
            return {k: v for k, v in found.groupdict().items() if v is not None}
    return {}


def told(layout: Layout, line: str) -> dict[str, str]:
    """Give what a line says of event columns, as text."""
    fields = read(layout, line)
    return {
        column: " ".join(fields.get(name, "") for name in field.sources[0].split(" "))
        for column, field in layout.fields.items()
    }


# Each line was written by the program itself, from this very template.
REAL = [
    (
        envoy.layout,
        "default",
        '[2026-11-30T05:26:38.269Z] "POST /v1/chat HTTP/1.1" 503 UO 812 81 0 - '
        f'"192.0.2.7" "sdk" "{ID}" "llm.example" "-"',
        {
            "status": "503",
            "bytes_sent": "81",
            "duration_ms": "0",
            "request_id": ID,
            "user_agent": "sdk",
            "upstream_addr": "-",
            "message": "POST /v1/chat HTTP/1.1",
        },
    ),
    (
        haproxy.layout,
        "httplog",
        "192.0.2.7:47060 [30/Nov/2026:05:28:44.717] fe one/<NOSRV> 0/1001/-1/-1/1001 "
        '503 217 - - sQ-- 2/2/1/0/0 0/1 {h-q|curl} "GET /one HTTP/1.1"',
        {
            "client": "192.0.2.7",
            "upstream_addr": "",
            "duration_ms": "1001",
            "status": "503",
            "bytes_sent": "217",
            "message": "GET /one HTTP/1.1",
        },
    ),
    (
        haproxy.layout,
        "tcplog",
        "2001:db8::7:47532 [30/Nov/2026:11:22:06.381] fe fe/<NOSRV> -1/-1/+0 +225 PR "
        "1/1/0/0/0 0/0",
        {
            "client": "2001:db8::7",
            "upstream_addr": "",
            "bytes_sent": "225",
            "duration_ms": "0",
        },
    ),
    (
        haproxy.layout,
        "clf",
        '192.0.2.7 - - [30/Nov/2026:11:22:07 +0000] "GET /deny HTTP/1.1" 429 225 "" "" '
        '35090 789 "fe" "fe" "<NOSRV>" 0 -1 -1 -1 0 PR-- 1 1 0 0 0 0 0 "" "" "r-4" "x"',
        {
            "client": "192.0.2.7",
            "message": "GET /deny HTTP/1.1",
            "status": "429",
            "bytes_sent": "225",
            "upstream_addr": "",
            "duration_ms": "0",
        },
    ),
    (
        haproxy.layout,
        "%Ts.%ms %ID %HM %ST %{+Q}[capture.req.hdr(1)] %[req.hdr(X-Request-ID)] %Ta",
        '1796037730.616 7F000001:B7B6_7F000001:4976_6B0D5C62_0023:5363 GET 200 "a | b" '
        "r-0 4",
        {
            "request_id": "r-0",
            "status": "200",
            "duration_ms": "4",
        },
    ),
    (
        apache.layout,
        "combined",
        '192.0.2.7 - - [30/Nov/2026:11:22:48 +0000] "GET /ok?q HTTP/1.1" 200 5 "-" '
        r'"sdk \"v2\" \\ x"',
        {
            "client": "192.0.2.7",
            "message": "GET /ok?q HTTP/1.1",
            "status": "200",
            "bytes_sent": "5",
            "user_agent": r"sdk \"v2\" \\ x",
        },
    ),
    (
        apache.layout,
        "%{begin:msec}t %v:%p %P %{tid}P %k %X %I %O %H %m %U%q %!200{Referer}i %D",
        "1796037768665 llm.example:80 23974 140126940411584 0 + 130 397 HTTP/1.1 GET "
        "/missing?x=1&y=%22 - 86",
        {
            "bytes_sent": "397",
            "duration_ms": "86",
            "message": "GET /missing HTTP/1.1",
        },
    ),
    (
        python_logging.layout,
        '%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s"',
        '192.0.2.7 - - [30/Nov/2026:05:26:44 +0000] "GET /ok HTTP/1.1" 200 8 "-" "curl"',
        {
            "client": "192.0.2.7",
            "message": "GET /ok HTTP/1.1",
            "status": "200",
            "bytes_sent": "8",
            "user_agent": "curl",
        },
    ),
    (
        nginx.layout,
        '$remote_addr "$request" $status $upstream_addr $upstream_status $req_id',
        '192.0.2.7 "GET / HTTP/1.1" 200 192.0.2.31:80, 192.0.2.32:80 502, 200 r1',
        {
            "client": "192.0.2.7",
            "message": "GET / HTTP/1.1",
            "status": "200",
            "upstream_addr": "192.0.2.31:80, 192.0.2.32:80",
            "request_id": "r1",
        },
    ),
]


@pytest.mark.parametrize(("layout", "template", "line", "expected"), REAL)
def test_a_line_is_read_by_its_template(
    layout: Callable[[str], Layout],
    template: str,
    line: str,
    expected: Mapping[str, str],
) -> None:
    """Columns come from what the notation means, without [fields]."""
    assert told(layout(template), line) == expected


@pytest.mark.parametrize(("layout", "template", "line", "_expected"), REAL)
def test_a_torn_line_is_not_read(
    layout: Callable[[str], Layout],
    template: str,
    line: str,
    _expected: object,
) -> None:
    """What lacks its first half is no line of the template."""
    assert read(layout(template), line[len(line) // 2 :]) == {}


def test_the_start_and_the_end_of_an_exchange_are_told_apart() -> None:
    """Envoy, HAProxy and Apache stamp the start, nginx and gunicorn the end."""
    assert envoy.layout("default").stamps[0].start
    assert haproxy.layout("httplog").stamps[0].start
    assert apache.layout("common").stamps[0].start
    assert not nginx.layout("$time_local $status x").stamps[0].start
    end = apache.layout("%{end:%d/%b/%Y:%T}t %s").stamps[0]
    assert (end.start, end.formats) == (False, ("%d/%b/%Y:%H:%M:%S",))


def test_a_quote_within_a_free_text_is_taken_where_one_reading_is_left() -> None:
    """Envoy does not escape the user agent; id and host behind it hold no quote."""
    line = (
        '[2026-11-30T05:26:38.269Z] "GET / HTTP/2" 200 - 0 5 1 1 "-" "a" "b" '
        f'"{ID}" "llm.example" "192.0.2.31:80"'
    )
    fields = read(envoy.layout("default"), line)
    assert fields["req_user_agent"] == 'a" "b'
    assert fields["req_x_request_id"] == ID


def test_json_formats_name_their_keys() -> None:
    """Of nginx, Envoy (nested, typed or as part of a configuration) and HAProxy."""
    made = nginx.layout(
        '{"t":"$time_iso8601","st":$status,"rt":$request_time,"x":"$http_x_request_id",'
        '"rq":"$request_method $uri","svc":"edge"}'
    )
    assert made.json is not None
    assert made.json.require == ("t", "st", "rt", "x", "rq")
    assert made.json.values == {"svc": ("edge",)}
    assert {column: one.sources for column, one in made.fields.items()} == {
        "status": ("st",),
        "duration_ms": ("rt",),
        "request_id": ("x",),
        "message": ("rq",),
    }
    assert made.fields["duration_ms"].scale == 1000
    config = {
        "access_log": {
            "typed_config": {
                "log_format": {
                    "json_format": {
                        "start": "%START_TIME%",
                        "req": {"id": "%REQ(X-REQUEST-ID)%"},
                        "code": "%RESPONSE_CODE%",
                    }
                }
            }
        }
    }
    inner = envoy.layout(config["access_log"])
    assert inner.fields["request_id"].sources == ("req.id",)
    assert inner.stamps[0].field == "start"
    assert envoy.layout(json.dumps(config["access_log"])) == inner


@pytest.mark.parametrize(
    ("layout", "template", "index"),
    [
        (envoy.layout, "[%START_TIME%] %REQ(:METHOD) x", 15),
        (haproxy.layout, "%ci %zz %ST", 4),
        (apache.layout, '%h "%r" %w', 8),
    ],
)
def test_what_a_dialect_does_not_know_is_told_with_its_place(
    layout: Callable[[str], Layout], template: str, index: int
) -> None:
    """The message can point at it."""
    with pytest.raises(TemplateError) as caught:
        layout(template)
    assert caught.value.index == index


@pytest.mark.parametrize(
    ("layout", "template"),
    [
        (nginx.layout, "$request"),
        (nginx.layout, "no variable"),
        (python_logging.layout, "%(message)s"),
        (python_logging.layout, "nothing"),
        (nginx.layout, '{"a": $status,}'),
        (envoy.layout, "{broken"),
    ],
)
def test_what_would_take_any_line_is_refused(
    layout: Callable[[str], Layout], template: str
) -> None:
    """As is a template that has no variable, or spells no JSON."""
    with pytest.raises(PatternError):
        layout(template)


# ---------------------------------------------------------------- Python, by itself

STYLES = [
    ("%(levelname)s:%(name)s:%(message)s", "%", None),
    ("%(asctime)s - %(name)s - %(levelname)s - %(message)s", "%", None),
    ("%(asctime)s %(levelname)-8s [%(threadName)s] %(message)s", "%", None),
    ("%(levelname)8s %(asctime)s.%(msecs)03d %(message)s", "%", "%Y-%m-%dT%H:%M:%S"),
    ("[%(asctime)s] %(process)d %(filename)s:%(lineno)4d %(message)s", "%", "%c"),
    ("{asctime} | {levelname:<8} | {name}:{lineno} - {message}", "{", None),
    ("{levelname:>8}|{asctime}|{message}", "{", "%d.%m.%y %I:%M:%S %p"),
    ("$asctime ${levelname} $name $message", "$", "%H:%M:%S"),
    ("%(created)f %(levelname)s %(message)s", "%", None),
    ("%(asctime)s %(levelname)s %(message)s", "%", "%Y-%m-%d %H:%M:%S %Z"),
    ('{"t": "%(asctime)s", "lvl": "%(levelname)s", "msg": "%(message)s"}', "%", None),
]


@pytest.mark.parametrize(("template", "style", "datefmt"), STYLES)
@pytest.mark.parametrize("level", [logging.DEBUG, logging.WARNING, logging.CRITICAL])
def test_python_reads_what_python_writes(
    template: str, style: str, datefmt: str | None, level: int
) -> None:
    """The interpreter's own formatter makes the line; level and message come back."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    kinds = {"%": "%", "{": "{", "$": "$"}
    handler.setFormatter(logging.Formatter(template, datefmt, kinds[style]))  # type: ignore[arg-type]
    text = f"request accepted rid={ID}: [x] - y"
    handler.handle(
        logging.LogRecord("gateway.server", level, "server.py", 31, text, None, None)
    )
    line = out.getvalue().rstrip("\n")
    layout = python_logging.layout(template, datefmt or "")
    if layout.json is not None:
        assert layout.json.require == ("t", "lvl", "msg")
        assert set(json.loads(line)) == {"t", "lvl", "msg"}
        return
    fields = read(layout, line)
    assert fields["message"] == text
    if "levelname" in template:
        assert fields["level"] == logging.getLevelName(level)
    assert python_logging.style(template) == style


@pytest.mark.parametrize(
    ("format_", "regex", "spelling"),
    [
        ("%Y-%m-%dT%T", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "%Y-%m-%dT%H:%M:%S"),
        ("%s.%3f", r"\d{9,10}\.\d{3}", "epoch_s"),
        ("%d/%b/%Y %R %%", r"\d\d/[A-Z][a-z]{2}/\d{4} \d\d:\d\d %", None),
        ("%H:%M:%S %Z", r"\d\d:\d\d:\d\d", "%H:%M:%S"),
    ],
)
def test_time_formats_of_c_are_read(
    format_: str, regex: str, spelling: str | None
) -> None:
    """As a regex, and as the spelling by which the stamp is read."""
    one = spelt(format_)
    assert one.regex == regex
    assert spelling is None or one.format == spelling
    assert re.fullmatch(one.regex, one.example)
    assert re.fullmatch(one.tail, one.tail_example)


def test_the_example_of_a_template_is_taken_by_it() -> None:
    """Of every variable that is known, beside others: drafts rest on it."""
    known = {
        nginx.layout: [f"${name}" for name in sorted(nginx.KNOWN)],
        haproxy.layout: [f"%{name}" for name in sorted(haproxy.ALIASES)],
        apache.layout: [f"%{name}" for name in sorted(apache.DIRECTIVES)],
        envoy.layout: [f"%{name}%" for name in sorted(envoy.OPERATORS)],
        python_logging.layout: [
            f"%({name})s" for name in sorted(python_logging.ATTRIBUTES)
        ],
    }
    for layout, names in known.items():
        for separator in (" ", "|", '" "'):
            for first, second in pairwise([*names, *reversed(names)]):
                if first == second:
                    continue
                made = layout(f'"{first}{separator}{second}" end')
                assert read(made, made.example) or not made.names, made.example


def test_what_tells_the_end_stands_in_the_order_that_signatures_know() -> None:
    """A format of one's own may have it in any order; a status alone tells nothing."""
    one = envoy.layout(
        "%RESPONSE_CODE% %RESPONSE_CODE_DETAILS% %RESPONSE_FLAGS_LONG% "
        "%RESPONSE_FLAGS% %UPSTREAM_TRANSPORT_FAILURE_REASON% %START_TIME%"
    )
    found = {name: (field.sources, field.along) for name, field in one.reason.items()}
    assert list(found) == ["flags", "details", "transport", "status"]
    assert found["flags"] == (("response_flags_long", "response_flags"), False)
    assert found["status"] == (("response_code",), True)
    assert envoy.layout("%START_TIME% %RESPONSE_CODE%").reason == {}
    other = haproxy.layout("%ST %tsc %b/%s [%tr]").reason
    assert list(other) == ["state", "server", "status"]
    assert (other["state"].chars, other["server"].along) == (2, True)
    limits = nginx.layout("$time_local $status $limit_req_status").reason
    assert list(limits) == ["limit_req", "status"]
    assert (limits["limit_req"].values or {})["PASSED"] == "-"
