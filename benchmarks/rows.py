"""Chunks of invented traffic as frames, one row a request, seeded by chunk."""

import numpy as np
import polars as pl

from faultlayer.simulate.columns import uuids

CHUNK = 100_000
RATE = 400.0  # requests per second
START_US = 1_795_000_000_000_000

# outcome: share of the failures, status, uct, uht, urt ("n" = a number)
FAILURES = {
    "limited": (0.26, 429, "-", "-", "-"),
    "refused": (0.20, 502, "-", "-", "0.000"),
    "engine": (0.16, 500, "n", "n", "n"),
    "left": (0.14, 499, "n", "-", "n"),
    "timeout": (0.10, 504, "n", "-", "n"),
    "plugin": (0.09, 503, "-", "-", "-"),
    "bad": (0.05, 400, "-", "-", "-"),
}
FAILED, TWO_UPSTREAMS, QUOTED, MALFORMED = 0.02, 0.016, 0.004, 0.0001

AGENTS = [
    f"{name}/{major}.{minor}.{fix} ({system}; {build:06x})"
    for name in ("openai-python", "python-httpx", "node-fetch", "langchain-js")
    for major, minor, fix in ((1, 30, 5), (2, 8, 1), (0, 28, 1))
    for system, build in (("linux x86_64", 0x51F3A0), ("darwin arm64", 0x0C77E2))
] + ["okhttp/5.3.2", "curl/8.17.0", "Go-http-client/2.0", "-"]
PATHS = [
    "POST /v1/chat/completions HTTP/1.1",
    "POST /v1/completions HTTP/1.1",
    "POST /v1/embeddings HTTP/1.1",
    "GET /v1/models?limit=20 HTTP/2.0",
]


def traffic(seed: int, chunk: int) -> pl.DataFrame:
    """Give one chunk of requests in order of their end; times in us, durations in ms."""
    dice = np.random.default_rng([seed, chunk])
    gaps = dice.exponential(1e6 / RATE, CHUNK)
    first = START_US + int(chunk * CHUNK / RATE * 1e6)
    failed = dice.random(CHUNK) < FAILED
    kinds = dice.choice(
        len(FAILURES), CHUNK, p=[share for share, *_ in FAILURES.values()]
    )
    rt = np.clip(dice.lognormal(6.6, 0.9, CHUNK), 12, 58_000).astype(np.int64)
    rt = np.where(failed & (kinds == 4), 60_001, rt)
    rt = np.where(
        failed & np.isin(kinds, [0, 1, 5, 6]), dice.integers(1, 14, CHUNK), rt
    )
    user = (dice.random(CHUNK) ** 2 * 5000).astype(np.int64)  # some ask more
    names = ["ok", *FAILURES]
    return pl.DataFrame(
        {
            "end": first + np.cumsum(gaps).astype(np.int64),
            "rt": rt,
            "outcome": pl.Series(names).gather(np.where(failed, kinds + 1, 0)),
            "id": uuids(dice, CHUNK),
            "user": user,
            "host": dice.integers(0, 16, CHUNK),
            "agent": dice.integers(0, len(AGENTS), CHUNK),
            "path": dice.choice(len(PATHS), CHUNK, p=[0.8, 0.1, 0.07, 0.03]),
            "tokens": dice.integers(4, 900, CHUNK),
            "prompt": dice.integers(20, 6000, CHUNK),
            "two": (dice.random(CHUNK) < TWO_UPSTREAMS) & ~failed,
            "quoted": dice.random(CHUNK) < QUOTED,
            "v6": dice.random(CHUNK) < 0.06,
            "stream": dice.random(CHUNK) < 0.45,
            "draw": dice.random(CHUNK),
        }
    )
