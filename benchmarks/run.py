"""Time `faultlayer analyze` against the floor: `run.py ACCESS_LOG --work DIR`.

Both read the same file in the same run, in turns. CPU seconds are user + system
of the whole process tree, memory is the larger of the biggest process (ru_maxrss)
and the sampled sum over the tree (shared pages counted in each). Exit 1 when a limit is missed.
"""

import argparse
import json
import os
import shlex
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen

HERE = Path(__file__).resolve().parent
MB = 1e6
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Run:
    """One run of one contender; `others` is CPU taken by the rest of the machine."""

    name: str
    cpu_s: float
    wall_s: float
    rss_mb: float
    others_cores: float


def busy_s() -> float:
    """Give the CPU seconds that the machine has worked since boot."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, fields[:8])
    return (user + nice + system + irq + soft + steal) / TICK


def tree_rss_mb(root: int) -> float:
    """Give the resident memory of a process and its descendants now."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                after = (entry / "stat").read_text().rpartition(")")[2].split()
                pages[int(entry.name)] = int(after[21])
                parents[int(entry.name)] = int(after[1])
            except (OSError, IndexError, ValueError):
                continue  # it ended while we looked
    total, wanted = 0, {root}
    for _ in range(4):
        wanted |= {pid for pid, parent in parents.items() if parent in wanted}
    total = sum(pages.get(pid, 0) for pid in wanted)
    return total * PAGE / MB


def measure(name: str, command: list[str], log: Path) -> Run:
    """Run a command to its end and say what it took."""
    peak = 0.0
    stop = threading.Event()
    before, began = busy_s(), time.perf_counter()
    with log.open("wb") as out:
        process = Popen(command, stdin=DEVNULL, stdout=out, stderr=out)

        def watch() -> None:
            nonlocal peak
            while not stop.wait(0.1):
                peak = max(peak, tree_rss_mb(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        stop.set()
        watcher.join()
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        text = log.read_text(errors="replace")[-2000:]
        sys.exit(
            f"{name} ended with {process.returncode}: {shlex.join(command)}\n{text}"
        )
    cpu = usage.ru_utime + usage.ru_stime
    others = max(0.0, busy_s() - before - cpu) / wall
    largest = usage.ru_maxrss * 1024 / MB  # Linux counts in KiB
    return Run(name, cpu, wall, max(peak, largest), others)


def contenders(options: argparse.Namespace) -> dict[str, Callable[[], list[str]]]:
    """Give the commands; each call clears the contender's output."""
    work, python = options.work, sys.executable

    def analyze() -> list[str]:
        case = work / "case"
        shutil.rmtree(case, ignore_errors=True)
        words = shlex.split(options.command) or [python, "-m", "faultlayer"]
        return [*words, "analyze", str(options.log), "--case", str(case)]

    def floor() -> list[str]:
        program = "floor_lines.py" if options.log.is_dir() else "floor.py"
        return [
            python,
            str(HERE / program),
            str(options.log),
            str(work / "floor.parquet"),
        ]

    def peer() -> list[str]:
        target = str(work / "peer.parquet")
        return [
            python,
            str(HERE / "peer_re.py"),
            str(options.log),
            target,
            str(options.sample),
        ]

    chosen = {} if options.no_analyze else {"analyze": analyze}
    chosen["floor"] = floor
    if options.peer == "re":
        chosen["re"] = peer
    return chosen


def report(runs: list[Run], size: int, sample: int) -> dict[str, float]:
    """Print one line a contender; gives the smallest CPU seconds of each."""
    print(
        f"{'':8} {'runs':>4} {'CPU-s min':>9} {'median':>7} {'wall min':>8} {'MB/CPU-s':>8} {'peak MB':>8} {'others':>7}"
    )
    least: dict[str, float] = {}
    for name in dict.fromkeys(run.name for run in runs):
        mine = [run for run in runs if run.name == name]
        cpu = [run.cpu_s for run in mine]
        least[name] = min(cpu)
        read = min(size, sample) if name == "re" else size
        print(
            f"{name:8} {len(mine):4} {min(cpu):9.2f} {statistics.median(cpu):7.2f} "
            f"{min(run.wall_s for run in mine):8.2f} {read / MB / min(cpu):8.1f} "
            f"{max(run.rss_mb for run in mine):8.0f} {statistics.median(run.others_cores for run in mine):7.2f}"
        )
    return least


def main() -> int:
    """Run the contenders in turns and judge the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path, help="access log or folder of generate.py")
    parser.add_argument("--work", type=Path, required=True, help="folder for outputs")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-ratio", type=float, default=2.0)
    parser.add_argument("--max-rss", type=float, default=700.0, help="MB")
    parser.add_argument("--command", default="", help="instead of python -m faultlayer")
    parser.add_argument(
        "--no-analyze", action="store_true", help="only floor and peers"
    )
    parser.add_argument("--peer", choices=["re"])
    parser.add_argument(
        "--sample", type=int, default=128 << 20, help="bytes for a peer"
    )
    parser.add_argument("--json", type=Path, help="write every run there")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    files = [path for path in sorted(options.log.rglob("*")) if path.is_file()]
    files = files or [options.log]
    size = sum(path.stat().st_size for path in files)
    commands = contenders(options)
    for path in files:
        with path.open("rb") as file:  # into the page cache, for all alike
            while file.read(1 << 24):
                pass
    runs = [
        measure(name, command(), options.work / f"{name}.out")
        for _ in range(options.repeat)
        for name, command in commands.items()
    ]
    print(
        f"{options.log.name}: {size / MB:.0f} MB, {os.cpu_count()} CPUs; others = cores that other processes took"
    )
    least = report(runs, size, options.sample)
    if options.json:
        options.json.write_text(json.dumps([asdict(run) for run in runs], indent=1))
    if options.no_analyze:
        return 0
    pairs = [
        a.cpu_s / f.cpu_s
        for a, f in zip(
            (run for run in runs if run.name == "analyze"),
            (run for run in runs if run.name == "floor"),
            strict=True,
        )
    ]
    ratio = least["analyze"] / least["floor"]
    rss = max(run.rss_mb for run in runs if run.name == "analyze")
    print(
        f"ratio    {ratio:.2f} (minima; limit {options.max_ratio:.2f}), median of the turns {statistics.median(pairs):.2f}"
    )
    print(f"memory   {rss:.0f} MB (limit {options.max_rss:.0f})")
    return int(ratio > options.max_ratio or rss > options.max_rss)


if __name__ == "__main__":
    sys.exit(main())
