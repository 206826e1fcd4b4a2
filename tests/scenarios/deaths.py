"""Engines that die, and those whose requests die with them."""

# ruff: noqa: D401  a scenario is told, not ordered

from tests.scenario_builder import CHAT, Scenario
from tests.scenario_logs import added, dies, ready, vllm

A, B = "198.51.100.21:8000", "198.51.100.22:8000"


def death_cohort() -> Scenario:
    """One engine of two dies; three on it, two turned away; the other serves on."""
    s = Scenario("death_cohort", "2026-10-03T02:15:00", id="rid", order="reversed")
    one, two = s.engine("blue"), s.engine("green")
    s.traffic(one, 1, 20, 6)
    s.traffic(two, 1, 50, 9)
    victims = [
        s.broken_off(25.2 + n, 28.9 + n / 50, one, user=f"bo{n}") for n in range(3)
    ]
    silent = s.broken_off(28.1, 29.0, one, own="")
    victims += [silent, *(s.turned_away(t, A, engine="blue") for t in (33.4, 38.0))]
    dies(one, 28.8, "RuntimeError: Executor failed.")
    s.say(
        36.0,
        "ERROR",
        "harness.health",
        "health check failed",
        engine="blue",
        consecutive=1,
    )
    s.say(
        36.2,
        "INFO",
        "harness.engine",
        "Starting new model engine process",
        engine="blue",
        pid=6120,
    )
    ready(one, 55.0)
    s.traffic(one, 58, 64, 3)
    elsewhere = s.refused(30.0, 503, "harness.pipeline", "plugin_failed", level="ERROR",
                          error='"ConnectionRefusedError"', dependency="docker", plugin="runner")  # fmt: skip
    for n, rid in enumerate(victims):
        s.failed(rid, "model.engine_dead", "proven" if n < 3 else "corroborated")
    s.failed(elsewhere, "harness.plugin_failed", "proven")
    s.condition("model.engine_dead", one, "root", "blue", one.lines("echo"))
    s.never(
        "model.engine_restart_loop",
        "harness.connect_refused",
        "harness.upstream_closed",
    )
    return s


def restart_v0() -> Scenario:
    """A V0 engine dies once and is restarted; a request after it fails for another reason."""
    s = Scenario("restart_v0", "2026-07-19T20:40:00", access="bare")
    log = s.engine("solo")
    lost, later = s.id(), s.id()

    def say(t: float, level: str, place: str, text: str, mark: str = "") -> None:
        head = f"{level} {log.at(t, '%m-%d %H:%M:%S')} {place}] "
        log.put(t, "\n".join(head + line for line in text.split("\n")), mark)

    def serve(t: float) -> None:
        rid = s.served(t, 0.8)
        say(
            t + 0.01,
            "INFO",
            "async_llm_engine.py:208",
            f"Added request chatcmpl-{rid}.",
        )
        say(
            t + 0.79,
            "INFO",
            "async_llm_engine.py:176",
            f"Finished request chatcmpl-{rid}.",
        )

    for t in (2.0, 5.5, 9.1, 12.4, 15.0):
        serve(t)
    s.accept(21.0, lost, engine="solo")
    say(21.02, "INFO", "async_llm_engine.py:208", f"Added request chatcmpl-{lost}.")
    say(
        23.0, "ERROR", "async_llm_engine.py:65",
        "Engine background task failed\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3/dist-packages/vllm/engine/async_llm_engine.py", line 55, in _log_task_completion\n'
        "    return_value = task.result()\nKeyError: 'seq_group'", "root",
    )  # fmt: skip
    say(
        23.1, "ERROR", "client.py:304",
        "AsyncEngineDeadError('Background loop has errored already.')", "echo",
    )  # fmt: skip
    s.line(23.2, 2.2, 500, ("0.001", "2.190", "2.195"), lost)
    refused = [s.turned_away(t, A, engine="solo") for t in (26.0, 31.0, 44.5)]
    s.say(
        40.0,
        "WARN",
        "harness.engine",
        "Starting new model engine process",
        engine="solo",
        pid=220,
    )
    say(60.0, "INFO", "api_server.py:651", "vLLM API server version 0.6.4")
    log.put(71.0, "INFO:     Application startup complete.")
    for t in (75.0, 78.0, 81.0):
        serve(t)
    s.refused(
        84.0,
        400,
        "harness.preprocess",
        "input too long",
        rid=later,
        tokens=9001,
        max_context=8192,
    )
    for rid in (lost, *refused):
        s.failed(rid, "model.engine_dead", "corroborated")
    s.failed(later, "harness.context_overflow", "proven")
    s.condition("model.engine_dead", log, "root", also=log.lines("echo"))
    s.never("model.engine_restart_loop", "model.not_ready", "harness.connect_refused")
    return s


