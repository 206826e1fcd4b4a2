"""One file dropped into a folder is enough to read a log that nobody knew."""

import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from faultlayer.cli import run

ID = "1b8e3f60-52c4-4f6e-9d0a-7c2e5a914d33"
HEAD = """[format]
name = "own"
layer = "harness"
component = "edge"
title = "our edge"
"""


class Dialect(NamedTuple):
    """A pattern in some notation, a line that it makes, and what the event has to be."""

    pattern: str
    line: str
    event: Mapping[str, object]


DIALECTS = {
    "nginx": Dialect(
        "log_format = '$msec|$http_x_request_id|$status|$request_time|$request'",
        f"1796016161.250|{ID}|504|30.001|POST /v1/chat HTTP/1.1",
        {"duration_ms": 30001.0, "end": "05:22:41.250000"},
    ),
    "nginx_json": Dialect(
        'escape = "json"\n'
        """log_format = '{"t":"$time_iso8601","c":$status,"d":$request_time,"""
        """"i":"$http_x_request_id","r":"$request","svc":"edge"}'""",
        '{"t":"2026-11-30T05:22:41+00:00","c":504,"d":30.001,"i":"' + ID + '",'
        '"r":"POST /v1/chat HTTP/1.1","svc":"edge"}',
        {"duration_ms": 30001.0, "end": "05:22:41"},
    ),
    "envoy": Dialect(
        'envoy_format = \'[%START_TIME%] own "%REQ(:METHOD)% %REQ(:PATH)% %PROTOCOL%" '
        "%RESPONSE_CODE% %RESPONSE_FLAGS% %DURATION% %REQ(X-REQUEST-ID)%'",
        f'[2026-11-30T05:22:41.250Z] own "POST /v1/chat HTTP/1.1" 504 UT 30001 {ID}',
        {"duration_ms": 30001.0, "end": "05:23:11.251000"},
    ),
    "envoy_json": Dialect(
        "[pattern.envoy_format.json_format]\n"
        'begun = "%START_TIME(%s.%3f)%"\ncode = "%RESPONSE_CODE%"\n'
        'took = "%DURATION%"\nrequest = "%REQ(:METHOD)% %REQ(:PATH)% %PROTOCOL%"\n'
        'ids.request = "%REQ(X-REQUEST-ID)%"',
        '{"begun":"1796016161.250","code":504,"took":30001,'
        '"request":"POST /v1/chat HTTP/1.1","ids":{"request":"' + ID + '"}}',
        {"duration_ms": 30001.0, "end": "05:23:11.251000"},
    ),
    "haproxy": Dialect(
        "haproxy_format = '%tr own %ST %Ta %{+Q}r %[req.hdr(X-Request-ID)]'",
        f'30/Nov/2026:05:22:41.250 own 504 30001 "POST /v1/chat HTTP/1.1" {ID}',
        {"duration_ms": 30001.0, "end": "05:23:11.251000"},
    ),
    "apache": Dialect(
        "apache_format = '%{%F %T}t.%{msec_frac}t %>s %D \"%r\" %{X-Request-ID}i'",
        f'2026-11-30 05:22:41.250 504 30001000 "POST /v1/chat HTTP/1.1" {ID}',
        {"duration_ms": 30001.0, "end": "05:23:11.251000"},
    ),
    "gunicorn": Dialect(
        """python_format = 'own %(t)s "%(r)s" %(s)s %(M)s %({x-request-id}i)s'""",
        f'own [30/Nov/2026:05:22:41 +0000] "POST /v1/chat HTTP/1.1" 504 30001 {ID}',
        {"duration_ms": 30001.0, "end": "05:22:41"},
    ),
}


