"""Request ids: repeated, joined, constant, quoted by somebody else."""

# ruff: noqa: D401  a scenario is told, not ordered

from tests.scenario_builder import Scenario
from tests.scenario_logs import added, dies, ready, vllm

A = "198.51.100.21:8000"


def three_attempts() -> Scenario:
    """One id three times: the edge refuses it, the engine dies under it, then it is served."""
    s = Scenario("three_attempts", "2026-01-14T15:00:00")
    main = s.engine("main")
    s.traffic(main, 1, 15, 5)
    rid = f"job-{s.dice.getrandbits(40):010x}"
    s.refused(18.0, 429, rid=rid, client="203.0.113.4", accepted=False, took=0.0)
    s.error(
        18.0, 'limiting requests, excess: 2.004 by zone "perkey"', client="203.0.113.4"
    )
    s.broken_off(20.1, 22.3, main, rid=rid, client="203.0.113.4")
    dies(main, 22.2, "RuntimeError: Executor failed.")
    ready(main, 50.0)
    s.failed(rid, "harness.edge_limit", "corroborated", attempt=1)
    s.failed(rid, "model.engine_dead", "proven", attempt=2)
    s.served(55.0, 0.8, engine=main, rid=rid, client="203.0.113.4", attempt=3)
    s.condition("model.engine_dead", main, "root", also=main.lines("echo"))
    return s


def joined_ids() -> Scenario:
    """Two ids joined by a comma; the gateway logs the first, the engine the second."""
    s = Scenario("joined_ids", "2026-01-15T15:00:00", access="bare")
    main = s.engine("main")
    for t in (2.0, 5.0, 8.0, 11.0):
        rid = s.id()
        second = f"px.{s.dice.getrandbits(44):011x}"
        s.accept(t, rid, engine="main")
        added(main, t + 0.01, second)
        s.line(
            t + 0.9,
            0.9,
            200,
            ("0.001", "0.890", "0.893"),
            f"{rid}, {second}",
            quota="6.30",
            size=1701,
        )
        s.fine(rid)
    rid, second = s.id(), f"px.{s.dice.getrandbits(44):011x}"
    s.accept(14.0, rid, engine="main")
    added(main, 14.01, second)
    dies(main, 15.5, "RuntimeError: Executor failed.")
    vllm(
        main,
        15.6,
        "async_llm.py:521",
        f"Request chatcmpl-{second} failed (engine dead).",
    )
    s.line(15.61, 1.61, 500, ("0.000", "1.600", "1.602"), f"{rid}, {second}")
    s.failed(rid, "model.engine_dead", "proven")
    other, third = s.id(), f"px.{s.dice.getrandbits(44):011x}"
    s.accept(18.0, other, "ivo")
    s.say(
        18.01,
        "WARNING",
        "harness.quota",
        "QuotaExceeded: quota insufficient",
        id=other,
        user="ivo",
        status=429,
    )
    s.line(18.02, 0.02, 429, ("-", "-", "-"), f"{other}, {third}")
    s.failed(other, "quota.exceeded", "proven")
    s.condition("model.engine_dead", main, "root", also=main.lines("echo"))
    return s


def constant_id() -> Scenario:
    """A monitor always sends the same id; two of its probes fall into an outage."""
    s = Scenario("constant_id", "2026-01-16T15:00:00")
    main = s.engine("main")
    s.traffic(main, 1, 17, 4)
    dies(main, 19.0, "RuntimeError: Executor failed.")
    ready(main, 31.0)
    s.traffic(main, 33, 48, 3)
    request = "GET /v1/models HTTP/1.1"
    for n, t in enumerate(range(2, 50, 6), 1):
        if 19 < t < 31:
            s.error(
                t,
                "connect() failed (111: Connection refused) while connecting to upstream",
                client="192.0.2.2",
                upstream=A,
                request=request,
            )
            s.line(
                t,
                0.001,
                502,
                ("-", "-", "0.000"),
                "monitor-1",
                client="192.0.2.2",
                request=request,
                agent="blackbox/0.27",
            )
            s.failed("monitor-1", "model.engine_dead", "corroborated", attempt=n)
        else:
            s.line(
                t,
                0.02,
                200,
                ("0.000", "0.018", "0.019"),
                "monitor-1",
                client="192.0.2.2",
                request=request,
                agent="blackbox/0.27",
                size=290,
            )
            s.fine("monitor-1", n)
    s.condition("model.engine_dead", main, "root", also=main.lines("echo"))
    s.never("harness.connect_refused")
    return s


def id_in_a_prompt() -> Scenario:
    """Somebody pastes an incident into a prompt, with the id of a request that failed otherwise."""
    s = Scenario("id_in_a_prompt", "2026-01-17T15:00:00")
    main = s.engine("main")
    s.traffic(main, 1, 15, 5)
    victim = s.refused(
        18.0,
        429,
        "harness.limiter",
        "request rejected",
        reason="concurrency",
        in_flight=8,
        max_concurrent_requests=8,
    )
    asker = s.served(25.0, 1.9, engine=main)
    quoted = (
        f"Received request chatcmpl-{asker}: prompt: 'What does this mean?\\n(EngineCore_DP0 pid=95) ERROR 01-17 15:00:18 [core.py:710] "
        f"EngineCore encountered a fatal error.\\ntorch.OutOfMemoryError: CUDA out of memory.\\nRequest chatcmpl-{victim} failed (engine dead).\\n"
        f"[WARNING] harness.quota: QuotaExceeded request_id={victim}', params: SamplingParams(n=1, temperature=0.2, max_tokens=256), lora_request: None."
    )
    vllm(main, 25.009, "request_logger.py:43", quoted)
    s.failed(victim, "harness.concurrency_limit", "proven")
    s.never("model.engine_dead", "model.cuda_oom", "quota.exceeded")
    return s


def uuid_spellings() -> Scenario:
    """The same uuid with dashes, without, and in capitals."""
    s = Scenario("uuid_spellings", "2026-01-18T15:00:00")
    main = s.engine("main")
    for t in (2.0, 5.0, 8.0, 11.0, 14.0):
        rid = s.id()
        s.served(t, 0.7, engine=main, rid=rid, model_id=rid.replace("-", ""))
    rid = s.id()
    s.accept(20.0, rid.upper(), engine="main")
    added(main, 20.01, rid.replace("-", ""))
    dies(main, 21.4, "RuntimeError: Executor failed.")
    vllm(
        main,
        21.5,
        "async_llm.py:521",
        f"Request chatcmpl-{rid.replace('-', '')} failed (engine dead).",
    )
    s.line(21.51, 1.51, 500, ("0.000", "1.500", "1.502"), rid)
    s.failed(rid, "model.engine_dead", "proven")
    s.condition("model.engine_dead", main, "root", also=main.lines("echo"))
    return s
