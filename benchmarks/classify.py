"""Time what follows parsing: `classify.py LOGS --work DIR [--max-cpu S] [--max-rss MB]`.

Analyzes the logs once, then takes the parsed records of that case through clocks, views,
conditions, rules and verdicts again in a process of its own, which is what is timed.
With a `truth.jsonl` beside the logs it says how many verdicts have the true cause.
Exit 1 when a limit is missed.
"""

import argparse
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

from faultlayer import assets, classify, database, parse, queries
from faultlayer.analyze import joined_memory, timing

MB = 1e6


def cpu_s() -> float:
    """Give the CPU seconds of this process, user and system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def events(case: Path) -> int:
    """Count the parsed records of a case."""
    found = duckdb.execute(
        f"SELECT sum(events) FROM '{case}/sources.parquet'"
    ).fetchall()
    return int(found[0][0])


def run(case: Path) -> None:
    """Classify the records of a case in place and print the seconds of each stage."""
    spill = case / "spill"
    spill.mkdir()
    memory = joined_memory(events(case))
    con = database.connect(memory_limit=memory, threads=1, temp_dir=spill)
    classifier = classify.Classifier(
        con,
        case,
        queries.library(assets.builtin("queries")),
        timing(parse.load_definitions()),
        spill,
        grows=True,
    )
    begun, stages = cpu_s(), list[tuple[str, float]]()
    classifier.run(lambda name: stages.append((name, cpu_s())))
    ends = [*(at for _, at in stages[1:]), cpu_s()]
    for (name, since), until in zip(stages, ends, strict=True):
        print(f"{name:10} {until - since:6.2f} CPU-s")
    # Linux counts in KiB.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
    print(f"total {cpu_s() - begun:.2f} CPU-s, {peak:.0f} MB")


def right(case: Path, truth: Path) -> str:
    """Say how many verdicts have the cause that is true."""
    row = duckdb.execute(
        f"""
        SELECT
            count(*),
            count(*) FILTER (WHERE verdicts.cause = truth.cause),
            count(*) FILTER (
                WHERE verdicts.strength = 'proven' AND verdicts.cause <> truth.cause
            )
        FROM read_json('{truth}', columns = {{
            request_id: 'VARCHAR', attempt: 'BIGINT', cause: 'VARCHAR'
        }}) AS truth
        LEFT JOIN '{case}/verdicts.parquet' AS verdicts USING (request_id, attempt)
        WHERE truth.cause IS NOT NULL
        """
    ).fetchone() or (0, 0, 0)
    return f"{row[0]:,} failed attempts, {row[1] / max(1, row[0]):.2%} with the true cause, {row[2]} wrongly proven"


def main() -> int:
    """Analyze, classify again, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", type=Path, help="folder `logs` of bad_day.py")
    parser.add_argument("--work", type=Path, required=True, help="folder for outputs")
    parser.add_argument("--max-cpu", type=float, default=60.0, help="seconds")
    parser.add_argument("--max-rss", type=float, default=4000.0, help="MB")
    parser.add_argument("--again", action="store_true", help="the case is there")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    case, again = options.work / "case", options.work / "again"
    if options.child:
        run(again)
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    if not options.again:
        shutil.rmtree(case, ignore_errors=True)
        command = [sys.executable, "-m", "faultlayer", "analyze", options.logs]
        subprocess.run([*command, "--case", case, "--quiet"], check=True)
    shutil.rmtree(again, ignore_errors=True)
    again.mkdir()
    for name in ("events", "rejects"):
        (again / name).symlink_to((case / name).resolve())
    shutil.copy(case / "sources.parquet", again)
    command = [sys.executable, __file__, options.logs, "--work", options.work]
    command.append("--child")
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    print(f"{events(again):,} events\n{done.stdout.strip()}")
    truth = options.logs.parent / "truth.jsonl"
    if truth.exists():
        print(right(again, truth))
    cpu, peak = (
        float(word) for word in done.stdout.split("total ")[1].split()[::2][:2]
    )
    print(f"limits: {options.max_cpu:.0f} CPU-s, {options.max_rss:.0f} MB")
    return int(cpu > options.max_cpu or peak > options.max_rss)


if __name__ == "__main__":
    sys.exit(main())
