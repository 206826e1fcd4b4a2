"""Logs of an engine or a gateway alone, without ids: each exchange is an attempt."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from faultlayer.analyze import analyze

#: Lines without a stamp came between the two that have one around them.
ENGINE = """\
INFO 11-20 04:00:30 [gpu_model_runner.py:1301] Starting to load model /models/m...
INFO:     Application startup complete.
INFO 11-20 04:02:00 [loggers.py:116] Engine 000: Avg prompt throughput: 9.0 tokens/s, \
Avg generation throughput: 20.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, \
GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%
INFO:     192.0.2.9:50001 - "POST /v1/completions HTTP/1.1" 200 OK
INFO:     192.0.2.9:50002 - "POST /v1/completions HTTP/1.1" 404 Not Found
INFO:     192.0.2.8:50003 - "GET /health HTTP/1.1" 503 Service Unavailable
INFO:     192.0.2.9:50004 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error
INFO 11-20 04:03:00 [loggers.py:116] Engine 000: Avg prompt throughput: 9.0 tokens/s, \
Avg generation throughput: 20.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, \
GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%
ERROR 11-20 04:04:00 [core.py:400] EngineCore encountered a fatal error.
ERROR 11-20 04:04:00 [core.py:400] Traceback (most recent call last):
ERROR 11-20 04:04:00 [core.py:400]   File "core.py", line 390, in run_engine_core
ERROR 11-20 04:04:00 [core.py:400] torch.OutOfMemoryError: CUDA out of memory.
INFO:     192.0.2.9:50005 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error
"""

GATEWAY = """\
[GIN] 2026/11/30 - 13:22:41 | 200 |    1.803219ms |     192.0.2.7 | POST     "/v1/chat"
[GIN] 2026/11/30 - 13:22:43 | 502 |      1.80321s |     192.0.2.7 | POST     "/v1/chat"
[GIN] 2026/11/30 - 13:25:45 | 504 |     60.80321s |     192.0.2.7 | POST     "/v1/chat"
"""

EDGE = """\
192.0.2.1 - - [20/Nov/2026:04:04:00 +0000] "POST /v1/x HTTP/1.1" 200 1 "-" "p" 0.1
"""


def _case(folder: Path, logs: dict[str, str]) -> Path:
    (folder / "logs").mkdir()
    for name, text in logs.items():
        (folder / "logs" / name).write_text(text)
    analyze([str(folder / "logs")], folder / "case")
    return folder / "case"


def _rows(case: Path, table: str, what: str) -> Sequence[tuple[Any, ...]]:
    with duckdb.connect() as con:
        return con.execute(
            f"SELECT {what} FROM read_parquet(?) ORDER BY ALL",
            [str(case / f"{table}.parquet")],
        ).fetchall()


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the case of two engines, of which no clock ties one to the other."""
    logs = {"vllm-0.log": ENGINE, "vllm-1.log": ENGINE.replace(" 04:0", " 07:1")}
    return _case(tmp_path_factory.mktemp("engines"), logs)


def test_each_exchange_of_an_engine_is_an_attempt(engines: Path) -> None:
    """Of two engines four each: the probes are nobody's requests."""
    found = _rows(engines, "attempts", "attempt_id % 10000000000, status, layers_seen")
    lines = [(4, 200), (5, 404), (7, 500), (13, 500)]
    assert found == [(*one, ["model"]) for one in lines for _ in range(2)]


def test_its_own_log_explains_what_it_says_something_of(engines: Path) -> None:
    """What failed after the death met it; what failed before is left open."""
    what = "attempt_id % 10000000000, cause, strength, missing[1]"
    found = _rows(engines, "verdicts", what)
    assert [one[:3] for one in found[::2]] == [
        (5, "client.not_found", "inferred"),
        (7, "undetermined", "undetermined"),
        (13, "model.cuda_oom", "corroborated"),
    ]
    assert [one[3] for one in found[2:4]] == [
        f"model: its exchange has no id, and no record of vllm-{number} at that moment"
        " tells why"
        for number in (0, 1)
    ]
    (routes,) = {tuple(one) for (one,) in _rows(engines, "incidents", "routes")}
    assert routes == ("/v1/completions",)


def test_a_gateway_alone(tmp_path: Path) -> None:
    """A long 504 looks like a time-out; a 502 says nothing, and what is missing is."""
    case = _case(tmp_path, {"gateway.log": GATEWAY})
    found = _rows(case, "verdicts", "cause, strength, missing")
    assert found == [
        ("harness.upstream_timeout", "inferred", []),
        (
            "undetermined",
            "undetermined",
            [
                "model: no model log in the case",
                "harness: its exchange has no id, and no record beside it fits",
                "harness: no log of an edge, which would give each request an id",
            ],
        ),
    ]


def test_an_edge_has_every_request_once(tmp_path: Path) -> None:
    """What an engine behind an edge logs without an id makes no second attempt."""
    case = _case(tmp_path, {"access.log": EDGE, "vllm-0.log": ENGINE})
    assert _rows(case, "attempts", "status, failed") == [(200, False)]
