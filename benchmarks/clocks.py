"""What it costs to tie a clock: matching by ids and estimating the offset, in CPU seconds."""

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from faultlayer.clocks.agreement import Bounds as OneSided
from faultlayer.clocks.bounds import Bounds
from faultlayer.clocks.estimate import segments

START_US = 1_795_000_000_000_000
DAY_US = 86_400_000_000
AHEAD_US, STEP_US, PPM = 3_000_000, -800_000, 25e-6
T = TypeVar("T")
LOST = 0.1  # of the ids, in each log


def records(requests: int) -> pa.Table:
    """Give what an edge and a gateway log of so many requests of one day.

    The gateway is 3 s ahead, drifts by 25 ppm, and is set back by 0.8 s at 50,000 s; one
    id in a hundred is that of another request.
    """
    dice = np.random.default_rng(1)
    begin = np.sort(dice.random(requests)) * DAY_US
    received = begin + 300 + dice.exponential(800, requests)
    answered = received + 3e3 + dice.exponential(4e6, requests)
    end = answered + 500 + dice.exponential(1500, requests)
    number = np.arange(requests)
    other = np.where(
        dice.random(requests) < 0.01, dice.integers(0, requests, requests), number
    )
    logs = []
    for kind, clock, at, whose in (
        ("access", "edge", end, number),
        ("request_accepted", "gateway", received, other),
        ("request_completed", "gateway", answered, other),
    ):
        shown = at + (clock == "gateway") * (
            AHEAD_US + PPM * at + STEP_US * (at >= 50_000e6)
        )
        kept = np.random.default_rng(2 + (clock == "edge")).random(requests) >= LOST
        ids = pa.array([f"{n * 2654435761 % 2**64:032x}" for n in whose[kept].tolist()])
        stamps = (START_US + shown[kept]).astype(np.int64) // 1000 * 1000
        count = int(kept.sum())
        took = np.ceil((end - begin)[kept] / 1e3)
        logs.append(
            pa.table(
                {
                    "clock_id": pa.array([clock] * count),
                    "source_id": np.full(count, 1 + (clock == "gateway")),
                    "request_id": ids,
                    "kind": pa.array([kind] * count),
                    "ts_raw": pa.array(stamps, pa.timestamp("us")),
                    "ts_precision_us": np.full(count, 1000),
                    "duration_ms": took
                    if kind == "access"
                    else pa.nulls(count, pa.float64()),
                    "status": pa.array([200] * count, pa.int32()),
                    "borrowed": pa.array([False] * count),
                }
            )
        )
    return pa.concat_tables(logs)


def timed(what: str, work: Callable[[], T]) -> T:
    """Do it, and print the CPU seconds of this process that it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    print(
        f"{what:34} {time.process_time() - cpu:6.2f} CPU-s"
        f" {time.perf_counter() - wall:6.2f} s"
    )
    return result


def main() -> None:
    """Tie the gateway of so many requests to the edge and say what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_250_000)
    parser.add_argument(
        "--all", action="store_true", help="use every id, thin out none"
    )
    arguments = parser.parse_args()
    logged = records(arguments.requests)
    limit = "1GB" if arguments.all else "256MB"
    con = duckdb.connect(config={"memory_limit": limit, "threads": 2})
    con.execute("CREATE TABLE parsed AS FROM logged")
    del logged
    con.execute(
        "CREATE TABLE timing AS SELECT unnest(['request_accepted', 'request_completed'])"
        " AS kind, 'before_end' AS timing"
    )
    shared = con.execute(
        "SELECT count(DISTINCT request_id) FROM parsed WHERE clock_id = 'edge'"
        " AND request_id IN (SELECT request_id FROM parsed WHERE clock_id = 'gateway')"
    ).fetchone()
    print(f"{arguments.requests:,} requests, {shared[0] if shared else 0:,} matched")
    print(f"before: {_peak()} MB")
    bounds = Bounds(con)

    def match() -> tuple[OneSided, OneSided]:
        told = 1 if arguments.all else arguments.requests
        bounds.start("edge", "access", told, 2)
        bounds.shared()
        return bounds.of("gateway", "inner")

    upper, lower = timed("matching", match)
    found = timed(
        f"estimating, {len(upper):,} + {len(lower):,}", lambda: segments(upper, lower)
    )
    for one in found:
        since = (one.start or START_US) / 1e6 - START_US / 1e6
        print(
            f"from {since:9.1f} s: {one.offset / 1e3:10.3f} ms, {one.slope * 1e6:6.2f} ppm,"
            f" {one.low / 1e3:10.3f} to {one.high / 1e3:10.3f} ms"
        )
    print(f"peak: {_peak()} MB")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000


if __name__ == "__main__":
    main()