def analyzed(folder: Path, *arguments: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Analyze and give events and sources."""
    case = folder / "case"
    command = ["analyze", *arguments, "--case", str(case), "--quiet"]
    with pytest.raises(SystemExit) as end:
        run(command)
    assert end.value.code == 0
    events = pl.read_parquet(case / "events" / "*.parquet")
    return events, pl.read_parquet(case / "sources.parquet")


@pytest.mark.parametrize("name", DIALECTS)
def test_a_format_dropped_into_a_folder_reads_a_log(name: str, tmp_path: Path) -> None:
    """In each notation: status, times, id and request line without a word on fields."""
    one = DIALECTS[name]
    (tmp_path / "formats").mkdir()
    (tmp_path / "formats" / "own.toml").write_text(
        f'{HEAD}kind = "access"\n[[pattern]]\n{one.pattern}\n'
        f"[[sample]]\nline = '''{one.line}'''\nexpect = {{ status = 504 }}\n"
    )
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "edge.log").write_text(f"{one.line}\n" * 3)
    events, sources = analyzed(
        tmp_path, str(tmp_path / "logs"), "--formats", str(tmp_path / "formats")
    )
    assert sources.item(0, "format") == "own"
    assert sources.item(0, "reason") == "own: 3 of 3 lines (our edge)"
    assert len(events) == 3
    event = events.row(0, named=True)
    assert event["kind"] == "access"
    assert event["status"] == 504
    assert event["request_id"] == ID
    assert event["message"] == "POST /v1/chat HTTP/1.1"
    assert event["duration_ms"] == one.event["duration_ms"]
    assert event["ts_raw"].time().isoformat() == one.event["end"]


def test_a_logging_format_reads_an_applications_log(tmp_path: Path) -> None:
    """Python's, with a datefmt, an id of its own, and tracebacks."""
    line = f"30.11.2026 05:22:41 WARNING [{ID}] pool exhausted"
    file = tmp_path / "own.toml"
    file.write_text(
        f'{HEAD}framing = "traceback"\n[[pattern]]\n'
        "python_format = '%(asctime)s %(levelname)s [%(request_id)s] %(message)s'\n"
        'datefmt = "%d.%m.%Y %H:%M:%S"\n'
        f"[[sample]]\nline = '{line}'\nexpect = {{ severity = 'warning' }}\n"
    )
    log = tmp_path / "app.log"
    trace = "Traceback (most recent call last):\n  File 'x', line 1\nKeyError: 1\n"
    log.write_text(f"{line}\n{line}\n{trace}")
    events, _ = analyzed(tmp_path, str(log), "--formats", str(file))
    assert events.get_column("lines").to_list() == [1, 4]
    event = events.row(0, named=True)
    assert (event["severity"], event["request_id"]) == ("warning", ID)
    assert event["ts_raw"].isoformat() == "2026-11-30T05:22:41"
    assert event["message"] == "pool exhausted"


def test_a_line_is_explained_by_a_format_of_ones_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its event, or where the pattern stops to fit."""
    file = tmp_path / "own.toml"
    file.write_text(
        f"{HEAD}[[pattern]]\nhaproxy_format = '%tr own %ST %Ta'\n"
        "[[sample]]\nline = '30/Nov/2026:05:22:41.250 own 504 30001'\n"
    )
    for line, said in (
        ("30/Nov/2026:05:22:41.250 own 503 7", "status           503\n"),
        ("30/Nov/2026:05:22:41.250 own x03 7", "^ does not fit, after 29 characters"),
    ):
        capfd.readouterr()
        assert run(["formats", "explain", line, "--formats", str(file)]) == 0
        assert said in capfd.readouterr().out


def test_an_own_format_goes_before_a_built_in_one(tmp_path: Path) -> None:
    """It is for these logs; both take all lines, and the draft says so."""
    log, file = tmp_path / "a.log", tmp_path / "own.toml"
    log.write_text(PLAIN * 3)
    command = ["formats", "new", "--apache", "combined", "--sample-from", str(log)]
    assert run([*command, "--out", str(file)]) == 0
    assert '"nginx_combined"' in file.read_text("utf-8")
    _, sources = analyzed(tmp_path, str(log), "--formats", str(file))
    assert sources.item(0, "format") == "own"


def test_a_wrapper_of_ones_own_is_used_and_proved(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It lies in the same folder; a wrong one is told with its place."""
    file = tmp_path / "own" / "shipper.toml"
    file.parent.mkdir()
    text = (
        '[wrapper]\nname = "shipper"\ntitle = "our shipper"\n'
        "regex = '@@(?P<time>\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z) (?P<host>\\S+) (?P<text>.*)'\n"
        "[[sample]]\nline = '@@2026-11-30T05:22:41.250Z gw-1 x'\n"
        "expect = { host = 'gw-1', text = 'x' }\n[[reject]]\nline = 'x'\n"
    )
    file.write_text(text)
    line = '192.0.2.7 - - [30/Nov/2026:05:26:44 +0000] "GET /x HTTP/1.1" 200 8 "-" "c"'
    (tmp_path / "a.log").write_text(f"@@2026-11-30T05:26:44.250Z gw-1 {line}\n" * 3)
    arguments = [str(tmp_path / "a.log"), "--formats", str(file.parent)]
    events, sources = analyzed(tmp_path, *arguments)
    assert sources.item(0, "wrapper") == "shipper"
    assert (len(events), sources.item(0, "format")) == (3, "nginx_combined")
    capfd.readouterr()
    file.write_text(text.replace("host = 'gw-1'", "host = 'gw-2'"))
    assert run(["formats", "test", str(file)]) == 7
    assert "shipper.toml:7:20: host is 'gw-1', not 'gw-2'" in capfd.readouterr().out


def test_a_wrong_format_of_ones_own_stops_the_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Before anything is read, with all that is wrong."""
    (tmp_path / "own.toml").write_text(
        f"{HEAD}[[pattern]]\nregex = '(?P<a>(?:x+)+)y'\n"
        "[[sample]]\nline = 'xxxxy'\nexpect = { status = 3 }\n"
    )
    (tmp_path / "a.log").write_text("xy\n")
    arguments = ["--formats", str(tmp_path), "--case", str(tmp_path / "case")]
    assert run(["analyze", str(tmp_path / "a.log"), *arguments]) == 7
    said = capfd.readouterr().err
    assert "tries endless ways" in said
    assert "own.toml:10:21: status is null, not 3" in said
    assert not (tmp_path / "case").exists()


# ---------------------------------------------------------------- among the logs

CONF = """http {
    log_format gw '$msec|$http_x_request_id|$status|$request_time|'
                  '$upstream_header_time|$upstream_response_time|$request';
    log_format plain '$remote_addr - $remote_user [$time_local] "$request" '
                     '$status $body_bytes_sent "$http_referer" "$http_user_agent"';
    log_format any '$request';
    server { access_log /var/log/nginx/gw.log gw; }
}
"""
GW = f"1796016161.250|{ID}|504|30.001|-|30.000|POST /v1/chat HTTP/1.1\n"
PLAIN = '192.0.2.7 - - [30/Nov/2026:05:26:44 +0000] "GET /x HTTP/1.1" 200 8 "-" "c"\n'


def _bundle(folder: Path, files: Mapping[str, str]) -> Path:
    """Pack files into an archive, as they come from an incident."""
    archive = folder / "bundle.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for name, text in files.items():
            file = folder / "in" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            packed.add(file, name)
    return archive


def _format_of(sources: pl.DataFrame, name: str) -> tuple[str, int, str]:
    row = sources.filter(pl.col("path").str.ends_with(name)).row(0, named=True)
    return row["format"], row["rejects"], row["reason"]


def test_a_configuration_in_the_archive_is_used(tmp_path: Path) -> None:
    """Its format reads the log that it names; what is built in stays; it is no reject."""
    files = {
        "etc/nginx/nginx.conf": CONF,
        "var/log/gw.log": GW * 3,
        "var/log/plain.log": PLAIN * 3,
    }
    events, sources = analyzed(tmp_path, str(_bundle(tmp_path, files)))
    found = _format_of(sources, "gw.log")
    assert found[:2] == ("nginx:gw", 0)
    assert "log_format gw of" in found[2]
    assert found[2].endswith("nginx.conf:2, for /var/log/nginx/gw.log)")
    assert _format_of(sources, "plain.log")[:2] == ("nginx_combined", 0)
    assert _format_of(sources, "nginx.conf")[:2] == ("nginx_conf", 0)
    event = events.filter(pl.col("status") == 504).row(0, named=True)
    assert (event["kind"], event["request_id"]) == ("access", ID)
    assert (event["duration_ms"], event["upstream_response_ms"]) == (30001.0, 30000.0)
    assert (event["upstream_hops"], event["forwarded"]) == (1, False)


def test_a_log_older_than_its_configuration_is_not_read_by_it(tmp_path: Path) -> None:
    """Lines with one field more are rejects, and not requests with other times."""
    older = GW.replace("|30.000|", "|30.000|192.0.2.31:8000|")
    files = {"nginx.conf": CONF, "gw.log": GW * 3 + older * 2}
    events, sources = analyzed(tmp_path, str(_bundle(tmp_path, files)))
    assert _format_of(sources, "gw.log")[:2] == ("nginx:gw", 2)
    assert events.get_column("message").drop_nulls().str.contains("192.0").sum() == 0


def test_without_the_configuration_the_log_is_not_known(tmp_path: Path) -> None:
    """The test above would see it if the configuration did nothing."""
    (tmp_path / "gw.log").write_text(GW * 3)
    _, sources = analyzed(tmp_path, str(tmp_path / "gw.log"))
    assert _format_of(sources, "gw.log")[1] == 3


OTHERS = {
    "haproxy.cfg": (
        'defaults\n  log-format "%tr own %ST %Ta %r %[req.hdr(X-Request-ID)]"\n',
        f"30/Nov/2026:05:22:41.250 own 504 30001 POST /v1/chat HTTP/1.1 {ID}\n",
    ),
    "httpd.conf": (
        'LogFormat "%{%F %T}t own %>s %D \\"%r\\" %{X-Request-ID}i" own\n',
        f'2026-11-30 05:22:41 own 504 30001000 "POST /v1/chat HTTP/1.1" {ID}\n',
    ),
    "envoy.json": (
        '{"access_log": [{"typed_config": {"log_format": {"text_format_source": '
        '{"inline_string": "own %START_TIME% %RESPONSE_CODE% %DURATION% '
        '%REQ(X-REQUEST-ID)%\\n"}}}}]}\n',
        f"own 2026-11-30T05:22:41.250Z 504 30001 {ID}\n",
    ),
    "mesh.yaml": (
        "data:\n  mesh: |-\n    accessLogFile: /dev/stdout\n"
        '    accessLogFormat: "own %START_TIME% %RESPONSE_CODE% %DURATION% '
        '%REQ(X-REQUEST-ID)%\\n"\n',
        f"own 2026-11-30T05:22:41.250Z 504 30001 {ID}\n",
    ),
    "bootstrap.yaml": (
        "access_log:\n- name: envoy.access_loggers.file\n  typed_config:\n"
        "    log_format:\n      json_format:\n        at: '%START_TIME%'\n"
        '        code: "%RESPONSE_CODE%"\n        took: "%DURATION%"  # ms\n'
        "        req:\n          id: '%REQ(X-REQUEST-ID)%'\n    path: /dev/stdout\n",
        '{"at":"2026-11-30T05:22:41.250Z","code":"504","took":"30001",'
        '"req":{"id":"' + ID + '"}}\n',
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_configurations_of_other_proxies_are_used(name: str, tmp_path: Path) -> None:
    """HAProxy's, Apache's and Envoy's."""
    conf, line = OTHERS[name]
    events, sources = analyzed(
        tmp_path, str(_bundle(tmp_path, {name: conf, "edge.log": line * 3}))
    )
    assert _format_of(sources, "edge.log")[1] == 0
    event = events.filter(pl.col("request_id") == ID).row(0, named=True)
    assert (event["kind"], event["status"]) == ("access", 504)
    assert event["duration_ms"] == 30001.0


# ---------------------------------------------------------------- drafts
