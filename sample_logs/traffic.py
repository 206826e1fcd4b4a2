"""Who sends what, what the quota service answers about them, and the truth file."""

import json
from collections.abc import Iterable, Iterator

from programs import Engine, Log, Request, User, model_line
from stack import Stack


def people(projects: list[tuple[str, str]], count: int, retries: int) -> list[User]:
    """Give `count` users of the projects; every third one's SDK retries."""
    agents = [
        "openai-python/2.8.1",
        "okhttp/5.3.2",
        "node-fetch/3.3",
        "python-httpx/0.28.1",
    ]
    return [
        User(f"usr-{300 + 17 * n}", *projects[n % len(projects)], f"172.20.{30 + n % 3}.{11 + n}",
             agents[n % len(agents)], retries if n % 3 == 0 else 0)
        for n in range(count)
    ]  # fmt: skip


def arrivals(
    stack: Stack,
    users: list[User],
    engines: list[str],
    spans: list[tuple[float, float, float]],
) -> Iterator[Request]:
    """Give background requests; a span is (from, to, requests per second)."""
    dice = stack.random
    for since, until, rate in spans:
        t = since + dice.expovariate(rate)
        while t < until:
            n = dice.randrange(len(users))
            tokens = dice.randint(40, 260)
            yield Request(
                round(t, 3), users[n], round(0.35 + tokens * 0.011 + dice.random() * 0.4, 3), stack.new_id(),
                stream=dice.random() < 0.4, prompt=dice.randint(30, 4000), completion=tokens,
                engine=engines[n % len(engines)],
            )  # fmt: skip
            t += dice.expovariate(rate)


def statistics(stack: Stack, engine: Engine, until: float) -> None:
    """Write the engine's statistics every ten seconds; it is silent when idle or dead."""
    for tick in range(10, int(until), 10):
        running = stack.in_flight(tick, engine.name)
        if running and not engine.down(tick):
            model_line(
                engine.log, tick, "loggers.py:118",
                f"Engine 000: Avg prompt throughput: {running * 83.5:.1f} tokens/s, "
                f"Avg generation throughput: {running * 41.2:.1f} tokens/s, Running: {running} reqs, "
                f"Waiting: 0 reqs, GPU KV cache usage: {running * 2.7:.1f}%, Prefix cache hit rate: 18.2%",
            )  # fmt: skip


def snapshots(stack: Stack, users: list[User], until: float, every: int) -> None:
    """Write balance answers; the pool that binds is the project's where it has one."""
    for tick in range(15, int(until), every):
        for n, user in enumerate(users):
            t = tick + 0.12 * n
            limit, used, level, name = (
                40_000.0,
                5_200.0 + tick * (n + 1) / 9,
                "user",
                user.name,
            )
            if user.project in stack.rules.pools:
                limit, used = (
                    stack.rules.pools[user.project][0],
                    stack.used(user.project, t),
                )
                level, name = "project", user.project
            ratio = used / limit
            answer = {
                "ts": stack.balance.clock.at(t, "%Y-%m-%dT%H:%M:%S.%fZ"),
                "user_id": user.name, "project_id": user.project, "tenant_id": user.tenant,
                "used_ratio": round(ratio, 4),
                "effective_quota": {"level": level, "id": name, "limit": limit, "used": round(used, 1)},
                "last_updated": stack.balance.clock.at(t - 4, "%Y-%m-%dT%H:%M:%SZ"),
            }  # fmt: skip
            stack.balance.write(t, json.dumps(answer), "empty" if ratio > 0.99 else "")


def clock_truth(
    log: Log, offset_s: float, tolerance_s: float, zone_h: int = 0
) -> dict[str, object]:
    """State the true clock of a log."""
    clock: dict[str, object] = {
        "source": f"logs/{log.path}",
        "offset_s": offset_s,
        "tolerance_s": tolerance_s,
    }
    return {"clock": clock | ({"time_zone_s": zone_h * 3600} if zone_h else {})}


def truth_lines(stack: Stack, rest: Iterable[dict[str, object]]) -> str:
    """Give the truth file: attempts in order of their start, then the rest."""
    attempts = [line for _, line in sorted(stack.truth, key=lambda pair: pair[0])]
    failed = sum("cause" in line for line in attempts)
    return "".join(
        json.dumps(line) + "\n"
        for line in [*attempts, *rest, {"expect_verdicts": failed}]
    )


def never(*causes: str) -> list[dict[str, object]]:
    """State root conditions that must not be found."""
    return [{"not_condition": cause} for cause in causes]


def config(limit: int) -> str:
    """Give the harness's configuration file."""
    return f"server:\n  listen: 8000\n  max_concurrent_requests: {limit}\nhealth:\n  interval_seconds: 15\n"
