"""A real nginx writes each `log_format`; what is parsed is what its client saw."""

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime

import polars as pl
import pytest
from tests import nginx_server
from tests.nginx_server import Seen

from faultlayer import assets, formats
from faultlayer.analyze import AnalyzeOptions, analyze
from faultlayer.dialects.nginx import KNOWN

pytestmark = [
    pytest.mark.nginx,
    pytest.mark.skipif(nginx_server.BINARY is None, reason="there is no nginx"),
]

# Formats that nobody knows: their configuration lies among the logs.
OWN = {
    "own_bars": (
        "'$msec|$remote_addr|$http_x_request_id|$status|$body_bytes_sent|$request_time|'"
        " '$upstream_connect_time|$upstream_header_time|$upstream_response_time|$request'"
    ),
    "own_json": (
        'escape=json \'{"t":"$time_iso8601","ms":$msec,"st":$status,\''
        ' \'"took":$request_time,"uc":"$upstream_connect_time",\''
        ' \'"uh":"$upstream_header_time","ur":"$upstream_response_time",\''
        ' \'"rq":"$request","x":"$http_x_request_id","sz":$body_bytes_sent}\''
    ),
    "own_json_unescaped": (
        '\'{"at":"$time_local","code":"$status","rt":"$request_time",\''
        ' \'"verb":"$request_method","path":"$request_uri",\''
        ' \'"id":"$http_x_request_id","up":"$upstream_response_time"}\''
    ),
}
# Every variable whose values are known, but those of other modules and of ingress.
_ELSEWHERE = {
    "realip_remote_addr", "req_id", "namespace", "ingress_name", "service_name",
    "proxy_upstream_name", "proxy_alternative_upstream_name",
}  # fmt: skip
OWN["own_all"] = " ".join(
    f"'|{name}=${{{name}}}'"
    for name in sorted({*KNOWN, "http_x_request_id"} - _ELSEWHERE)
)
_CLOSE_S = 0.25  # nginx's clock is cached, the client's includes the way


def _built_in() -> dict[str, tuple[str, str]]:
    """Give each `log_format` of the format files: directive, and name of the format."""
    found = {}
    for one in formats.load(assets.builtin("parsers")):
        for pattern in tomllib.loads(one.text)["pattern"]:
            if "log_format" in pattern:
                strings = pattern["log_format"]
                strings = [strings] if isinstance(strings, str) else strings
                escape = pattern.get("escape", "default")
                directive = " ".join(
                    [f"escape={escape}", *(f"'{text}'" for text in strings)]
                )
                found[f"{one.name}__{pattern['name']}"] = directive, one.name
    return found


@pytest.fixture(scope="module")
def outcome(
    tmp_path_factory: pytest.TempPathFactory,
) -> "Outcome":
    """Run nginx once with all formats; give what was seen, the events, the sources."""
    folder = tmp_path_factory.mktemp("nginx")
    written = {name: directive for name, (directive, _) in _built_in().items()}
    with nginx_server.running(folder, written | OWN) as port:
        seen = nginx_server.traffic(port)
    case = analyze(
        [str(folder / "logs"), str(folder / "conf")],
        tmp_path_factory.mktemp("case") / "case",
        AnalyzeOptions(),
    )
    sources = pl.read_parquet(case.path / "sources.parquet")
    events = pl.read_parquet(case.path / "events" / "*.parquet")
    return seen, events, sources


Outcome = tuple[list[Seen], pl.DataFrame, pl.DataFrame]
NAMES = [*_built_in(), *OWN]


def test_the_traffic_has_every_fate(outcome: Outcome) -> None:
    """Answers of the upstream, none of it, time-outs, limits, hang-ups."""
    seen, _, _ = outcome
    assert {one.status for one in seen} == {200, 503, 502, 504, 429, None}


def _events(outcome: Outcome, name: str) -> dict[int, Mapping[str, object]]:
    """Give the events of a log by the number of their request."""
    _, events, sources = outcome
    source = sources.filter(pl.col("path").str.ends_with(f"/{name}.log"))
    rows = events.filter(pl.col("source_id") == source.item(0, "source_id"))
    found: dict[int, Mapping[str, object]] = {}
    for row in rows.iter_rows(named=True):
        number = int(str(row["message"]).partition("?n=")[2].split()[0])
        found[number] = row
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_format_is_recognised_and_nothing_is_lost(
    outcome: Outcome, name: str
) -> None:
    """Each line is an event of the format whose line it is."""
    seen, _, sources = outcome
    [row] = sources.filter(pl.col("path").str.ends_with(f"/{name}.log")).to_dicts()
    wanted = _built_in()[name][1] if name in _built_in() else f"nginx:{name}"
    assert row["format"] == wanted, row["reason"]
    assert (row["events"], row["rejects"]) == (len(seen), 0)


@pytest.mark.parametrize("name", NAMES)
def test_an_event_is_what_the_client_saw(outcome: Outcome, name: str) -> None:
    """Status, time, request line, id; what hung up is 499."""
    seen, _, _ = outcome
    events = _events(outcome, name)
    assert sorted(events) == list(range(len(seen)))
    for number, one in enumerate(seen):
        event = events[number]
        assert event["status"] == (one.status or 499), one
        message = str(event["message"])
        assert message.startswith(f"GET {one.path}")
        if event["request_id"] is not None:
            assert event["request_id"] == one.request_id
        if event["duration_ms"] is not None:
            took = float(str(event["duration_ms"])) / 1000
            assert abs(took - one.seconds) < _CLOSE_S, one
        stamp = event["ts_raw"]
        assert isinstance(stamp, datetime)
        late = one.ended - stamp.replace(tzinfo=UTC).timestamp()
        assert -_CLOSE_S < late < 1 + _CLOSE_S, one
        if event["bytes_sent"] is not None and one.status is not None:
            assert event["bytes_sent"] == one.body


@pytest.mark.parametrize("name", NAMES)
def test_what_was_forwarded_is_told(outcome: Outcome, name: str) -> None:
    """Refused and limited requests reached nobody, a retry is two hops."""
    seen, _, _ = outcome
    events = _events(outcome, name)
    if all(event["upstream_hops"] is None for event in events.values()):
        pytest.skip("the format has no upstream times")
    for number, one in enumerate(seen):
        event, what = events[number], one.path.split("?")[0]
        hops = 0 if one.status == 429 else 1
        if what == "/retried" and event["upstream_hops"] == 2:
            hops = 2  # nginx takes the two servers in turn
        assert event["upstream_hops"] == hops, one
        if event["forwarded"] is not None:
            reached = one.status != 429 and what != "/refused"
            assert event["forwarded"] == reached, one
    retried = [n for n, one in enumerate(seen) if one.path.startswith("/retried")]
    assert any(events[number]["upstream_hops"] == 2 for number in retried)


def test_the_configuration_is_no_reject(outcome: Outcome) -> None:
    """It lies among the logs, and its lines are settings."""
    _, _, sources = outcome
    [row] = sources.filter(pl.col("path").str.ends_with("nginx.conf")).to_dicts()
    assert (row["format"], row["rejects"]) == ("nginx_conf", 0)
