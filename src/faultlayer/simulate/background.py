"""What programs log without a request: deaths, health, statistics, balances, kernels."""

import json

import numpy as np
import polars as pl

from faultlayer.simulate.arrivals import Arrivals
from faultlayer.simulate.day import (
    DAY_S,
    DEPENDENCY,
    ENGINES,
    POOL,
    POOL_LIMIT,
    SECOND,
    Clock,
    Day,
    Incident,
)
from faultlayer.simulate.log_file import LogFile
from faultlayer.simulate.words import (
    API,
    CLOSES_S,
    ECHO,
    FATAL,
    KERNEL,
    READY_S,
    RESTART,
    SHUTDOWN,
)

_TICK = 10 * SECOND
_SNAPSHOT_S = 300
_EMPTY = 0.99
_FULL_PCT = 99.0


def death(one: Incident, log: LogFile, clock: Clock) -> None:
    """Write how an engine dies of CUDA out of memory and comes back; marks the root."""

    def record(t: float, process: str, place: str, text: str, mark: str | None) -> None:
        level = "INFO" if mark is None else "ERROR"
        at = one.start + int(t * SECOND)
        shown = clock.at(at, "%m-%d %H:%M:%S")
        prefix = f"({process}) {level} {shown} [{place}] "
        whole = "\r\n".join(prefix + line for line in text.split("\n"))
        log.say(at, whole, mark)

    record(0, "EngineCore_DP0 pid=288", "core.py:842", FATAL, "dead")
    record(0.1, API, "async_llm.py:525", ECHO, "echo")
    for line in SHUTDOWN:
        log.say(one.start + int(CLOSES_S * SECOND), f"({API}) INFO:     {line}")
    for t, process, place, text in RESTART:
        record(t, process, place, text, None)
    up = f"({API}) INFO:     Application startup complete."
    log.say(one.start + int(READY_S * SECOND) - 1, up)


def harness(day: Day, log: LogFile) -> None:
    """Write what the gateway says of engines and plugins; marks lost connections."""

    def say(t: int, level: str, text: str, mark: str | None = None) -> None:
        shown = day.harness.at(t, "%Y-%m-%d %H:%M:%S,%3f")
        log.say(t, f"[{level}] [{shown}] {text}", mark)

    for one in day.of("out_of_memory"):
        name = ENGINES[one.engine]
        for number in (1, 2):
            say(
                one.start + number * 15 * SECOND, "ERROR",
                f"harness.health: health check failed engine={name} consecutive={number} interval_s=15",
            )  # fmt: skip
        restarted = (
            f"harness.engine: Starting new model engine process engine={name} pid=40512"
        )
        say(one.start + 31 * SECOND, "INFO", restarted)
        ready = one.start + int(READY_S * SECOND) + SECOND // 2
        say(ready, "INFO", f"harness.health: health check ok engine={name}")
    for one in day.of("plugin_down"):
        probe = f"harness.plugin: probe failed dependency={DEPENDENCY}"
        say(one.start - 20_000, "WARNING", probe, "probe")
        lost = f"[PLUGIN] Failed to connect to {DEPENDENCY}: ConnectTimeout"
        log.say(one.start, lost, "plugin")
        log.say(one.end, f"[PLUGIN] Connected to {DEPENDENCY}")
        back = f"harness.plugin: probe ok dependency={DEPENDENCY}"
        say(one.end + 10_000, "INFO", back)


