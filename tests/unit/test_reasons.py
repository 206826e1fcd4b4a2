"""What access records say of their own end stands in their kinds, each at its place."""

from functools import cache
from pathlib import Path

import polars as pl

from faultlayer import find, parse


@cache
def definitions() -> parse.Definitions:
    """Give the built-in definitions."""
    return parse.load_definitions()


def _line(second: int, code: int, flags: str, served: str, host: str) -> str:
    return (
        f'[2026-11-30T05:26:{second:02d}.000Z] "POST /v1/completions HTTP/1.1" {code}'
        f' {flags} 812 81 {1000 + second} {served} "10.0.3.7" "curl" "r-{second}-x"'
        f' "llm.local" "{host}"'
    )


HOST = "10.1.0.9:8000"
LINES = [
    _line(1, 200, "-", "990", HOST),
    _line(2, 503, "UF,URX", "-", HOST),
    _line(3, 200, "-", "990", HOST),
    _line(4, 504, "UT", "-", HOST),
    "[2026-11-30 05:26:04.500][15][warning][upstream] [a.cc:1] reset, flags=UF status=503",
    _line(5, 429, "RL", "-", "-"),
    _line(6, 200, "DC", "300", HOST),
    _line(7, 503, "XX", "-", HOST),
]


def _events(folder: Path) -> pl.DataFrame:
    file = folder / "envoy.log"
    file.write_text("\n".join(LINES) + "\n", "utf-8")
    source = find.find([str(file)]).sources[0]
    detection = parse.sniff(source, definitions())
    events, rejects = folder / "events.parquet", folder / "rejects.parquet"
    options = parse.ParseOptions(2026)
    parse.parse_source(source, detection, definitions(), options, events, rejects)
    assert len(pl.read_parquet(rejects)) == 0
    return pl.read_parquet(events)


def test_reasons_stand_beside_access_at_their_place(tmp_path: Path) -> None:
    """The order stays, what says nothing has no kinds, and a message is no reason."""
    events = _events(tmp_path)
    assert events["line"].to_list() == list(range(1, 9))
    assert events["kind"].to_list() == ["access"] * 4 + ["other"] + ["access"] * 3
    assert events["kinds"].to_list() == [
        None,
        ["access", "connect_refused", "connect_failed"],
        None,
        ["access", "upstream_timeout"],
        None,
        ["access", "rate_limited", "edge_limit"],
        ["access", "client_closed"],
        None,
    ]
    assert events["message"][1] == "POST /v1/completions HTTP/1.1"


def test_a_reason_tells_whether_the_peer_was_reached(tmp_path: Path) -> None:
    """Where there is no header: refused is no, timed out is yes, unknown stays so."""
    forwarded = _events(tmp_path)["forwarded"].to_list()
    assert forwarded == [True, False, True, True, None, False, True, None]


def test_a_stamp_of_the_start_is_moved_to_the_end(tmp_path: Path) -> None:
    """The duration of each record leads from its own stamp."""
    ends = _events(tmp_path)["ts_raw"].dt.strftime("%S%.3f").to_list()
    assert ends[:4] == ["02.001", "03.002", "04.003", "05.004"]
    assert ends[4] == "04.500"
