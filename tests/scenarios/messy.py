"""Stories with the disorder of real folders: many engines, noise, other spellings."""

# ruff: noqa: D401  a scenario is told, not ordered

from tests.scenario_builder import Scenario
from tests.scenario_logs import Log, added, dies, ready, vllm

NODES = {
    "n1": "198.51.100.31:8000",
    "n2": "198.51.100.32:8000",
    "n3": "198.51.100.33:8000",
}


def _idle(log: Log, since: int, until: int) -> None:
    """Write the statistics of an engine that has little to do."""
    for t in range(since, until, 10):
        text = (
            "Engine 000: Avg prompt throughput: 8.0 tokens/s, Avg generation throughput: 9.5 tokens/s, "
            "Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%"
        )
        vllm(log, t, "loggers.py:127", text)


def two_deaths_two_reasons() -> Scenario:
    """Two engines die within seconds, one of a GPU fault and one of NCCL; a third serves on."""
    s = Scenario(
        "two_deaths_two_reasons", "2026-05-05T05:55:00", order="shuffled", id="rid"
    )
    one, two, three = (s.engine(name, zone=-5, ahead=0.3) for name in NODES)
    for log in (one, two, three):
        s.traffic(log, 1, 40, 7)
    hit = [s.broken_off(44.0 + n / 3, 46.2, one) for n in range(2)]
    hung = [s.broken_off(43.5 + n / 2, 48.1, two) for n in range(2)]
    dies(
        one,
        46.1,
        "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
    )
    dies(
        two,
        48.0,
        "RuntimeError: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4410, OpType=ALLREDUCE, "
        "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.",
    )
    hit += [s.turned_away(t, NODES["n1"], engine="n1") for t in (50.0, 57.1)]
    hung += [s.turned_away(t, NODES["n2"], engine="n2") for t in (50.4, 56.6)]
    s.traffic(three, 49, 70, 6)
    for rid in hit:
        s.failed(rid, "model.illegal_memory_access", "corroborated")
    for rid in hung:
        s.failed(rid, "model.nccl_timeout", "corroborated")
    s.condition("model.illegal_memory_access", one, "root", "n1", one.lines("echo"))
    s.condition("model.nccl_timeout", two, "root", "n2", two.lines("echo"))
    s.never("model.engine_dead", "harness.connect_refused", "model.engine_restart_loop")
    return s


def frightening_words() -> Scenario:
    """A healthy engine that logs errors, warnings and words of doom; one client sends nonsense."""
    s = Scenario("frightening_words", "2026-05-06T05:55:00", gap="  ", order="reversed")
    log = s.engine("n1")
    s.traffic(log, 1, 60, 18)
    for t, level, place, text in (
        (5, "WARNING", "cuda.py:80", "Detected no OOM so far; CUDA out of memory handling is enabled."),
        (12, "ERROR", "serving_chat.py:190", "Error in preprocessing prompt inputs\nValueError: unknown role 'engine dead'"),
        (24, "WARNING", "scheduler.py:400", "Sequence group is preempted because there is not enough KV cache space."),
        (33, "INFO", "launcher.py:29", "Available routes are: /health, /dead, /v1/quota_exceeded"),
    ):  # fmt: skip
        vllm(log, t, place, text, level=level)
    s.say(
        18.0,
        "INFO",
        "harness.config",
        "loaded policy",
        note='"EngineDeadError and QuotaExceeded are retried"',
    )
    bad = s.refused(
        40.0,
        400,
        "harness.server",
        "invalid request",
        error='"content: CUDA out of memory is no role"',
        type="invalid_request_error",
    )
    s.failed(bad, "client.bad_request", "proven")
    s.never(
        "model.engine_dead",
        "model.cuda_oom",
        "quota.exceeded",
        "model.kv_cache_exhausted",
    )
    return s


def outage_of_another_plugin() -> Scenario:
    """Two plugins are down at once, each with its own users; one comes back earlier."""
    s = Scenario("outage_of_another_plugin", "2026-05-07T05:55:00", id="req_id")
    s.app.ahead = -1.7
    log = s.engine("n1", zone=1)
    s.traffic(log, 1, 60, 20)
    for t, what, mark in (
        (62.0, "Failed to connect to qdrant: ConnectionRefusedError", "qdrant"),
        (63.0, "Failed to connect to smtp-relay: TimeoutError", "mail"),
        (66.0, "Connected to smtp-relay", ""),
        (75.0, "Connected to qdrant", ""),
    ):
        s.app.put(t - 0.001, f"[PLUGIN] {what}", mark)
        s.say(t, "DEBUG", "harness.plugin", "tick", plugin="any")
    for t, plugin, dependency in (
        (64.0, "memory", "qdrant"),
        (64.6, "mailer", "smtp-relay"),
        (70.0, "memory", "qdrant"),
    ):
        rid = s.refused(
            t,
            503,
            "harness.pipeline",
            "plugin_failed",
            level="ERROR",
            error='"gone"',
            plugin=plugin,
            dependency=dependency,
        )
        s.failed(rid, "harness.plugin_failed", "proven")
    s.failed(s.refused(72.3, 503), "harness.plugin_failed", "corroborated")
    s.failed(s.refused(90.0, 503), "undetermined")
    s.traffic(log, 78, 88, 5)
    s.condition("harness.plugin_failed", s.app, "qdrant", "qdrant")
    s.condition("harness.plugin_failed", s.app, "mail", "smtp-relay")
    s.clock(s.app, 0.6)
    s.never("model.engine_dead", "harness.queue_full")
    return s


