"""Days of a simulator, with clocks that are off, through `analyze`, held against their truth."""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

#: What a clock is held to beyond what holds for all of them: which source, and by name
#: the most of a figure (`_least`: the least), or one that has to be.
LIMITS: dict[str, tuple[str, dict[str, Any]]] = {
    "s01_offset_3s": ("gateway", {"p99": 4, "width": 15, "segments": 1}),
    "s02_drift_50ppm": ("gateway", {"p99": 4, "drift_off": 0.5}),
    "s03_step_2s": ("gateway", {"p99": 5, "steps": 1, "break_off": 30, "jump_off": 10}),
    "s04_tz_8h": ("gateway", {"p99": 4, "zone_h": 8.0, "segments": 1}),
    "s05_q1s_nginx": ("gateway", {"p99": 10, "width": 50}),
    "s06_asym_engine": ("engine", {"p50": 150, "p99": 50, "width": 1200}),
    "s07_sparse_20": ("gateway", {"p99": 15}),
    "s08_only_failures": ("gateway", {"p99": 15, "width": 400}),
    "s09_wrong_2pct": ("gateway", {"p99": 4, "support_least": 0.95}),
    "s10_multi_step": (
        "gateway",
        {"p99": 8, "steps": 3, "break_off": 60, "jump_off": 10},
    ),
    "s11_quota_flush": ("quota", {"status": "untied"}),
    "s12_no_shared_ids": ("gateway", {"status": "untied"}),
    "x2_wrong_20pct": ("gateway", {"p99": 4, "support_least": 0.85}),
    "x5_wrong_spurious": ("gateway", {"status": "untied"}),
    "x6_million": ("gateway", {"p99": 3, "steps": 1, "break_off": 1}),
    "y10_n200_step": ("gateway", {"p99": 15, "steps": 1, "jump_off": 20}),
}
GRID_S = 60
LOGS = {
    "nginx": "/nginx/",
    "gateway": "/harness/",
    "engine": "/model/",
    "quota": "/quota/",
}
SEGMENTS = """
SELECT
    segment,
    status,
    epoch_us(valid_from) / 1e6,
    epoch_us(valid_to) / 1e6,
    epoch_us(anchor_ts) / 1e6,
    offset_us / 1e6,
    coalesce(drift_ppm, 0) * 1e-6,
    lo_us / 1e6,
    hi_us / 1e6,
    pairs,
    support,
    coalesce(time_zone_us, 0) / 3.6e9
FROM read_parquet(?)
WHERE
    clock_id = (SELECT any_value(clock_id) FROM read_parquet(?) WHERE contains(path, ?))
ORDER BY segment
"""


