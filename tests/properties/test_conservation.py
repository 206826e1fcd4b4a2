"""Whatever bytes a file holds, each is in an event, a reject or a blank line."""

from collections.abc import Iterable, Sequence
from functools import cache

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faultlayer import detect, find, frame, lines, parse
from faultlayer.blocks import Block

# Shapes as they stand in real logs; a stream is made of these, whole or torn.
SHAPES = [
    b'10.1.2.3 - - [30/Nov/2026:05:26:44 +0000] "POST /v1/chat/completions HTTP/1.1" 200 8'
    b' "-" "curl" rt=0.100 uct="-, 0.000" uht="-, 0.001" urt="0.000, 0.001" req_id=r-1'
    b" quota_used=0.42",
    b'10.1.2.3 - - [30/Nov/2026:05:26:45 +0000] "POST /x HTTP/1.1" 429 98 "-" "curl"'
    b' rt=0.001 uct="-" uht="-" urt="-" req_id=7f26411ec605c356e7f2e9477ad6dc2a quota_used=-',
    b'10.1.2.3 - - [30/Nov/2026:05:26:46 +0000] "GET / HTTP/1.1" 400 0 "-" "\\x16\\x03"',
    b"2026/11/30 05:26:44 [error] 31#31: *8123 limiting requests, excess: 20.4 by zone"
    b' "llm", client: 10.0.3.9, server: x, request: "POST / HTTP/1.1", host: "h"',
    b"[INFO] [2026-11-30 05:26:44,123] harness.server: request accepted request_id=r-1"
    b' user=u-1 note="a=b c=d"',
    b"[ERROR] [2026-11-30 05:26:45,001] harness.server: Request failed with status 500",
    b"[PLUGIN] Failed to connect to elasticsearch: ConnectionRefusedError",
    b"Traceback (most recent call last):",
    b'  File "/opt/harness/server.py", line 10, in handle',
    b"    raise e",
    b"    ^^^^^^^",
    b"KeyError: 'k'",
    b"During handling of the above exception, another exception occurred:",
    b"",
    b"   ",
    b"java.util.concurrent.ExecutionException: java.net.ConnectException: refused",
    b"\tat harness.plugins.Cache.get(Cache.java:88)",
    b"Caused by: java.net.ConnectException: refused",
    b"(APIServer pid=1) INFO 11-30 05:26:44 [async_llm.py:344] Added request chatcmpl-r-1.",
    b"(EngineCore_DP0 pid=271) ERROR 11-30 05:26:45 [core.py:842] EngineCore encountered a"
    b" fatal error.",
    b"(EngineCore_DP0 pid=271) ERROR 11-30 05:26:45 [core.py:842] Traceback (most recent"
    b" call last):",
    b'(EngineCore_DP0 pid=271) ERROR 11-30 05:26:45 [core.py:842]   File "core.py", line 8',
    b"(EngineCore_DP0 pid=271) ERROR 11-30 05:26:45 [core.py:842] RuntimeError: x",
    b"(EngineCore_DP0 pid=271) ERROR 11-30 05:26:45 [core.py:842] ",
    b"(Worker pid=9) Traceback (most recent call last):",
    b'(Worker pid=9)   File "x.py", line 1',
    b"(Worker pid=9) some print",
    b"\x1b[1;36m(APIServer pid=1)\x1b[0;0m INFO 12-31 23:59:59 [async_llm.py:344] Aborted"
    b" request(s) a,b.",
    b"INFO 01-01 00:00:01 async_llm_engine.py:529] Finished request cmpl-r-1-0.",
    b'INFO:     127.0.0.1:37356 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    b"INFO:root: Successfully loaded model deepseek-v2-7b",
    b"Loading model...",
    b"Killed",
    b'{"seq": 1, "ts": "2026-11-30T05:26:44.007Z", "event": "deny", "request_id": "r-1",'
    b' "user": "u-51", "amount": 35.0, "code": "QuotaExceeded"}',
    b'{"ts": "2026-11-30T05:26:44Z", "user_id": "u-1", "used_ratio": "99%", "effective_quota"'
    b': {"level": "user", "id": "u-1", "limit": 1, "used": 1}, "last_updated": 1796016404}',
    b'{"time":"2026-11-30T05:26:44+00:00","status":009,"rt":,"urt":"0.005","req_id":"r-1"}',
    b'{"a":{"b":[1,{"c":null}]},"d":"\\ud800","e":NaN}',
    b'{"log":"INFO:     Started server process [1]\\n","stream":"stderr","time":'
    b'"2026-11-30T05:26:44.1Z"}',
    b'{"log":"[INFO] [2026-11-30 13:26:44,123] harness.x: pa","stream":"stdout","time":'
    b'"2026-11-30T05:26:44.2Z"}',
    b'{"log":"rt request_id=r-9\\n","stream":"stdout","time":"2026-11-30T05:26:44.3Z"}',
    b"2026-11-30T05:26:44.669794202Z stdout P INFO 11-30 05:26:44 eng",
    b"2026-11-30T05:26:44.669794203Z stdout F ine.py:1] Added request r-1.",
    b"2026-11-30T05:26:44.669794204Z stderr F Traceback (most recent call last):",
    b'{"__REALTIME_TIMESTAMP":"1796016404000000","_HOSTNAME":"h","SYSLOG_IDENTIFIER":"gw",'
    b'"MESSAGE":"[INFO] [2026-11-30 05:26:44,123] harness.x: a\\n  b"}',
    b"Nov 30 05:26:44 h gw[1]: [ERROR] [2026-11-30 05:26:44,123] harness.x: a",
    b"Nov 30 05:26:44 h gw[1]: Traceback (most recent call last):",
    b"Nov 30 05:26:45 h kernel: [ 4176.010237] Out of memory: Killed process 8 (java)",
    b"                         further line of a message",
    b'<187>1 2026-11-30T05:26:44Z h gw 42 REQ [r id="r-1"] a#012b',
    b"gw-1  | 2026-11-30T05:26:44.1Z [INFO] [2026-11-30 05:26:44,123] harness.x: a",
    b'{"@timestamp":"2026-11-30T05:26:44.1Z","message":"2026-11-30T05:26:44.6Z stdout P INFO'
    b' 11-30 05:26:44 eng","log":{"offset":1,"file":{"path":"/a"}},"host":{"name":"h"}}',
    b'{"@timestamp":"2026-11-30T05:26:44.1Z","message":"2026-11-30T05:26:44.6Z stdout F'
    b' ine.py:1] Added request r-1.","log":{"offset":9,"file":{"path":"/a"}},"host":{"name":"h"}}',
    b"05:26:44 - LiteLLM Proxy:ERROR: x.py:296 - Exception occured [trace_id=abc]",
    b"[  316.505308] nvidia-uvm: Loaded the UVM driver",
    b"server:",
    b"  max_concurrent_requests: 4  # was 16",
    b'harness_token_remaining_gauge{model="m"} 4189 1794985215000',
]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b""]
PARTS = 20  # of a thousand examples, the first for every run
NOISE = [
    b"\x00" * 7,
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xe4\xb8",
    b'"',
    b"\\x",
    b"\x1b[31m",
]


