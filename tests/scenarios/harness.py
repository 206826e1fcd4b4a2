"""What goes wrong between the client and the engine: plugins, prompts, clients."""

# ruff: noqa: D401  a scenario is told, not ordered

from tests.scenario_builder import Scenario
from tests.scenario_logs import added, dies, vllm

A = "198.51.100.21:8000"
GONE = "epoll_wait() reported that client prematurely closed connection, so upstream connection is closed too while "


def plugin_outage_skewed() -> Scenario:
    """The gateway's clock is 3 s ahead: by raw time the plugin's outage lies over the engine's death."""
    s = Scenario("plugin_outage_skewed", "2026-10-21T09:00:00", order="reversed")
    s.app.ahead = 3.0
    main = s.engine("main")
    s.traffic(main, 1, 55, 18)
    s.say(
        60.0,
        "ERROR",
        "harness.plugin",
        "[PLUGIN] Failed to connect to searxng: ConnectTimeout",
        mark="root",
    )
    s.say(63.0, "INFO", "harness.plugin", "[PLUGIN] Connected to searxng")
    told = s.refused(
        60.9,
        503,
        "harness.pipeline",
        "plugin_failed",
        plugin="websearch",
        dependency="searxng",
        error='"ConnectTimeout"',
    )
    silent = s.refused(61.6, 503)
    on_engine = s.broken_off(62.9, 64.6, main, status=503)
    dies(main, 64.4, "RuntimeError: Executor failed.", "death")
    away = s.turned_away(65.3, A, engine="main")
    s.failed(told, "harness.plugin_failed", "proven")
    s.failed(silent, "harness.plugin_failed", "corroborated")
    s.failed(on_engine, "model.engine_dead", "proven")
    s.failed(away, "model.engine_dead", "corroborated")
    s.condition("harness.plugin_failed", s.app, "root", "searxng")
    s.condition("model.engine_dead", main, "death", also=main.lines("echo"))
    s.clock(s.app, 0.5)
    s.clock(main, 1.0)
    return s


def plugin_in_another_zone() -> Scenario:
    """Gateway and engine write local time, UTC+8 and 0.9 s behind; the plugin line has no stamp at all."""
    s = Scenario("plugin_in_another_zone", "2026-10-22T20:30:00", gap="  ")
    s.app.zone, s.app.ahead = 8, -0.9
    main = s.engine("main", zone=8, ahead=-0.9)
    s.traffic(main, 1, 40, 12)
    s.say(
        48.9, "WARN", "harness.plugin", "probe failed dependency=milvus", mark="probe"
    )
    s.app.put(49.0, "[PLUGIN] Failed to connect to milvus: gaierror", "root")
    told = s.refused(
        50.0,
        503,
        "harness.pipeline",
        "plugin_failed",
        level="ERROR",
        plugin="notes",
        error='"gaierror"',
        dependency="milvus",
    )
    silent = s.refused(53.0, 503)
    s.app.put(59.0, "[PLUGIN] Connected to milvus")
    s.say(59.02, "INFO", "harness.plugin", "probe ok dependency=milvus")
    s.traffic(main, 62, 80, 5)
    s.failed(told, "harness.plugin_failed", "proven")
    s.failed(silent, "harness.plugin_failed", "corroborated")
    s.condition("harness.plugin_failed", s.app, "root", "milvus", s.app.lines("probe"))
    s.clock(s.app, 0.5)
    s.clock(main, 1.0)
    s.never("model.engine_dead", "harness.queue_full")
    return s


