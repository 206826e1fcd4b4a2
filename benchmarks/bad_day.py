"""Write the logs of a day on which most attempts fail: `bad_day.py DIR [--attempts N] [--failed N]`.

Sixteen engines behind a gateway and nginx, two hundred pools, a ledger; engines die of six
causes and start again, hang and slow down, plugins lose what they need, pools run dry, limits
are met. `DIR/logs` is what `analyze` gets, `DIR/truth.jsonl` what is true. A million failed
attempts beside 0.7 million others make ten million records. The same arguments give the same bytes.
"""

import argparse
import json
import sys
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from bad_day_lines import ENGINES, MIDNIGHT, PLUGINS, background, write

from faultlayer.simulate.columns import uuids
from faultlayer.simulate.log_file import LogFile

SECOND = 1_000_000
HOUR = 3600 * SECOND
USERS, POOLS, DRY = 20_000, 200, 60
DEATHS, LOOPED = 8, 15

# outcome: share of the failures, status, what is true of it, least strength
OUTCOMES: dict[str, tuple[float, int, str, str]] = {
    "denied": (0.16, 429, "quota.exceeded", "proven"),
    "denied_quietly": (0.03, 429, "quota.exceeded", "corroborated"),
    "burst": (0.07, 429, "quota.burst_limit", "proven"),
    "tokens": (0.03, 429, "quota.token_rate_limit", "proven"),
    "minute": (0.03, 429, "quota.request_rate_limit", "proven"),
    "crowded": (0.09, 429, "harness.concurrency_limit", "proven"),
    "edge": (0.08, 429, "harness.edge_limit", "corroborated"),
    "queue": (0.02, 503, "harness.queue_full", "proven"),
    "plugin": (0.06, 503, "harness.plugin_failed", "proven"),
    "plugin_quietly": (0.03, 503, "harness.plugin_failed", "corroborated"),
    "too_long": (0.03, 400, "harness.context_overflow", "proven"),
    "cut": (0.07, 500, "*", "corroborated"),
    "refused": (0.08, 502, "*", "corroborated"),
    "broken": (0.02, 200, "*", "corroborated"),
    "timeout": (0.05, 504, "model.slow", "corroborated"),
    "stuck": (0.02, 504, "model.hung", "corroborated"),
    "left": (0.05, 499, "client.abort", "corroborated"),
    "bad": (0.03, 400, "client.bad_request", "proven"),
    "auth": (0.02, 401, "client.auth", "inferred"),
    "path": (0.01, 404, "client.not_found", "inferred"),
    "dns": (0.01, 502, "harness.dns_failure", "corroborated"),
    "tls": (0.01, 502, "harness.tls_handshake", "corroborated"),
}
REASONS = (
    "model.cuda_oom", "model.nccl_timeout", "model.illegal_memory_access",
    "model.gpu_xid", "model.host_oom_killed", "model.engine_dead",
)  # fmt: skip


def spans(dice: np.random.Generator) -> pl.DataFrame:
    """Draw what goes wrong: kind, start and end in us of the day, engine, which, reason."""
    rows: list[tuple[str, int, int, int, int, str]] = []

    def some(kind: str, count: int, least_s: int, most_s: int, choices: int) -> None:
        for number in range(count):
            slot = 82_000 // count
            start = (1200 + number * slot) * SECOND + int(dice.integers(0, SECOND))
            lasts = min(int(dice.integers(least_s, most_s)), slot - 30)
            which = int(dice.integers(0, choices))
            rows.append((kind, start, start + lasts * SECOND, which, which, ""))

    for engine in range(ENGINES):
        slots = dice.permutation(24)
        for number in range(DEATHS + 4):
            start = int(slots[number]) * HOUR + int(dice.integers(300, 2400)) * SECOND
            lasts = int(dice.integers(90, 400)) * SECOND
            kind = "death" if number < DEATHS else ("slow", "hang")[number % 2]
            reason = REASONS[(engine + number) % len(REASONS)]
            if engine == LOOPED and slots[number] in (10, 11):
                continue
            rows.append((kind, start, start + lasts, engine, number, reason))
    for number in range(40):
        start = 10 * HOUR + number * 150 * SECOND
        rows.append(
            ("death", start, start + 100 * SECOND, LOOPED, number, "model.engine_restart_loop")
        )  # fmt: skip
    some("plugin", 24, 120, 600, PLUGINS)
    some("burst", 200, 20, 90, USERS)
    some("tokens", 300, 20, 50, USERS)
    some("minute", 300, 20, 50, USERS)
    some("crowded", 60, 60, 300, 1)
    some("edge", 60, 30, 200, 1)
    some("queue", 30, 30, 200, 1)
    some("dns", 5, 60, 240, 1)
    some("tls", 5, 60, 240, 1)
    for pool in range(DRY):
        start = int(dice.integers(1, 20)) * HOUR
        rows.append(("empty", start, start + 3 * HOUR, 0, pool, ""))
    columns = ("kind", "start", "end", "engine", "which", "reason")
    return pl.DataFrame(rows, schema=columns, orient="row").sort("start", "kind")