@st.composite
def streams(draw: st.DrawFn, part: int = 0, parts: int = 1) -> bytes:
    """Draw a file: mostly of one kind, or of any kinds in any order, some lines torn.

    Files of different parts are different: their first kind of line is.
    """
    start = draw(st.integers(0, len(SHAPES) // parts)) * parts + part
    width = draw(st.sampled_from([1, 3, 8, len(SHAPES)]))
    pool = [SHAPES[(start + step) % len(SHAPES)] for step in range(width)]
    data = bytearray()
    for _ in range(draw(st.integers(0, 24))):
        line = draw(st.sampled_from(pool))
        fate = draw(st.integers(0, 12))
        if fate == 0:
            line = line[: draw(st.integers(0, len(line)))]
        elif fate == 1:
            line = line[draw(st.integers(0, len(line))) :]
        elif fate == 2:
            at = draw(st.integers(0, len(line)))
            line = line[:at] + draw(st.sampled_from(NOISE)) + line[at:]
        data += line + draw(st.sampled_from(ENDS))
    return bytes(data)


class Sink:
    """Keeps rows in memory."""

    def __init__(self) -> None:
        self.rows: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        """Keep rows."""
        self.rows.append(rows)

    def frame(self) -> pl.DataFrame:
        """Give all rows, in the order of their lines."""
        if not self.rows:
            return pl.DataFrame(schema={"line": pl.Int64})
        joined = pl.concat(self.rows, how="diagonal_relaxed").sort("line")
        return joined.select(sorted(joined.columns))


@cache
def definitions() -> parse.Definitions:
    """Give the built-in formats; what messages mean does not matter here."""
    loaded = parse.load_definitions()
    return detect.Definitions(loaded.formats, loaded.wrappers, None)


def parsed(
    data: bytes, detection: parse.Detection, sizes: Iterable[int]
) -> tuple[pl.DataFrame, pl.DataFrame, parse.SourceResult]:
    """Parse bytes in blocks of about these sizes, cut at line ends."""
    source = find.Source(1, "any.log", None, None, "", "any.log", "engine-7")
    events, rejects = Sink(), Sink()
    options = parse.ParseOptions(2026)
    run = parse.Run(source, detection, definitions(), options, events, rejects)
    offset, line, wanted = 0, 1, iter(sizes)
    while offset < len(data):
        size = next(wanted, len(data))
        end = data.find(b"\n", min(offset + size, len(data)) - 1) + 1 or len(data)
        part = data[offset:end]
        run.add(lines.lines_of(Block(part, offset, line, last=end == len(data))))
        offset, line = end, line + part.count(b"\n")
    run.finish()
    return events.frame(), rejects.frame(), run.result


def sniffed(data: bytes) -> parse.Detection:
    """Choose formats from all the lines."""
    block = Block(data, 0, 1, last=True)
    return detect.choose(lines.lines_of(block), definitions())


def _total(frames: Sequence[pl.DataFrame], column: str) -> int:
    return sum(
        int(one.get_column(column).cast(pl.Int64).sum()) for one in frames if len(one)
    )


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(one, marks=pytest.mark.deep) for one in range(1, PARTS))]
)
@settings(max_examples=1000 // PARTS, suppress_health_check=[HealthCheck.too_slow])
@given(draw=st.data())
def test_bytes_and_lines_are_conserved(draw: st.DataObject, part: int) -> None:
    """Events, rejects and blank lines add up to the source; no line is in two."""
    data = draw.draw(streams(part, PARTS))
    events, rejects, result = parsed(data, sniffed(data), [])
    lines_in = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    assert _total([events, rejects], "byte_length") + result.blank_bytes == len(data)
    assert _total([events, rejects], "lines") + result.blank_lines == lines_in
    assert events.get_column("line").is_unique().all()


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(data=streams(), sizes=st.lists(st.integers(1, 900), min_size=1, max_size=4))
def test_blocks_change_nothing(data: bytes, sizes: list[int]) -> None:
    """The same bytes give the same events wherever they are cut into blocks."""
    detection = sniffed(data)
    events, rejects, result = parsed(data, detection, [])
    again, lost, other = parsed(data, detection, sizes)
    assert again.rows() == events.rows()
    assert lost.rows() == rejects.rows()
    assert other == result


def test_a_record_without_end_is_cut() -> None:
    """A head and lines that go on for ever do not fill the memory."""
    more = frame.LONGEST + 100
    head = b"[ERROR] [2026-11-30 05:26:45,001] harness.server: dump\n"
    data = head + b"    x\n" * more
    events, rejects, _ = parsed(data, sniffed(data), [200] * 20)
    assert events.get_column("lines").to_list() == [frame.LONGEST]
    assert len(rejects) == more + 1 - frame.LONGEST