def oom_in_worker() -> Scenario:
    """A worker runs out of GPU memory; core and server only repeat it. The id has a suffix."""
    s = Scenario("oom_in_worker", "2026-08-08T11:00:00", order="shuffled")
    log = s.engine("tp2-west")
    s.traffic(log, 1, 30, 8)
    victims = [s.broken_off(t, 41.2, log) for t in (36.3, 38.0)]
    victims.append(s.id())
    s.accept(39.5, victims[-1], engine="tp2-west")
    added(log, 39.52, f"{victims[-1]}-5be90c17")
    vllm(
        log,
        41.21,
        "async_llm.py:521",
        f"Request chatcmpl-{victims[-1]} failed (engine dead).",
    )
    s.line(41.22, 1.72, 500, ("0.000", "1.717", "1.718"), victims[-1])
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 1 has a total capacity of 23.65 GiB of which 411.12 MiB is free."
    vllm(
        log, 41.0, "multiproc_executor.py:654",
        'WorkerProc hit an exception.\nTraceback (most recent call last):\n  File "/usr/lib/python3/dist-packages/vllm/v1/worker/gpu_worker.py", '
        f"line 461, in execute_model\n    output = self.model_runner.execute_model(\n{oom}",
        "root", process="Worker_TP1 pid=131", level="ERROR",
    )  # fmt: skip
    dies(
        log,
        41.05,
        f"RuntimeError: Worker failed with error '{oom.partition(': ')[2]}', please check the stack trace above for the root cause",
        "core",
    )
    victims.append(s.turned_away(46.0, A, engine="tp2-west"))
    for rid in victims:
        s.failed(rid, "model.cuda_oom", "corroborated")
    s.condition(
        "model.cuda_oom", log, "root", also=[*log.lines("core"), *log.lines("echo")]
    )
    s.never(
        "model.engine_dead",
        "model.host_oom_killed",
        "model.worker_died",
        "harness.connect_refused",
    )
    return s


def wrong_port() -> Scenario:
    """A stale upstream entry: refused on one port while the engine serves on another."""
    s = Scenario("wrong_port", "2026-05-11T06:30:00", gap="  ")
    log = s.engine("main")
    s.traffic(log, 0.5, 30, 16)
    for t in (6.2, 13.9, 21.0):
        rid = s.turned_away(t, "198.51.100.21:9000", engine="main")
        s.failed(rid, "harness.connect_refused", "corroborated")
    vllm(
        log,
        10,
        "loggers.py:127",
        "Engine 000: Avg prompt throughput: 61.0 tokens/s, Avg generation throughput: 30.5 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.8%, Prefix cache hit rate: 4.0%",
    )
    first = f"logs/{s.errors.path}:1"
    s.truth.append({"condition": "harness.connect_refused", "layer": "harness", "root": first,
                    "also": [f"logs/{s.errors.path}:{n}" for n in (2, 3)]})  # fmt: skip
    s.never("model.engine_dead", "model.not_ready", "model.startup_failure")
    return s


def idle_timeout() -> Scenario:
    """Two requests wait 30 s for an engine that never got them and is idle."""
    s = Scenario("idle_timeout", "2026-09-14T17:05:00", order="reversed")
    log = s.engine("main")
    s.traffic(log, 1, 70, 14)
    for t in (12.0, 25.5):
        rid = s.id()
        s.accept(t, rid, "eve", "main")
        s.error(
            t + 30,
            "upstream timed out (110: Connection timed out) while reading response header from upstream",
            client="192.0.2.44",
            upstream=A,
        )
        s.line(
            t + 30.001, 30.001, 504, ("0.000", "-", "30.000"), rid, client="192.0.2.44"
        )
        s.failed(rid, "harness.upstream_timeout", "corroborated")
    for t in range(10, 70, 10):
        vllm(
            log,
            t,
            "loggers.py:127",
            "Engine 000: Avg prompt throughput: 12.0 tokens/s, Avg generation throughput: 20.5 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.2%, Prefix cache hit rate: 4.0%",
        )
    s.never("model.slow", "model.hung", "model.engine_dead")
    return s