def client_gone() -> Scenario:
    """One client leaves before the answer, one in the middle of a stream; a cut stream is the server's."""
    s = Scenario("client_gone", "2026-03-30T10:00:00")
    main = s.engine("main")
    s.traffic(main, 1, 50, 10)
    early, mid, cut = s.id(), s.id(), s.id()
    for rid, t in ((early, 12.0), (mid, 20.0), (cut, 30.0)):
        s.accept(t, rid, engine="main", stream=str(rid != early).lower())
        added(main, t + 0.02, rid)
    s.error(
        14.6,
        GONE + "reading response header from upstream",
        client="192.0.2.71",
        upstream=A,
        level="info",
    )
    s.line(14.6, 2.6, 499, ("0.000", "-", "2.599"), early, client="192.0.2.71", size=0)
    vllm(main, 14.61, "async_llm.py:455", f"Request chatcmpl-{early} aborted.")
    s.error(
        25.1, GONE + "reading upstream", client="192.0.2.72", upstream=A, level="info"
    )
    s.line(
        25.1, 5.1, 200, ("0.000", "0.180", "5.099"), mid, client="192.0.2.72", size=912
    )
    vllm(main, 25.12, "async_llm.py:455", f"Request chatcmpl-{mid} aborted.")
    s.error(
        33.3,
        "upstream prematurely closed connection while reading upstream",
        client="192.0.2.73",
        upstream=A,
    )
    s.line(
        33.3, 3.3, 200, ("0.000", "0.180", "3.299"), cut, client="192.0.2.73", size=508
    )
    s.failed(early, "client.abort", "corroborated")
    s.failed(mid, "client.abort", "corroborated")
    s.failed(cut, "harness.upstream_closed", "corroborated")
    s.never("model.slow", "model.engine_dead")
    return s


def overflow_laundered() -> Scenario:
    """Prompts that are too long, told as 503 "please retry"; a 503 of a full queue beside them."""
    s = Scenario(
        "overflow_laundered", "2026-03-31T10:00:00", id="rid", order="shuffled"
    )
    main = s.engine("main")
    s.traffic(main, 1, 40, 10)
    told = 'client_message="service unavailable, please retry"'
    for t, words in (
        (9.0, "input too long"),
        (15.0, "context_length_exceeded: maximum context length is 8192 tokens"),
        (21.0, "input too long"),
    ):
        rid = s.id()
        s.accept(t, rid, "ivo")
        s.say(
            t + 0.02,
            "INFO",
            "harness.preprocess",
            f"{words} tokens=9733 {told} status=503",
            id=rid,
        )
        s.line(t + 0.03, 0.03, 503, ("-", "-", "-"), rid)
        s.failed(rid, "harness.context_overflow", "proven")
    queue = s.refused(
        27.0,
        503,
        "harness.queue",
        "waiting queue overflow",
        level="ERROR",
        running=4,
        queued=16,
        max_size=16,
    )
    s.failed(queue, "harness.queue_full", "proven")
    s.never("harness.plugin_failed", "model.engine_dead", "model.not_ready")
    return s


def bad_requests() -> Scenario:
    """400 and 401 with a record, 404 and 413 without; each is the client's."""
    s = Scenario("bad_requests", "2026-04-01T10:00:00", order="reversed")
    main = s.engine("main")
    s.traffic(main, 1, 40, 10)
    bad = s.refused(
        6.0,
        400,
        "harness.server",
        "invalid request",
        error='"temperature: must be <= 2"',
        type="invalid_request_error",
    )
    key = s.refused(
        11.0,
        401,
        "harness.auth",
        "authentication failed",
        level="INFO",
        error='"invalid api key"',
    )
    lost = s.id()
    s.line(16.0, 0.001, 404, ("-", "-", "-"), lost, request="POST /v2/chat HTTP/1.1")
    big = s.id()
    s.error(
        21.0,
        "client intended to send too large body: 9437184 bytes",
        client="192.0.2.80",
    )
    s.line(21.0, 0.0, 413, ("-", "-", "-"), big, client="192.0.2.80")
    s.failed(bad, "client.bad_request", "proven")
    s.failed(key, "client.auth", "proven")
    s.failed(lost, "client.not_found", "inferred")
    s.failed(big, "client.too_large", "corroborated")
    s.never("harness.context_overflow", "harness.routing")
    return s


def silent_503() -> Scenario:
    """A 503 that was never forwarded, and no record of anything: nobody can tell."""
    s = Scenario("silent_503", "2026-04-03T10:00:00")
    main = s.engine("main")
    s.traffic(main, 1, 40, 10)
    s.failed(s.refused(22.0, 503), "undetermined")
    s.never("harness.queue_full", "harness.plugin_failed", "harness.edge_limit")
    return s
