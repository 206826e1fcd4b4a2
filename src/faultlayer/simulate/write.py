"""Writes an invented day: its logs, its truth, and what happened in words."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import polars as pl

from faultlayer.simulate import background, lines
from faultlayer.simulate.arrivals import Arrivals
from faultlayer.simulate.day import (
    ADDRESSES,
    BURST_LIMIT,
    DAY_S,
    DEPENDENCY,
    ENGINES,
    POOL,
    SECOND,
    Clock,
    Day,
    draw,
)
from faultlayer.simulate.log_file import LogFile
from faultlayer.simulate.outcomes import Way

_TRUTH: Final = "truth.jsonl"
_ACCESS: Final = "logs/nginx/harness_access.log"
_ERROR: Final = "logs/nginx/error.log"
_HARNESS: Final = "logs/harness/harness.log"
_LEDGER: Final = "logs/quota/ledger.jsonl"
_BALANCE: Final = "logs/quota/balance.jsonl"
_KERNEL: Final = "logs/host/dmesg.txt"
_ENGINES: Final = tuple(f"logs/model/{name}/model.log" for name in ENGINES)
_SETTINGS: Final = {
    "logs/config/harness.yaml": "server:\n  listen: 8000\n  max_concurrent_requests: 4096\n"
    "health:\n  interval_seconds: 15\n",
    "logs/config/quota_policy.yaml": f"burst_limit: {BURST_LIMIT}\nburst_window_seconds: 5\n",
}
README: Final = "README.md"
FILES: Final = frozenset(
    [
        *(README, _TRUTH, _ACCESS, _ERROR, _HARNESS, _LEDGER, _BALANCE, _KERNEL),
        *(*_ENGINES, *_SETTINGS),
    ]
)
"""Every file that a day has, by its path in the folder."""
TITLE: Final = "# An invented day"

_FIRST_SEQ = 40_101
_ENOUGH = 200  # requests to tie the clocks with
_DENSE = 5_000  # requests that tell the clocks well
_SHOWN = 40  # lines that a condition may cite
_WORDS = {
    "out_of_memory": "{engine} dies of CUDA out of memory and is back after 75 s: 500, then 502",
    "pool_empty": f"the pool of {POOL} runs dry, and stays so: 429",
    "burst": "a script sends more than the burst limit allows: 429",
    "plugin_down": f"the plugin rag_notes cannot reach {DEPENDENCY}: 503",
    "too_long": "somebody sends prompts longer than the context: 400",
    "left": "several clients hang up before their answer: 499",
    "slow": "{engine} has its cache full and works at a fraction of its speed: 504",
    "refused": "the port of {engine} refuses connections, though it serves: 502",
}


def write(
    seed: int, requests: int, folder: Path, step: Callable[[int], None]
) -> dict[str, int]:
    """Write the day of a seed into an empty folder.

    Calls `step` with the requests of each chunk that is written. Gives the numbers of
    `attempts`, `failed`, `incidents`, `lines` and `bytes`. The same seed and number of
    requests give the same bytes.
    """
    day = draw(seed, requests)
    counts = {"attempts": 0, "failed": 0, "incidents": len(day.incidents)}
    for path, text in _SETTINGS.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    with ExitStack() as stack:
        logs = {
            path: stack.enter_context(
                LogFile(folder, path, first_seq=_FIRST_SEQ * (path == _LEDGER))
            )
            for path in sorted(FILES - {README, *_SETTINGS})
        }
        arrivals = Arrivals(day)
        _prepare(day, arrivals, logs)
        statistics = [
            background.Statistics(logs[path], clock)
            for path, clock in zip(_ENGINES, day.engines, strict=True)
        ]
        way = Way(day)
        for until, chunk in arrivals.chunks():
            rows = lines.named(way.take(chunk), day.users)
            _write(day, rows, logs)
            for number, ticks in enumerate(statistics):
                ticks.add(rows.filter(_at(number)), until)
            for log in logs.values():
                log.flush(until)
            counts["attempts"] += rows.height
            counts["failed"] += rows["cause"].count()
            step(chunk.height)
        for log in logs.values():
            log.flush()
        end = 2 * DAY_S * SECOND
        for line in [*_rest(day, logs), {"expect_verdicts": counts["failed"]}]:
            logs[_TRUTH].say(end, json.dumps(line))
        logs[_TRUTH].flush()
        written = [log for path, log in logs.items() if path != _TRUTH]
        counts["lines"] = sum(log.lines for log in written)
        counts["bytes"] = sum(log.bytes for log in written)
    (folder / README).write_text(_story(day, counts), "utf-8")
    return counts


def _at(number: int) -> pl.Expr:
    return pl.col("reached") & (pl.col("engine") == number)


def _prepare(day: Day, arrivals: Arrivals, logs: dict[str, LogFile]) -> None:
    """Write what does not depend on the traffic."""
    for one in day.of("out_of_memory"):
        background.death(one, logs[_ENGINES[one.engine]], day.engines[one.engine])
    background.harness(day, logs[_HARNESS])
    background.balances(day, arrivals, logs[_BALANCE])
    background.kernel(logs[_KERNEL], day.engines[0])


def _write(day: Day, rows: pl.DataFrame, logs: dict[str, LogFile]) -> None:
    """Let every program write about these attempts."""
    lines.access(rows, logs[_ACCESS], day.nginx)
    lines.errors(rows, logs[_ERROR], day.nginx)
    lines.harness(rows, logs[_HARNESS], day.harness)
    lines.ledger(rows, logs[_LEDGER], day.quota)
    for number, path in enumerate(_ENGINES):
        lines.engine(rows.filter(_at(number)), logs[path], day.engines[number])
    lines.truth(rows, logs[_TRUTH])


def _rest(day: Day, logs: dict[str, LogFile]) -> list[dict[str, Any]]:
    """State the conditions and the clocks."""
    found = []
    for one in day.incidents:
        log = logs[_ENGINES[one.engine]]
        match one.kind:
            case "out_of_memory":
                cause, scope = "model.cuda_oom", ENGINES[one.engine]
                cited = log.places("dead") + log.places("echo")
            case "pool_empty":
                cause, scope = "quota.exceeded", POOL
                cited = logs[_LEDGER].places("denied") + logs[_BALANCE].places("empty")
            case "plugin_down":
                cause, scope = "harness.plugin_failed", DEPENDENCY
                cited = logs[_HARNESS].places("plugin") + logs[_HARNESS].places("probe")
            case "slow":
                cause, scope = "model.slow", ENGINES[one.engine]
                cited = log.places("slow")
            case "refused":
                cause, scope = "harness.connect_refused", ADDRESSES[one.engine]
                cited = logs[_ERROR].places("refused")
            case _:
                continue
        found.append(
            {
                "condition": cause,
                "layer": cause.partition(".")[0],
                "scope": scope,
                "root": cited[0],
                "also": cited[1:_SHOWN],
            }
        )
    return [*found, *(_clocks(day) if day.requests >= _ENOUGH else [])]


def _clocks(day: Day) -> list[dict[str, Any]]:
    """State what is wrong with each clock at noon."""
    noon = DAY_S // 2 * SECOND
    # A request bounds a clock by its own length on the one side: of few requests none
    # may be short.
    sparse = day.requests < _DENSE

    def state(path: str, clock: Clock, tolerance_s: float) -> dict[str, Any]:
        told = {
            "source": path,
            "offset_s": clock.ahead_at(noon) / SECOND,
            "tolerance_s": tolerance_s,
            "at": day.moment(noon).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        zone = {"time_zone_s": clock.zone_s} if clock.zone_s else {}
        return {"clock": told | (zone if path != _ACCESS else {})}

    return [
        state(_ACCESS, day.nginx, 0.1),
        state(_HARNESS, day.harness, 0.3),
        state(_LEDGER, day.quota, 0.6 if sparse else 0.3),
        *(
            state(path, clock, 1.5 if sparse else 0.8)
            for path, clock in zip(_ENGINES, day.engines, strict=True)
        ),
    ]


def _story(day: Day, counts: dict[str, int]) -> str:
    """Tell the day in words: what went wrong, and whose clock is how wrong."""
    what = [
        f"| {day.moment(one.start):%H:%M:%S} | {day.moment(one.end):%H:%M:%S} | "
        f"{_WORDS[one.kind].format(engine=ENGINES[one.engine])} |"
        for one in day.incidents
    ]
    clocks = [
        f"| {name} | {clock.ahead_us / SECOND:+.3f} s | {clock.drift_ppm:+d} ppm | UTC{clock.zone_s // 3600:+d} |"
        for name, clock in (
            ("nginx (the reference)", day.nginx),
            ("harness", day.harness),
            ("quota", day.quota),
            *zip(ENGINES, day.engines, strict=True),
        )
    ]
    return "\n".join(
        [
            TITLE,
            "",
            f"{day.midnight:%-d %B %Y} UTC, of seed {day.seed}: {day.requests:,} requests, {counts['attempts']:,} attempts, "
            f"{counts['failed']:,} failed. Nothing in it is real: written by `faultlayer simulate`.",
            "",
            "| from | to | what goes wrong |",
            "|---|---|---|",
            *what,
            "",
            "Besides, now and then a client hangs up or a prompt is too long.",
            "",
            "| clock | ahead at midnight | drift | zone |",
            "|---|---|---|---|",
            *clocks,
            "",
            "`faultlayer analyze logs` reads the logs; `truth.jsonl` has what is true of every attempt, a JSON object a line.",
            "",
        ]
    )
