"""Ways in which containers, shippers and syslog wrap a line; each is a function of it."""

import csv
import html
import io
import json
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 30, 5, 26, 38, 150_000, tzinfo=UTC)


def at(number: int) -> datetime:
    """Give when line `number` was written: two a second."""
    return START + timedelta(milliseconds=500 * number)


def us(number: int) -> int:
    """Give that in us since 1970."""
    return int(at(number).timestamp() * 1_000_000)


def iso(number: int) -> str:
    """Give that as RFC 3339 with nanoseconds."""
    return f"{at(number):%Y-%m-%dT%H:%M:%S.%f}123Z"


def _ms(number: int) -> str:
    return f"{iso(number)[:-7]}Z"


def _json(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _filebeat(line: str, number: int) -> str:
    return json.dumps(
        {
            "@timestamp": _ms(number),
            "message": line,
            "log": {"offset": number * 100, "file": {"path": r"C:\logs\gw.log"}},
            "host": {"name": "gw-1"},
        }
    )


def _journald(line: object, number: int) -> str:
    return _json(
        __REALTIME_TIMESTAMP=str(us(number)),
        _HOSTNAME="gw-1",
        PRIORITY="6",
        SYSLOG_IDENTIFIER="python3",
        _SYSTEMD_UNIT="gw.service",
        _PID="812",
        MESSAGE=line,
    )


def _fluentbit_stdout(line: str, number: int) -> str:
    body = f'"stream"=>"stderr", "_p"=>"F", "log"=>{json.dumps(line)}'
    return f"[{number}] kube.gw: [[{us(number) / 1e6:.9f}, {{}}], {{{body}}}]"


def _cloudwatch(line: str, number: int) -> str:
    return _json(
        logStreamName="gw/1",
        timestamp=us(number) // 1000,
        message=line,
        ingestionTime=us(number) // 1000 + 10,
        eventId=str(number),
    )


WRAPS: dict[str, Callable[[str, int], str]] = {
    "docker": lambda line, n: _json(log=line + "\n", stream="stdout", time=iso(n)),
    "cri": lambda line, n: f"{iso(n)} stdout F {line}",
    "kubectl": lambda line, n: f"[pod/gw-0/gw] {iso(n)} {line}",
    "kubectl_prefix": lambda line, _: f"[pod/gw-0/gw] {line}",
    "stamped": lambda line, n: f"{iso(n)} {line}",
    "compose": lambda line, _: f"\x1b[36mgw-1  | \x1b[0m{line}",
    "compose_t": lambda line, n: f"gw  | {iso(n)} {line}",
    "stern": lambda line, _: f"harness-6d5f7b9c4-x2x7q gateway {line}",
    "stern_json": lambda line, _: _json(
        message=line, podName="gw-0", containerName="gw"
    ),
    "journald": _journald,
    "journald_bytes": lambda line, n: _journald(list(line.encode()), n),
    "syslog": lambda line, n: f"<14>{at(n):%b %d %H:%M:%S} gw-1 gw[812]: {line}",
    "syslog_iso": lambda line, n: f"{iso(n)[:-4]}+00:00 gw-1 gw[812]: {line}",
    "short_full": lambda line, n: (
        f"{at(n):%a %Y-%m-%d %H:%M:%S} UTC gw-1 gw[812]: {line}"
    ),
    "short_unix": lambda line, n: f"{us(n) / 1e6:.6f} gw-1 gw[812]: {line}",
    "syslog5424": lambda line, n: f"<14>1 {_ms(n)} gw-1 gw 812 - - {line}",
    "filebeat": _filebeat,
    "elastic": lambda line, n: (
        f'{{"_index":"gw","_id":"{n}","_source":{_filebeat(line, n)}}}'
    ),
    "fluentbit": lambda line, n: _json(
        date=us(n) / 1e6,
        stream="stderr",
        _p="F",
        log=line,
        kubernetes={"pod_name": "gw-0", "container_name": "gw"},
    ),
    "fluentbit_stdout": _fluentbit_stdout,
    "fluentbit_array": lambda line, n: json.dumps(["gw", [us(n) / 1e6, {"log": line}]]),
    "fluentd_file": lambda line, n: f"{_ms(n)}\tkube.gw\t{_json(log=line)}",
    "loki": lambda line, n: _json(
        labels={"app": "gw", "pod": "gw-0"}, line=line, timestamp=iso(n)
    ),
    "cloudwatch": _cloudwatch,
    "grep": lambda line, number: f"/var/log/harness.log:{number + 7}:{line}",
    "labelled": lambda line, _: f"gw-1: {line}",
    "numbered": lambda line, number: f"{number + 1:6d}\t{line}",
    "quoted": lambda line, _: f"> {line}",
    "indented": lambda line, _: f"    {line}",
    "uptime": lambda line, number: f"[  {number + 7}.505308] gw-1 harness[42]: {line}",
    "cloudwatch_tail": lambda line, n: f"{iso(n)[:-4]}+00:00 gw/1 {line}",
    "gcloud": lambda line, n: _json(
        insertId=str(n),
        logName="gw",
        resource={"labels": {"pod_name": "gw-0", "container_name": "gw"}},
        textPayload=line,
        timestamp=iso(n),
    ),
}


def wrapped(lines: Sequence[str], *ways: str) -> str:
    """Give a file of lines wrapped in these ways, the outermost first."""
    text = ""
    for number, whole in enumerate(lines):
        line = whole
        for way in reversed(ways):
            line = WRAPS[way](line, number)
        text += line + "\n"
    return text


def _pretty(document: object) -> bytes:
    return json.dumps(document, indent=4, ensure_ascii=False).encode() + b"\n"


def _export(lines: Sequence[str]) -> bytes:
    """Write every other message as a binary field."""
    data = b""
    for number, line in enumerate(lines):
        data += b"__CURSOR=s=1;i=%d\n__REALTIME_TIMESTAMP=%d\n" % (number, us(number))
        data += b"_HOSTNAME=gw-1\nSYSLOG_IDENTIFIER=python3\n_PID=812\n"
        text = line.encode()
        if number % 2:
            data += b"MESSAGE=" + text + b"\n\n"
        else:
            data += b"MESSAGE\n" + struct.pack("<Q", len(text)) + text + b"\n\n"
    return data


def _all(way: str, lines: Sequence[str]) -> list[object]:
    return [json.loads(WRAPS[way](line, number)) for number, line in enumerate(lines)]


def _loki(lines: Sequence[str]) -> bytes:
    values = [[str(us(n) * 1000), line] for n, line in enumerate(lines)]
    result = [{"stream": {"pod": "gw-0", "container": "gw"}, "values": values}]
    data = {"resultType": "streams", "result": result, "stats": {}}
    return json.dumps({"status": "success", "data": data}).encode()


def _subscription(lines: Sequence[str]) -> bytes:
    """Write one object an event with nothing between, as a delivery stream does."""
    found = [
        {
            "messageType": "DATA_MESSAGE",
            "logGroup": "/gw",
            "logStream": "gw/1",
            "logEvents": [{"id": str(n), "timestamp": us(n) // 1000, "message": line}],
        }
        for n, line in enumerate(lines)
    ]
    return "".join(map(json.dumps, found)).encode()


def _otlp(lines: Sequence[str]) -> bytes:
    records = [
        {"timeUnixNano": str(us(n) * 1000), "body": {"stringValue": line}}
        for n, line in enumerate(lines)
    ]
    scopes = [{"scope": {}, "logRecords": records}]
    return json.dumps({"resourceLogs": [{"scopeLogs": scopes}]}).encode()


def _csv(lines: Sequence[str]) -> bytes:
    """Write what Kibana exports: local time, values in quotes that may hold line ends."""
    found = io.StringIO()
    table = csv.writer(found, quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writerow(["@timestamp", "message", "host.name"])
    for n, line in enumerate(lines):
        table.writerow([f"{at(n):%b %d, %Y @ %H:%M:%S.%f}"[:-3], line, "gw-1"])
    return found.getvalue().encode()


def _verbose(lines: Sequence[str]) -> bytes:
    return "".join(
        f"Mon 2026-11-30 13:26:38.1 CST [s=2f;i=5b;b=9c;m=77;t={us(number):x};x=a]\n"
        f"    SYSLOG_IDENTIFIER=harness\n    MESSAGE={line}\n    _PID=42\n"
        for number, line in enumerate(lines)
    ).encode()


def _newest_first(lines: Sequence[str]) -> bytes:
    """Write what a query gives: the newest line is the first."""
    return "".join(reversed(wrapped(lines, "loki").splitlines(keepends=True))).encode()


DOCUMENTS: dict[str, Callable[[Sequence[str]], bytes]] = {
    "journal_export": _export,
    "journal_pretty": lambda lines: b"".join(map(_pretty, _all("journald", lines))),
    "cloudwatch": lambda lines: _pretty(
        {"events": _all("cloudwatch", lines), "searchedLogStreams": []}
    ),
    "cloudwatch_line": lambda lines: json.dumps(
        {"events": _all("cloudwatch", lines)}
    ).encode(),
    "subscription": _subscription,
    "loki": _loki,
    "elastic": lambda lines: _pretty(
        {"took": 1, "hits": {"total": 2, "hits": _all("elastic", lines)}}
    ),
    "gcloud": lambda lines: _pretty(_all("gcloud", lines)),
    "otlp": _otlp,
    "verbose": _verbose,
    "tail": lambda lines: "\n".join(["==> a.log <==", *lines, ""]).encode(),
    "html": lambda lines: html.escape("\n".join([*lines, ""])).encode(),
    "typeset": lambda lines: "\n".join([*lines, ""]).replace(" ", "\u00a0").encode(),
    "returns": lambda lines: "\r".join([*lines, ""]).encode(),
    "wrapped": lambda lines: b"".join(
        f"{line[at : at + 70]}\n".encode()
        for line in lines
        for at in range(0, len(line), 70)
    ),
    "csv": _csv,
    "newest_first": _newest_first,
}
