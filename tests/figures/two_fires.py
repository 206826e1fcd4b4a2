"""Three outages: two that overlap with different scopes, and one that comes slowly and stays.

Each engine is asked every 10 s from 14:00 to 14:50, engine-a (heron-7b) from 14:00:00 on
and engine-b (ibis-34b) from 14:00:05 on, by u-0 to u-3 in turn.

Engine: engine-a dies of CUDA's memory at 14:10:00.5. The request of 14:10:00 falls with it
(500), those of 14:10:10 to 14:13:10 find no one (502): 1 + 19 = 20, of all that asked it.
A probe fails at 14:10:40, it is up at 14:13:20: noticed after 40 s, over after 200 s, and
its log has whole seconds, so 199 to 201 s. The target of 300 s is kept.

Plugin: milvus is gone from 14:11:00 to 14:15:30. Every second request to engine-b needs
it: 14:11:05 to 14:15:25 each 20 s: 14, of u-0 and u-2 alone. Over 265 s after the first:
the target of 120 s is missed.

Time-outs: in minute 14:30 + k the first k of the six requests to engine-b end as 504 after
30 s, from minute 14:36 on all: 1 + 2 + 3 + 4 + 5 + 14 x 6 = 99, of which the last three
(14:49:25 to 14:49:45 and what follows) end after the logs: 14:49:25 ends at 14:49:55, so
97 - 14:49:35 and :45 and :55 do not: 96. The share of failures is above half of its mean
(0.42) from minute 14:33 (3 of 6) on; a probe fails at 14:36:00, 175 s later; it is not
over: missed.
"""

from pathlib import Path

from tests.figures.day import NONE, Day

_TRACE = """EngineCore encountered a fatal error.
Traceback (most recent call last):
  File "/opt/vllm/v1/engine/core.py", line 701, in run_engine_core
    engine_core.run_busy_loop()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.02 GiB is free."""
_REQUEST = 'request: "POST /v1/chat/completions HTTP/1.1"'


def _error(day: Day, at: float, words: str, peer: str) -> None:
    """Write a line of the edge's error log."""
    where = f'client: 10.9.0.4, server: x, {_REQUEST}, upstream: "http://{peer}/v1/chat/completions"'
    stamp = day.stamp(at, "%Y/%m/%d %H:%M:%S")
    day.put("edge/error.log", at, f"{stamp} [error] 31#31: *7 {words}, {where}")


def _sent(day: Day, at: float, user: str, name: str, asked: str, engine: str) -> str:
    """Write what the gateway knows of a request that does not come back."""
    rid = day.rid(name)
    day.app(
        at + 0.002, "info", "request accepted", request_id=rid, user=user, model=asked
    )
    day.app(at + 0.004, "info", "forward", request_id=rid, engine=engine)
    return rid


def _to_a(day: Day, number: int) -> None:
    at, user, name = (
        day.second("14:00:00") + 10 * number,
        f"u-{number % 4}",
        f"a{number}",
    )
    if at == day.second("14:10:00"):
        rid = _sent(day, at, user, name, "heron-7b", "engine-a")
        day.engine(
            "engine-a", at + 0.006, f"[async_llm.py:344] Added request chatcmpl-{rid}."
        )
        day.engine(
            "engine-a",
            at + 0.52,
            f"[async_llm.py:521] Request chatcmpl-{rid} failed (engine dead).",
        )
        day.access(at + 0.506, 0.506, 500, ("0.001", "0.502", "0.503"), rid)
    elif day.second("14:10:00") < at < day.second("14:13:20"):
        rid = _sent(day, at, user, name, "heron-7b", "engine-a")
        _error(
            day,
            at + 0.009,
            "connect() failed (111: Connection refused) while connecting to upstream",
            "10.9.1.11:8000",
        )
        day.access(at + 0.009, 0.009, 502, ("-", "-", "0.000"), rid)
    else:
        day.exchange(at + 0.8, 0.8, user, name, asked="heron-7b")


def _to_b(day: Day, number: int) -> None:
    at, user, name = (
        day.second("14:00:05") + 10 * number,
        f"u-{number % 4}",
        f"b{number}",
    )
    late = at - day.second("14:30:00")
    if day.second("14:11:00") < at < day.second("14:15:30") and number % 2 == 0:
        rid = day.rid(name)
        day.app(
            at + 0.002,
            "info",
            "request accepted",
            request_id=rid,
            user=user,
            model="ibis-34b",
        )
        day.app(
            at + 0.015,
            "error",
            "plugin_failed",
            request_id=rid,
            plugin="retrieval",
            dependency="milvus",
            status=503,
        )
        day.access(at + 0.018, 0.018, 503, NONE, rid)
    elif late >= 0 and late % 60 // 10 < late // 60:
        rid = _sent(day, at, user, name, "ibis-34b", "engine-b")
        day.engine(
            "engine-b", at + 0.006, f"[async_llm.py:344] Added request chatcmpl-{rid}."
        )
        if at + 30 < day.second("14:50:00"):
            words = "upstream timed out (110: Connection timed out) while reading response header from upstream"
            _error(day, at + 30, words, "10.9.1.12:8000")
            day.access(
                at + 30,
                30.0,
                504,
                ("0.001", "-", "30.000"),
                rid,
                upstream="10.9.1.12:8000",
            )
    else:
        day.exchange(
            at + 0.6,
            0.6,
            user,
            name,
            asked="ibis-34b",
            engine="engine-b",
            upstream="10.9.1.12:8000",
        )


def write(folder: Path) -> Day:
    """Write the day's logs below a folder."""
    day = Day("2026-06-17")
    for number in range(300):
        _to_a(day, number)
        _to_b(day, number)
    stamp = day.stamp("14:10:00", "%m-%d %H:%M:%S")
    head = f"(EngineCore_DP0 pid=88) ERROR {stamp} [core.py:710] "
    trace = "\n".join(head + line for line in _TRACE.split("\n"))
    day.put("engines/engine-a/vllm.log", "14:10:00.5", trace)
    day.app(
        "14:10:40",
        "error",
        "health check failed engine=engine-a error=connection refused",
        engine="engine-a",
    )
    day.app(
        "14:36:00",
        "error",
        "health check failed engine=engine-b error=timeout",
        engine="engine-b",
    )
    day.app(
        "14:12:05",
        "info",
        "Starting new model engine process engine=engine-a",
        engine="engine-a",
    )
    day.engine(
        "engine-a",
        "14:13:20",
        "[api_server.py:1774] Starting vLLM API server 0 on http://0.0.0.0:8000",
    )
    day.put(
        "engines/engine-a/vllm.log",
        "14:13:20.01",
        "(APIServer pid=7) INFO:     Application startup complete.",
    )
    day.app(
        "14:11:00",
        "error",
        "[PLUGIN] Failed to connect to milvus: ConnectionRefusedError",
    )
    day.app("14:15:30", "info", "[PLUGIN] Connected to milvus")
    day.write(folder)
    return day
