"""What configurations among the logs say of them is used, and nothing more."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from faultlayer import detect, found_formats, lines, parse
from faultlayer.blocks import Block
from faultlayer.dialects import haproxy_conf, python_conf
from faultlayer.find import find

HAPROXY = """
defaults
    mode http
    option httplog
frontend public
    bind :443
    capture request header Host len 40
    capture request header X-Request-ID len 64
    capture request header X-User-ID len 20
    capture response header X-Quota-Used len 10
frontend inner
    http-request capture req.hdr(X-Request-ID) len 64
    log-format "%ci:%cp [%tr] %ft %b/%s %Ta %ST %B %tsc {%[capture.req.hdr(0)]} %{+Q}r"
frontend plain
    bind :80
"""
YAML = """version: 1
formatters:
  plain:
    format: '%(asctime)s.%(msecs)03d [%(levelname)-8s] <%(request_id)s> %(name)s # %(message)s'
    datefmt: '%d.%m.%Y %H:%M:%S'
  usual:
    format: '%(asctime)s - %(name)s - %(levelname)s - %(message)s'
"""
INI = """[formatter_std]
format={asctime} ~{levelname}~ {correlation_id} {message}
datefmt=%Y%m%d-%H%M%S
style={
[formatter_other]
format=%(message)s
"""
PYTHON = """LOGGING = {"formatters": {"app": {
    "datefmt": "%H:%M:%S %d/%m/%Y",
    "format": "%(asctime)s !%(levelname)s! "
              "[%(request_id)s] %(message)s",
}, "json": {"fmt": '{"at": "%(created)f", "message": "%(message)s"}'}}}
"""
CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
data:
  nginx.conf: |
    log_format gwlog '$time_iso8601|$request_id|$status|'
                     '$request_time|$request';
    access_log /var/log/nginx/map.log gwlog;
"""
VALUES = """replicaCount: 2
snippets:
  http: "log_format third '$msec~$status~$http_x_request_id~$request';\\naccess_log x third;\\n"
"""
LINES = {
    "map.log": "2026-11-30T05:28:37+00:00|r-6|504|60.001|POST /v1/chat HTTP/1.1",
    "third.log": "1796016517.250~502~r-7~POST /v1/chat/completions HTTP/1.1",
    "haproxy.log": (
        '10.0.3.7:46948 [30/Nov/2026:05:28:36.884] public~ e/m1 0/0/1/4/104 504 73 - - '
        'sH-- 1/1/0/0/0 0/0 {llm.example|r-1|u-9} {0.42} "GET /v1/models HTTP/1.1"'
    ),
    "inner.log": (
        "10.0.3.7:46948 [30/Nov/2026:05:28:36.884] inner e/m1 104 200 73 ---- {r-2} "
        '"GET /v1/models HTTP/1.1"'
    ),
    "gw.log": (
        "30.11.2026 05:28:37.884 [ERROR   ] <r-3> gw # Request failed with status 500\n"
        'Traceback (most recent call last):\n  File "x.py", line 1, in f\nKeyError: 1'
    ),
    "gw2.log": "20261130-052837 ~WARNING~ r-4 plugin_failed plugin=rag",
    "app.log": "05:28:37 30/11/2026 !ERROR! [r-5] Request failed with status 503",
    "usual.log": "2026-11-30 05:28:37,884 - harness.server - INFO - up",
}  # fmt: skip


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, pl.DataFrame]:
    """Read logs beside their configurations: events by the name of the file."""
    folder = tmp_path_factory.mktemp("found")
    logs = folder / "logs"
    logs.mkdir()
    confs = {
        "haproxy.cfg": HAPROXY,
        "logging.yaml": YAML,
        "logging.ini": INI,
        "settings.py": PYTHON,
        "configmap.yaml": CONFIG_MAP,
        "values.yaml": VALUES,
    }
    for name, text in {**confs, **LINES}.items():
        (logs / name).write_text(text + "\n")
    sources = find([str(logs)]).sources
    known = found_formats.among(sources, parse.load_definitions())
    events = {}
    for source in sources:
        name = Path(source.path).name
        if name in LINES:
            places = folder / f"{name}.events", folder / f"{name}.rejects"
            parse.parse_source(
                source, parse.sniff(source, known), known, parse.ParseOptions(2026),
                *places,
            )  # fmt: skip
            assert pl.read_parquet(places[1]).is_empty(), name
            events[name] = pl.read_parquet(places[0])
    return events


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "haproxy.log",
            {
                "kinds": ["access", "upstream_timeout"],
                "request_id": "r-1",
                "user_id": "u-9",
                "quota_amount": 0.42,
                "status": 504,
            },
        ),
        ("inner.log", {"kind": "access", "request_id": "r-2", "duration_ms": 104.0}),
        (
            "gw.log",
            {
                "kind": "request_failed",
                "request_id": "r-3",
                "severity": "error",
                "lines": 4,
            },
        ),
        ("gw2.log", {"kind": "plugin_failed", "request_id": "r-4"}),
        ("app.log", {"request_id": "r-5", "severity": "error"}),
        ("map.log", {"request_id": "r-6", "status": 504, "duration_ms": 60001.0}),
        ("third.log", {"request_id": "r-7", "status": 502}),
    ],
)
def test_a_configuration_tells_the_fields(
    read: Mapping[str, pl.DataFrame], name: str, expected: Mapping[str, object]
) -> None:
    """Captured headers have names, and loggers the ids that their formats print."""
    event = read[name].row(0, named=True)
    assert len(read[name]) == 1
    assert {key: event[key] for key in expected} == expected
    assert event["ts_raw"] is not None


def test_a_configuration_map_is_read_whole() -> None:
    """What stands in it as a text is the proxy's, all around it YAML's."""
    definitions = parse.load_definitions()
    found = detect.choose(
        lines.lines_of(Block(CONFIG_MAP.encode(), 0, 1, last=True)), definitions
    )
    assert set(found.formats[""]) >= {"nginx_conf", "yaml_settings"}


def test_what_a_format_knows_is_left_to_it(read: Mapping[str, pl.DataFrame]) -> None:
    """A layout that tells no more than a built-in format is not used."""
    event = read["usual.log"].row(0, named=True)
    assert event["component"] == "harness"
    assert event["attrs"] == '{"logger":"harness.server"}'


def test_formats_of_python_with_their_dates() -> None:
    """The datefmt is that of the same formatter, above or below its format."""
    date = {
        one.name: (one.line, one.datefmt)
        for conf in (YAML, INI, PYTHON)
        for one in python_conf.formats(conf)
    }
    assert date == {
        "plain": (4, "%d.%m.%Y %H:%M:%S"),
        "usual": (7, ""),
        "std": (2, "%Y%m%d-%H%M%S"),
        "app": (3, "%H:%M:%S %d/%m/%Y"),
        "json": (5, ""),
    }
    assert list(python_conf.formats("format: '%h %l %u %t'\n")) == []


def test_only_what_differs_of_haproxy() -> None:
    """A frontend without captures logs as every HAProxy does."""
    found = list(haproxy_conf.layouts(HAPROXY))
    assert [(line, name) for line, name, _ in found] == [(5, "public"), (13, "inner")]
    assert list(haproxy_conf.layouts("defaults\n option httplog\nlisten a\n")) == []
