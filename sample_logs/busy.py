"""The incident `model_busy`: four causes behind one sentence, none of them the model."""

from datetime import UTC, datetime

from programs import Clock, Engine, Log, Request, Rules, User
from stack import BUSY, RESERVED, Stack
from traffic import (
    arrivals,
    clock_truth,
    config,
    never,
    people,
    snapshots,
    statistics,
    truth_lines,
)


def model_busy() -> dict[str, str]:
    """Let an afternoon of "the model is busy" have four causes, none of them the model."""
    day = datetime(2026, 11, 17, 14, 0, tzinfo=UTC)
    until, start_rag, pool_runs_dry = 1500.0, 700.0, 1120.0
    rules = Rules(
        max_concurrent=12, burst_limit=20, unlogged=0.3,
        pools={"prj-lab": (30_000.0, 29_550.0)},
        outages=[("elasticsearch", 705.3, 790.0), ("elasticsearch", 905.6, 960.0)],
    )  # fmt: skip
    stack = Stack(1702, day, "aster-chat-14b", rules)
    host = Clock(day, ahead_s=0.4, zone_h=8)
    engines = [Engine("engine-a", "172.20.8.21:8000", Log("model/engine-a/model.log", host)),
               Engine("engine-b", "172.20.8.22:8000", Log("model/engine-b/model.log", host)),
               Engine("engine-c", "172.20.9.40:8000", None)]  # fmt: skip
    stack.engines = {e.name: e for e in engines}
    users = people(
        [("prj-mail", "ten-red"), ("prj-docs", "ten-red"), ("prj-app", "ten-blue")],
        18,
        retries=0,
    )
    lab = [
        User(f"lab-{n}", "prj-lab", "ten-blue", f"172.20.40.{n}", "python-httpx/0.28.1")
        for n in (3, 5, 8)
    ]
    night = User("svc-eval", "prj-app", "ten-blue", "172.20.41.7", "okhttp/5.3.2")
    script = User("svc-ci", "prj-docs", "ten-red", "172.20.41.9", "curl/8.17.0")
    dice = stack.random
    requests = list(arrivals(stack, users, ["engine-a", "engine-b"], [
        (2, 300, 0.13), (300, 330, 0.9), (330, 410, 0.12), (410, 440, 0.8), (440, until, 0.13)]))  # fmt: skip
    for wave in (301.0, 411.5):  # twelve long ones at once fill the harness
        requests += [Request(wave + n * 0.05, night, 12.0 + dice.random() * 6, stack.new_id(), completion=1100,
                             engine=("engine-a", "engine-b")[n % 2]) for n in range(12)]  # fmt: skip
    requests += [
        Request(
            520.2 + n * 0.16,
            script,
            0.42,
            stack.new_id(),
            completion=8,
            engine="engine-b",
        )
        for n in range(28)
    ]
    requests += [Request(start_rag - 40 + n * 13.7, users[n % 5], 1.9, stack.new_id(), plugin="rag_notes",
                         engine="engine-a") for n in range(25)]  # fmt: skip
    requests += [Request(pool_runs_dry - 60 + n * 11.3, lab[n % 3], 2.6, stack.new_id(), completion=210,
                         engine="engine-b") for n in range(30)]  # fmt: skip
    stack.run(requests)
    for t, status in ((90.0, 200), (604.4, 429), (655.0, 200)):
        elsewhere(
            stack,
            Request(t, users[11], 0.318, stack.new_id(), engine="engine-c"),
            status,
        )
    for dependency, since, stop in rules.outages:
        stack.say(
            since - 0.02,
            "WARNING",
            "harness.plugin",
            f"probe failed dependency={dependency}",
            "probe",
        )
        stack.harness.write(
            since, f"[PLUGIN] Failed to connect to {dependency}: ConnectTimeout", "root"
        )
        stack.harness.write(stop, f"[PLUGIN] Connected to {dependency}")
        stack.say(
            stop + 0.01, "INFO", "harness.plugin", f"probe ok dependency={dependency}"
        )
    for engine in engines[:2]:
        statistics(stack, engine, until)
    snapshots(stack, [lab[0], lab[1], users[0], night, script], until, 60)
    outages, probes = stack.harness.lines("root"), stack.harness.lines("probe")
    for t in (500.0, 1000.0):
        stack.errors.write(
            t,
            f"{stack.errors.clock.at(t, '%Y/%m/%d %H:%M:%S')} [notice] 22#22: reopening logs",
        )
    empty = stack.balance.lines("empty")
    logs = [engine.log for engine in engines if engine.log]
    truth = truth_lines(stack, [
        *[plugin_down(root, probe) for root, probe in zip(outages, probes, strict=True)],
        {"condition": "quota.exceeded", "layer": "quota", "scope": "prj-lab", "root": empty[0],
         "also": empty[1:] + stack.ledger.lines("deny")},
        *never(
            "model.engine_dead", "model.slow", "model.hung", "harness.queue_full", "harness.edge_limit",
            "quota.token_rate_limit", "quota.reclamation_lag"),
        clock_truth(stack.access, 0.0, 0.1), clock_truth(stack.harness, 2.7, 0.3), clock_truth(stack.ledger, -1.4, 0.3),
        *(clock_truth(log, 0.4, 0.8, 8) for log in logs),
    ])  # fmt: skip
    parts = [
        stack.access.text(since, to)
        for since, to in ((0, 500), (500, 1000), (1000, until + 60))
    ]
    return {
        "truth.jsonl": truth,
        "logs/nginx/harness_access.log.2.gz": parts[0],
        "logs/nginx/harness_access.log.1": parts[1],
        "logs/nginx/harness_access.log": parts[2],
        "logs/config/harness.yaml": config(12),
        "logs/config/quota_policy.yaml": "burst_limit: 20\nburst_window_seconds: 5\n",
        **{f"logs/{log.path}": log.text() for log in (stack.errors, stack.harness, stack.ledger, stack.balance, *logs)},
    }  # fmt: skip