def masked_timeout() -> Scenario:
    """A 504 whose engine died while the request waited: the death is the cause."""
    s = Scenario("masked_timeout", "2026-09-14T21:05:00")
    log = s.engine("main")
    s.traffic(log, 1, 18, 7)
    rid = s.id()
    s.accept(20.0, rid, "eve", "main")
    added(log, 20.02, rid)
    dies(log, 24.0, "RuntimeError: Executor failed.")
    s.error(
        35.0,
        "upstream timed out (110: Connection timed out) while reading response header from upstream",
        client="192.0.2.44",
        upstream=A,
    )
    s.line(35.001, 15.001, 504, ("0.000", "-", "15.000"), rid, client="192.0.2.44")
    s.failed(rid, "model.engine_dead", "corroborated")
    s.failed(s.turned_away(38.0, A, engine="main"), "model.engine_dead", "corroborated")
    s.condition("model.engine_dead", log, "root", also=log.lines("echo"))
    s.never("harness.upstream_timeout", "model.slow", "harness.connect_refused")
    return s


def log_gap() -> Scenario:
    """Neither gateway nor engine has lines for the minutes of two 500s."""
    s = Scenario("log_gap", "2026-04-02T08:00:00")
    log = s.engine("main")
    s.traffic(log, 5, 300, 6)
    for t in (660.0, 701.0):
        rid = s.id()
        s.line(t, 0.31, 500, ("0.001", "0.300", "0.304"), rid, client="192.0.2.61")
        s.failed(rid, "undetermined", missing="model")
    s.traffic(log, 1080, 1200, 4)
    last = s.broken_off(1211.0, 1212.6, log)
    dies(log, 1212.5, "RuntimeError: Executor failed.")
    s.failed(last, "model.engine_dead", "proven")
    s.condition("model.engine_dead", log, "root", also=log.lines("echo"))
    return s


def new_year() -> Scenario:
    """The engine's stamps have no year; it dies in one year and is back in the next."""
    s = Scenario("new_year", "2024-12-31T23:50:00")
    log = s.engine("main")
    s.traffic(log, 2, 500, 9)
    in_flight = s.broken_off(571.0, 572.9, log)
    dies(log, 572.8, "RuntimeError: Executor failed.")
    after = [s.turned_away(t, A, engine="main") for t in (590.0, 607.3)]
    ready(log, 625.0)
    s.traffic(log, 640, 700, 4)
    s.failed(in_flight, "model.engine_dead", "proven")
    for rid in after:
        s.failed(rid, "model.engine_dead", "corroborated")
    s.condition("model.engine_dead", log, "root", also=log.lines("echo"))
    s.clock(log, 1.0)
    s.never("harness.connect_refused", "model.engine_restart_loop")
    return s


def no_ids() -> Scenario:
    """No client sends an id; only nginx and the engine were collected."""
    s = Scenario("no_ids", "2026-06-24T13:00:00", access="quoted")
    log = s.engine("main")
    for t in (2.0, 4.5, 7.0, 40.0, 43.0):
        s.line(t, 0.9, 200, ("0.001", "0.890", "0.893"), "-", size=1804)
    dies(log, 11.6, "RuntimeError: Executor failed.")
    ready(log, 35.0)
    for t, status, rt, up in (
        (11.7, 500, 1.4, ("0.000", "1.390", "1.392")),
        (15.2, 502, 0.001, ("-", "-", "0.000")),
        (29.9, 502, 0.001, ("-", "-", "0.000")),
    ):
        s.line(t, rt, status, up, "-")
        ends = s.start.isoformat()[:17] + f"{t:06.3f}Z"
        s.failed(None, "model.engine_dead", "corroborated", status=status, ts_end=ends)
        if status == 502:
            s.error(
                t,
                "connect() failed (111: Connection refused) while connecting to upstream",
                upstream=A,
                request=CHAT,
            )
    s.condition("model.engine_dead", log, "root", also=log.lines("echo"))
    return s