SPAN_OF = {
    "denied": "empty", "denied_quietly": "empty", "plugin_quietly": "plugin",
    "cut": "death", "refused": "death", "broken": "death", "timeout": "slow", "stuck": "hang",
}  # fmt: skip


def failing(dice: np.random.Generator, plan: pl.DataFrame, count: int) -> pl.DataFrame:
    """Draw the failing attempts: each in a span of its kind, where it has one."""
    total = sum(share for share, *_ in OUTCOMES.values())
    frames = []
    for name, (share, *_) in OUTCOMES.items():
        mine = int(count * share / total)
        place = plan.filter(pl.col("kind") == SPAN_OF.get(name, name))
        if not place.height:
            place = pl.DataFrame(
                {"kind": [name], "start": [600 * SECOND], "end": [23 * HOUR], "engine": [0], "which": [0], "reason": [""]},
                schema=plan.schema,
            )  # fmt: skip
        chosen = place[np.sort(dice.integers(0, place.height, mine))]
        begin, end = chosen["start"].to_numpy(), chosen["end"].to_numpy()
        start, took = _times(dice, name, begin, end)
        engine = dice.integers(0, ENGINES, mine)
        if name in {"cut", "broken", "refused", "timeout", "stuck"}:
            engine = chosen["engine"].to_numpy()
        user = dice.integers(0, USERS, mine)
        if name in {"burst", "tokens", "minute"}:
            user = chosen["which"].to_numpy()
        if name in {"denied", "denied_quietly"}:
            user = user // POOLS * POOLS + chosen["which"].to_numpy()
        frames.append(
            pl.DataFrame(
                {
                    "start": start, "took": took, "engine": engine, "user": user,
                    "outcome": pl.Series([name]).gather(np.zeros(mine, dtype=int)),
                    "which": chosen["which"], "reason": chosen["reason"],
                    "again": dice.random(mine) < 0.2,
                },
            )
        )  # fmt: skip
    return pl.concat(frames)