class Statistics:
    """An engine's statistics every ten seconds; it says nothing when it is idle."""

    def __init__(self, log: LogFile, clock: Clock) -> None:
        self._log, self._clock = log, clock
        self._running = pl.DataFrame()
        self._tick = _TICK

    def add(self, rows: pl.DataFrame, until: int) -> None:
        """Write the ticks before `until`; `rows` reached this engine before it."""
        new = rows.select("start", "end", "slow")
        self._running = pl.concat([self._running, new], how="diagonal")
        ticks = np.arange(self._tick, until, _TICK)
        if len(ticks):
            self._write(ticks)
            self._tick = int(ticks[-1]) + _TICK
        self._running = self._running.filter(pl.col("end") >= self._tick)

    def _write(self, ticks: np.ndarray) -> None:
        slow = self._running.filter(pl.col("slow"))
        fast = self._running.filter(~pl.col("slow"))
        c = pl.col
        counts = pl.DataFrame(
            {"t": ticks, "fast": _running(fast, ticks), "slow": _running(slow, ticks)}
        ).filter(c("fast") + c("slow") > 0)
        # A full cache: few of them move, and the others wait.
        moving = c("fast") + pl.min_horizontal(c("slow"), pl.lit(2))
        speed = pl.when(c("slow") > 0).then(21).otherwise(412 * moving)
        cache = (27 * moving).clip(upper_bound=940)
        full = pl.when(c("slow") > 0).then(int(_FULL_PCT * 10)).otherwise(cache)
        text = pl.format(
            f"({API}) INFO {{}} [loggers.py:118] Engine 000: Avg prompt throughput: {{}} tokens/s, "
            "Avg generation throughput: {} tokens/s, Running: {} reqs, Waiting: {} reqs, "
            "GPU KV cache usage: {}%, Prefix cache hit rate: 18.2%",
            self._clock.show(c("t"), "%m-%d %H:%M:%S"), _tenths(speed * 2), _tenths(speed), moving,
            c("fast") + c("slow") - moving, _tenths(full),
        )  # fmt: skip
        slow_ticks = c("slow") > 0
        self._log.add(counts.filter(~slow_ticks), c("t"), text)
        self._log.add(counts.filter(slow_ticks), c("t"), text, "slow")


def _running(rows: pl.DataFrame, ticks: np.ndarray) -> np.ndarray:
    begun = np.searchsorted(np.sort(rows["start"].to_numpy()), ticks, side="right")
    over = np.searchsorted(np.sort(rows["end"].to_numpy()), ticks, side="right")
    return begun - over


def _tenths(value: pl.Expr) -> pl.Expr:
    return (value // 10).cast(pl.String) + "." + (value % 10).cast(pl.String)


def balances(day: Day, arrivals: Arrivals, log: LogFile) -> None:
    """Write what the quota service answers about some users; marks an empty pool."""
    clock, lab = day.quota, arrivals.lab()
    asked = [0, 1, 2, *([lab, lab + 1] if day.of("pool_empty") else [])]
    for tick in range(15, DAY_S, _SNAPSHOT_S):
        for number, user in enumerate(asked):
            t = tick * SECOND + number * 120_000
            name, limit = f"usr-{user + 100}", 40_000.0
            used, level, project = 5_200 + tick / 90, "user", "prj-mail"
            tenant = "ten-red"
            if user >= lab:
                used, limit = arrivals.pool_used(t), POOL_LIMIT
                level, project, tenant = "project", POOL, "ten-blue"
            else:
                project = ("prj-mail", "prj-docs", "prj-app")[user]
                tenant = "ten-blue" if user > 1 else "ten-red"
            answer = {
                "ts": clock.at(t, "%Y-%m-%dT%H:%M:%S.%3fZ"),
                "user_id": name,
                "project_id": project,
                "tenant_id": tenant,
                "used_ratio": round(used / limit, 4),
                "effective_quota": {
                    "level": level,
                    "id": project if level == "project" else name,
                    "limit": limit,
                    "used": round(used, 1),
                },
                "last_updated": clock.at(t - 4 * SECOND, "%Y-%m-%dT%H:%M:%SZ"),
            }
            empty = "empty" if used / limit > _EMPTY else None
            log.say(t, json.dumps(answer), empty)


def kernel(log: LogFile, clock: Clock) -> None:
    """Write what the kernel of an engine's host says, which has to do with nothing."""
    for t, text in KERNEL:
        at = int(t * SECOND)
        log.say(at, f"[{clock.at(at, '%a %b %d %H:%M:%S %Y')}] {text}")