def main() -> None:
    """Run scenarios and seeds in turn; the exit code tells whether all limits hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "tools", type=Path, help="folder of simulate.py and render_logs.py"
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--scenario", action="append", default=[])
    parser.add_argument("--seeds", default="1-5", help="such as 1-5 or 7,101")
    parser.add_argument("--requests", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=JSON")
    arguments = parser.parse_args()
    names = arguments.scenario or _scenarios(arguments.tools)
    bad = runs = 0
    for name in names:
        for seed in _seeds(arguments.seeds):
            simulate = ["--scenario", name, "--seed", str(seed)]
            if arguments.requests:
                simulate += ["--n", str(arguments.requests)]
            simulate += [part for item in arguments.set for part in ("--set", item)]
            held = day(arguments.tools, arguments.work, name, simulate)
            runs += 1
            bad += not held
    print(f"{runs - bad} of {runs} runs hold")
    sys.exit(bool(bad))


def _scenarios(tools: Path) -> list[str]:
    listed = subprocess.run(
        [sys.executable, tools / "simulate.py", "--list"],
        check=True,
        capture_output=True,
        text=True,
    )
    return [line.split()[0] for line in listed.stdout.splitlines()]


def _seeds(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def day(tools: Path, work: Path, name: str, simulate: Sequence[str]) -> bool:
    """Make, analyze and judge one day; prints a line for each of its clocks."""
    shutil.rmtree(work, ignore_errors=True)
    logs, case = work / "rendered", work / "case"
    _run(tools / "simulate.py", *simulate, "--out", work / "simulated")
    _run(tools / "render_logs.py", work / "simulated", logs)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run("-m", "faultlayer", "analyze", logs / "logs", "--case", case, "--quiet")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    truth = json.loads((work / "simulated/truth.json").read_text())
    print(f"{' '.join(simulate)}  {cpu:.1f} CPU-s")
    held = True
    for source in ("gateway", "engine", "quota"):
        figures = _figures(truth, case, source)
        which, limits = LIMITS.get(name, ("", {}))
        wrong = _wrong(figures, limits if which == source else {})
        held &= not wrong
        shown = " ".join(f"{key}={_short(value)}" for key, value in figures.items())
        print(f"  {source:8}{shown}", *(f"  ** {one}" for one in wrong), sep="")
    sys.stdout.flush()
    return held


def _run(*command: object) -> None:
    subprocess.run(
        [sys.executable, *map(str, command)], check=True, stdout=subprocess.DEVNULL
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _figures(truth: Any, case: Path, source: str) -> dict[str, Any]:
    """Give what one clock of a case is, in ms where nothing else is said."""
    files = [str(case / name) for name in ("clocks.parquet", "sources.parquet")]
    found = duckdb.connect().execute(SEGMENTS, [*files, LOGS[source]]).fetchall()
    statuses = {row[1] for row in found}
    figures: dict[str, Any] = {"status": "/".join(sorted(statuses)) or "missing"}
    if not found or "untied" in statuses:
        return figures
    start, clocks = truth["t0"], truth["cfg"]["clocks"]
    truly = [
        mine - edge
        for mine, edge in zip(
            truth["theta"][source], truth["theta"]["nginx"], strict=True
        )
    ]
    steps = [(at, by) for at, by in clocks[source].get("steps", [])]
    steps += [(at, -by) for at, by in clocks["nginx"].get("steps", [])]
    seen = [*(at for at, _ in steps), *_slews(clocks[source])]
    errors, inside, widths = [], [], []
    for since, is_ahead in zip(truth["grid"], truly, strict=True):
        row = _segment(found, start + since)
        moved = row[6] * (start + since - row[4]) if row[4] is not None else 0.0
        if any(abs(since - at) < GRID_S for at, _ in steps):
            continue
        errors.append(abs(row[5] + moved - is_ahead) * 1e3)
        inside.append(row[7] + moved <= is_ahead <= row[8] + moved)
        widths.append((row[8] - row[7]) * 1e3)
    errors.sort()
    figures |= {
        "segments": len(found),
        "p50": statistics.median(errors),
        "p99": errors[int(0.99 * (len(errors) - 1))],
        "coverage": sum(inside) / len(inside),
        "width": statistics.median(widths),
        "support": min(row[10] or 0.0 for row in found),
        "zone_h": found[0][11],
    }
    if len(found) == 1:
        slope = (truly[-1] - truly[0]) / (truth["grid"][-1] - truth["grid"][0])
        figures["drift_off"] = abs(found[0][6] - slope) * 1e6
    return figures | _breaks(found, start, steps, seen)


def _slews(clock: Any) -> list[float]:
    return [edge for slew in clock.get("slews", []) for edge in slew[:2]]


def _segment(found: Sequence[Any], at: float) -> Any:
    return next(row for row in found if row[3] is None or at < row[3])


def _breaks(
    found: Sequence[Any],
    start: float,
    steps: Sequence[tuple[float, float]],
    seen: Sequence[float],
) -> dict[str, Any]:
    """Compare the breaks of a clock with its true steps, in s and ms."""
    places, jumps = [], []
    for left, right in pairwise(found):
        at = right[2]
        old, new = (row[5] + row[6] * (at - row[4]) for row in (left, right))
        places.append(at - start)
        room = sum(row[8] - row[7] for row in (left, right)) / 2
        jumps.append((new - old, room))
    hits: list[tuple[float, float]] = []
    taken = set()
    for at, by in steps:
        if not places:
            continue
        number = min(range(len(places)), key=lambda one: abs(places[one] - at))
        if abs(places[number] - at) < 900:
            taken.add(number)
            hits.append((abs(places[number] - at), abs(jumps[number][0] - by) * 1e3))
    false = [
        number
        for number in range(len(places))
        if number not in taken
        and abs(jumps[number][0]) > jumps[number][1]
        and not any(abs(places[number] - at) < 900 for at in seen)
    ]
    return {
        "steps": len(hits),
        "of": len(steps),
        "false_steps": len(false),
        "rate_changes": len(places) - len(taken) - len(false),
        "break_off": max((one for one, _ in hits), default=0.0),
        "jump_off": max((one for _, one in hits), default=0.0),
    }


def _wrong(figures: dict[str, Any], limits: dict[str, Any]) -> list[str]:
    """Name what does not hold."""
    if "coverage" not in figures:
        return [
            f"{key} is not {value}"
            for key, value in limits.items()
            if figures.get(key) != value
        ]
    wrong = []
    if figures["coverage"] < 0.99:
        wrong.append("coverage < 0.99")
    if figures["false_steps"]:
        wrong.append("a false step")
    if figures["steps"] < figures["of"]:
        wrong.append("a step was missed")
    for key, value in limits.items():
        if key.endswith("_least"):
            held = figures[key.removesuffix("_least")] >= value
        elif key in {"status", "segments", "steps", "zone_h"}:
            held = figures[key] == value
        else:
            held = figures.get(key, value + 1) <= value
        if not held:
            wrong.append(f"{key} {value}")
    return wrong


if __name__ == "__main__":
    # Children find the checkout that this file stands in.
    sources = str(Path(__file__).resolve().parent.parent / "src")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [sources, os.environ.get("PYTHONPATH")])
    )
    main()