def _times(
    dice: np.random.Generator, name: str, begin: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Draw when attempts begin within their spans, and how long they take, in us."""
    count = len(begin)
    inside = dice.random(count)
    start = begin + ((end - begin) * (0.02 + 0.9 * inside)).astype(np.int64)
    took = dice.integers(4, 30, count) * 1000
    if name in {"cut", "broken"}:
        start = begin - (300_000 + 8 * SECOND * inside).astype(np.int64)
        took = begin + 250_000 + dice.integers(0, 90_000, count) - start
    elif name == "refused":
        start = begin + SECOND + ((end - begin - 3 * SECOND) * inside).astype(int)
    elif name in {"timeout", "stuck"}:
        took = 60 * SECOND + dice.integers(0, 900, count)
    elif name == "left":
        took = dice.integers(900_000, 9_000_000, count)
    elif name == "dns":
        took = 5 * SECOND + dice.integers(0, 900, count)
    return start, took


def served(dice: np.random.Generator, plan: pl.DataFrame, count: int) -> pl.DataFrame:
    """Draw the attempts that succeed, at engines that are up."""
    start = np.sort(dice.integers(60 * SECOND, 24 * HOUR - 90 * SECOND, count))
    took = np.clip(dice.lognormal(14.2, 0.7, count), 90_000, 15 * SECOND).astype(int)
    engine = dice.integers(0, ENGINES, count)
    for shift in range(4):
        for number in range(ENGINES):
            bad = plan.filter(
                (pl.col("engine") == number) & pl.col("kind").is_in(["death", "slow", "hang"])
            )  # fmt: skip
            begin, end = bad["start"].to_numpy(), bad["end"].to_numpy()
            order = np.searchsorted(begin, start + took + SECOND) - 1
            meets = (order >= 0) & (end[np.maximum(order, 0)] + SECOND > start)
            moved = (engine == number) & meets
            engine = np.where(moved, (number + shift * 3 + 1) % ENGINES, engine)
    user = (dice.random(count) ** 2 * USERS).astype(np.int64)
    # Of the pools that run dry at some time only those that refuse are heard of.
    user += np.where(user % POOLS < DRY, DRY, 0)
    return pl.DataFrame(
        {
            "start": start, "took": took, "engine": engine, "user": user,
            "outcome": pl.Series(["served"]).gather(np.zeros(count, dtype=int)),
            "which": np.zeros(count, dtype=np.int64),
            "reason": pl.Series([""]).gather(np.zeros(count, dtype=int)),
            "again": np.zeros(count, dtype=bool),
        }
    )  # fmt: skip


def attempts(seed: int, count: int, bad: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Give the plan and all attempts, in order of their start."""
    dice = np.random.default_rng(seed)
    plan = spans(dice)
    failed = failing(dice, plan, bad)
    rows = pl.concat([served(dice, plan, count - failed.height), failed])
    size, c = rows.height, pl.col
    statuses = {name: spec[1] for name, spec in OUTCOMES.items()} | {"served": 200}
    truths = {name: spec[2] for name, spec in OUTCOMES.items()} | {"served": ""}
    rows = rows.with_columns(
        id=uuids(dice, size),
        stream=pl.Series(dice.random(size) < 0.4) & (c("outcome") != "cut")
        | (c("outcome") == "broken"),
        jitter=dice.integers(0, 3000, size),
        prompt=dice.integers(20, 6000, size),
        tokens=dice.integers(4, 900, size),
    )
    # Who comes again has the id and the user of the one before of the same trouble.
    rows = rows.sort("outcome", "which", "start", "id").with_columns(
        previous=c("id").shift(1).over("outcome", "which"),
        before=c("user").shift(1).over("outcome", "which"),
        chained=c("again").shift(1).over("outcome", "which"),
    )
    retry = c("again") & c("previous").is_not_null() & ~c("chained")
    rows = rows.with_columns(
        id=pl.when(retry).then("previous").otherwise("id"),
        user=pl.when(retry).then("before").otherwise("user"),
        end=c("start") + c("took"),
        status=c("outcome").replace_strict(statuses, return_dtype=pl.Int64),
        cause=c("outcome").replace_strict(truths, return_dtype=pl.String),
    )
    rows = rows.with_columns(
        cause=pl.when(c("cause") == "*").then("reason").otherwise("cause"),
    )
    rows = rows.sort("start", "id").with_columns(
        number=pl.int_range(1, pl.len() + 1).over("id")
    )
    return plan, rows


def main() -> int:
    """Write the day that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="folder for logs and truth")
    parser.add_argument("--attempts", type=int, default=1_700_000)
    parser.add_argument("--failed", type=int, default=1_000_000, help="of them, about")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    plan, rows = attempts(options.seed, options.attempts, options.failed)
    least = {name: spec[3] for name, spec in OUTCOMES.items()} | {"served": ""}
    lines = 0
    with ExitStack() as stack:
        logs: dict[str, LogFile] = {}

        def log(path: str) -> LogFile:
            if path not in logs:
                logs[path] = stack.enter_context(LogFile(options.output, path))
            return logs[path]

        background(plan, log)
        hours = np.searchsorted(rows["start"].to_numpy(), np.arange(25) * HOUR)
        for hour, (first, last) in enumerate(pairwise(hours)):
            part = rows[int(first) : int(last)]
            write(part, log)
            strength = pl.col("outcome").replace_strict(least, return_dtype=pl.String)
            told = pl.when(pl.col("cause") == "").then(
                pl.format('{{"request_id": "{}", "attempt": {}, "failed": false}}', "id", "number")
            ).otherwise(
                pl.format(
                    '{{"request_id": "{}", "attempt": {}, "layer": "{}", "cause": "{}", "strength": "{}"}}',
                    "id", "number", pl.col("cause").str.split(".").list.first(), "cause", strength,
                )
            )  # fmt: skip
            log("truth.jsonl").add(part, pl.col("start"), told)
            for one in logs.values():
                one.flush((hour + 1) * HOUR - 70 * SECOND)
        for one in logs.values():
            one.flush()
        lines = sum(one.lines for one in logs.values() if one.path != "truth.jsonl")
    settings = options.output / "logs/config"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "harness.yaml").write_text("server:\n  max_concurrent_requests: 512\n")
    (settings / "quota_policy.yaml").write_text(
        "burst_limit: 20\nburst_window_seconds: 5\nquota_grace_period: 30\n"
    )
    failed = rows.filter(pl.col("cause") != "").height
    counts = {"attempts": rows.height, "failed": failed, "lines": lines}
    print(json.dumps(counts | {"day": f"{MIDNIGHT:%Y-%m-%d}"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