def retries_over_an_outage() -> Scenario:
    """Two upstreams in one line: nginx itself tried the dead engine, then a living one."""
    s = Scenario("retries_over_an_outage", "2026-05-08T05:55:00", access="bare")
    one, two = s.engine("n1"), s.engine("n2")
    s.traffic(one, 1, 30, 8)
    s.traffic(two, 1, 30, 8)
    dies(one, 33.0, "RuntimeError: Executor failed.")
    for t in (35.0, 41.0, 47.0):
        rid = s.id()
        s.accept(t, rid, engine="n1")
        s.error(
            t + 0.003,
            "connect() failed (111: Connection refused) while connecting to upstream",
            upstream=NODES["n1"],
        )
        added(two, t + 0.02, rid)
        s.line(
            t + 0.9, 0.9, 200, ("-, 0.001", "-, 0.880", "0.000, 0.885"), rid, size=1700
        )
        s.fine(rid)
    both = s.id()
    s.accept(50.0, both, engine="n1")
    for name in ("n1", "n3"):
        s.error(
            50.004,
            "connect() failed (111: Connection refused) while connecting to upstream",
            upstream=NODES[name],
        )
    s.line(50.005, 0.005, 502, ("-, -", "-, -", "0.000, 0.000"), both)
    s.failed(both, "model.engine_dead", "corroborated")
    ready(one, 70.0)
    s.traffic(one, 72, 80, 3)
    s.condition("model.engine_dead", one, "root", "n1", one.lines("echo"))
    s.never("harness.no_live_upstream", "model.engine_restart_loop")
    return s


def death_outside_the_window() -> Scenario:
    """An engine dies and recovers; 500s ten minutes later are not its fault, and nobody knows whose."""
    s = Scenario("death_outside_the_window", "2026-05-09T05:55:00")
    log = s.engine("n1")
    s.traffic(log, 1, 40, 8)
    s.failed(s.broken_off(44.0, 45.5, log), "model.engine_dead", "proven")
    dies(log, 45.4, "RuntimeError: Executor failed.")
    ready(log, 80.0)
    s.traffic(log, 85, 600, 12)
    _idle(log, 90, 700)
    odd = s.id()
    s.accept(640.0, odd, "ivo", "n1")
    s.line(640.4, 0.4, 500, ("0.001", "0.390", "0.393"), odd, client="192.0.2.99")
    s.traffic(log, 645, 690, 5)
    s.failed(odd, "undetermined")
    s.condition("model.engine_dead", log, "root", also=log.lines("echo"))
    s.never("model.engine_restart_loop", "model.slow")
    return s


def quota_and_death_at_once() -> Scenario:
    """While an engine is down, a user without quota is refused before anything is forwarded."""
    s = Scenario(
        "quota_and_death_at_once",
        "2026-05-10T05:55:00",
        order="shuffled",
        access="quoted",
    )
    log = s.engine("n1", ahead=2.2)
    s.traffic(log, 1, 40, 12)
    dies(log, 44.0, "RuntimeError: Executor failed.")
    poor = s.refused(
        47.0,
        429,
        "harness.quota",
        "QuotaExceeded: quota insufficient",
        level="INFO",
        pool="user:ivo",
    )
    laundered = s.refused(
        49.0, 503, "harness.quota", "quota insufficient", client_message='"模型繁忙"'
    )
    away = [s.turned_away(t, NODES["n1"], engine="n1") for t in (46.5, 48.0, 53.0)]
    gone = s.id()
    s.accept(51.0, gone, engine="n1")
    s.line(52.2, 1.2, 499, ("-", "-", "1.200"), gone, size=0)
    s.failed(poor, "quota.exceeded", "proven")
    s.failed(laundered, "quota.exceeded", "proven")
    for rid in away:
        s.failed(rid, "model.engine_dead", "corroborated")
    s.failed(gone, "client.abort")
    s.condition("model.engine_dead", log, "root", also=log.lines("echo"))
    s.clock(log, 1.0)
    s.never("harness.connect_refused", "harness.concurrency_limit")
    return s