def plugin_down(root: str, probe: str) -> dict[str, object]:
    """State an outage of the plugin by the lines that show it."""
    return {
        "condition": "harness.plugin_failed",
        "layer": "harness",
        "scope": "elasticsearch",
        "root": root,
        "also": [probe],
    }


def elsewhere(stack: Stack, r: Request, status: int) -> None:
    """Serve an attempt on an engine whose log nobody collected."""
    t, end = r.start + 0.003, r.start + r.seconds
    stack.say(t, "INFO", "harness.server", f"request accepted request_id={r.request_id} user={r.user.name} "
              f"project={r.user.project} model={stack.model} stream=false")  # fmt: skip
    stack.say(
        t + 0.004,
        "INFO",
        "harness.router",
        f"forward request_id={r.request_id} engine={r.engine}",
    )
    stack.book(t + 0.001, "reserve", r, RESERVED)
    up = f'uct="0.004" uht="{r.seconds - 0.004:.3f}" urt="{r.seconds - 0.003:.3f}"'
    stack.answer(r, end, status, 118 if status == 429 else 310, up)
    if status == 200:
        done = f"status=200 prompt_tokens={r.prompt} completion_tokens={r.completion}"
        stack.say(
            end - 0.003,
            "INFO",
            "harness.server",
            f"request completed request_id={r.request_id} {done}",
        )
        stack.charge(r, end)
        stack.note(r)
        return
    stack.book(end, "release", r, RESERVED, reason="upstream_error")
    told = f'upstream_status=429 status=429 client_message="{BUSY}"'
    stack.say(
        end - 0.003,
        "ERROR",
        "harness.server",
        f"upstream error request_id={r.request_id} {told}",
    )
    stack.note(r, "undetermined", missing="engine-c")
