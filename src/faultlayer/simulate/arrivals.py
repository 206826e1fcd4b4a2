"""Who asks for what and when: a day's traffic, and what incidents add to it."""

import heapq
import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from faultlayer.simulate.columns import uuids
from faultlayer.simulate.day import (
    CONTEXT,
    DAY_S,
    PARAMS_B,
    POOL_LIMIT,
    POOL_USED,
    RESERVED,
    SECOND,
    Day,
    Incident,
)

_CHUNK = 20_000
_MINUTES = DAY_S // 60
_LAB, _SCRIPT, _GLUTTON, _WRITER = 0, 3, 4, 5  # after the last ordinary user
# Shares of the requests: with an id of the client's own kind, and so on.
_SDK, _STREAMED, _PLUGGED, _TOO_LONG, _LEFT, _UNLOGGED = 0.3, 0.4, 0.02, 5e-4, 1e-3, 0.2


class Arrivals:
    """The requests of a day in chunks; see `chunks` for their columns.

    `booked` lists (time, what the pool of the lab gains or loses in GPU seconds).
    """

    def __init__(self, day: Day) -> None:
        self.day = day
        self.booked: list[tuple[int, float]] = []
        own = [self._own(one, number) for number, one in enumerate(day.incidents)]
        self._special = pl.concat([*own, self._rows(np.random.default_rng(0), [])])

    def chunks(self) -> Iterator[tuple[int, pl.DataFrame]]:
        """Yield (end of the chunk, requests before it), one row a request.

        `start` and `took` are in microseconds, `leaves` is when the client will hang
        up (after its start, or null), `denied` whether the pool of its project is
        empty. Rows are in the order of their start.
        """
        hours = np.arange(_MINUTES) / 60
        weights = 1 - 0.8 * np.cos((hours - 3) / 24 * 2 * math.pi)
        dice = np.random.default_rng([self.day.seed, 1])
        rest = self.day.requests - self._special.height
        counts = dice.multinomial(rest, weights / weights.sum())
        first = 0
        while first < _MINUTES:
            last = first + 1
            while last < _MINUTES and counts[first : last + 1].sum() <= _CHUNK:
                last += 1
            rows = self._traffic(first, counts[first:last])
            end = last * 60 * SECOND
            mine = pl.col("start").is_between(first * 60 * SECOND, end, closed="left")
            whole = pl.concat([rows, self._special.filter(mine)])
            yield end, whole.sort("start", maintain_order=True)
            first = last

    def _traffic(self, first: int, counts: np.ndarray) -> pl.DataFrame:
        dice = np.random.default_rng([self.day.seed, 2, first])
        minutes = np.repeat(np.arange(len(counts)) + first, counts)
        inside = dice.integers(0, 60 * SECOND, len(minutes))
        return self._rows(dice, minutes * 60 * SECOND + inside)

    def _rows(
        self, dice: np.random.Generator, starts: np.ndarray | list[int]
    ) -> pl.DataFrame:
        count = len(starts)
        completion = dice.integers(40, 260, count)
        took = 350_000 + completion * 11_000 + dice.integers(0, 400_000, count)
        stream = dice.random(count) < _STREAMED
        leaves = (took * (0.2 + 0.5 * dice.random(count))).astype(np.int64)
        prompt = dice.integers(30, 4000, count)
        prompt = np.where(dice.random(count) < _TOO_LONG, prompt + CONTEXT, prompt)
        ids = pl.DataFrame({"id": uuids(dice, count), "sdk": dice.random(count) < _SDK})
        short = pl.lit("sdk_") + pl.col("id").str.replace_all("-", "").str.head(22)
        return pl.DataFrame(
            {
                "start": np.asarray(starts, dtype=np.int64),
                "took": took.astype(np.int64),
                "user": (dice.random(count) ** 2 * self.day.users).astype(np.int64),
                "engine": dice.integers(0, 2, count),
                "stream": stream,
                "plugin": dice.random(count) < _PLUGGED,
                "prompt": prompt,
                "completion": completion,
                "leaves": pl.Series(leaves, dtype=pl.Int64).set(
                    pl.Series(stream | (dice.random(count) > _LEFT)), None
                ),
                "denied": np.zeros(count, dtype=bool),
                "unlogged": dice.random(count) < _UNLOGGED,
                "jitter": dice.integers(0, 3000, count),
                "port": dice.integers(33_000, 60_000, count),
                "id": ids.select(
                    pl.when("sdk").then(short).otherwise("id").alias("id")
                ).to_series(),
            }
        )

    def _own(self, one: Incident, number: int) -> pl.DataFrame:
        """Give what an incident adds to the traffic; other requests meet it as well."""
        dice = np.random.default_rng([self.day.seed, 3, number])
        count, lasts = one.requests, one.end - one.start
        since, until = one.start, one.end
        if one.kind in {"out_of_memory", "plugin_down"}:
            since -= 20 * SECOND
        if one.kind == "burst":
            until = since + count * SECOND * 4 // 25
        step = (until - since) // count
        starts = since + np.arange(count) * step + dice.integers(0, step // 3, count)
        rows = self._rows(dice, starts)
        c, n = pl.col, pl.int_range(pl.len())
        extra = self.day.users
        plain = pl.lit(None, pl.Int64)
        spread = (n * 7 + number) % self.day.users  # nobody twice in the same second
        there = pl.when(n % 4 == 0).then(1 - one.engine).otherwise(one.engine)
        changes: dict[str, list[pl.Expr]] = {
            "out_of_memory": [
                spread.alias("user"),
                there.alias("engine"),
                (c("took") * 2).alias("took"),
            ],
            "pool_empty": [
                (extra + _LAB + n % 3).alias("user"),
                pl.lit(2_600_000).alias("took"),
                pl.lit(value=False).alias("plugin"),
            ],
            "burst": [
                pl.lit(extra + _SCRIPT).alias("user"),
                pl.lit(420_000).alias("took"),
                pl.lit(8).alias("completion"),
                pl.lit(value=False).alias("plugin"),
            ],
            "plugin_down": [spread.alias("user"), pl.lit(value=True).alias("plugin")],
            "too_long": [
                pl.lit(extra + _WRITER).alias("user"),
                (c("prompt") + CONTEXT).alias("prompt"),
            ],
            "left": [
                spread.alias("user"),
                pl.lit(value=False).alias("stream"),
                (c("took") * 4).alias("took"),
                (c("took") * 2).alias("leaves"),
            ],
            "slow": [
                spread.alias("user"),
                there.alias("engine"),
                pl.lit(value=False).alias("stream"),
                (c("took") + 1_500_000).alias("took"),
            ],
            "refused": [spread.alias("user"), there.alias("engine")],
        }
        kept = [] if one.kind == "left" else [plain.alias("leaves")]
        rows = rows.with_columns(*kept, *changes[one.kind]).cast(rows.schema)
        if one.kind == "out_of_memory":
            return rows.with_columns(_glutton(one, extra + _GLUTTON, lasts))
        return self._drain(rows) if one.kind == "pool_empty" else rows

    def _drain(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Let the lab's requests empty their pool: who finds no reserve is denied."""
        used, ends, denied = POOL_USED, list[tuple[int, float]](), []
        for start, took in rows.select("start", "took").iter_rows():
            while ends and ends[0][0] <= start:
                used += heapq.heappop(ends)[1]
            denied.append(used + RESERVED > POOL_LIMIT)
            if denied[-1]:
                continue
            used += RESERVED
            back = took * PARAMS_B / SECOND - RESERVED
            heapq.heappush(ends, (start + took, back))
            self.booked += [(start, float(RESERVED)), (start + took, back)]
        return rows.with_columns(denied=pl.Series(denied))

    def pool_used(self, t: int) -> float:
        """Give what the lab's pool has used or holds at `t`, in GPU seconds."""
        return POOL_USED + sum(amount for when, amount in self.booked if when <= t)

    def lab(self) -> int:
        """Give the number of the lab's first user of three."""
        return self.day.users + _LAB


def _glutton(one: Incident, user: int, lasts: int) -> list[pl.Expr]:
    """Let the first of the rows be the request that needs the memory."""
    first = pl.int_range(pl.len()) == 0
    values = {
        "start": one.start - 700_000,
        "user": user,
        "took": lasts // 8,
        "engine": one.engine,
        "prompt": 30_112,
        "stream": False,
    }
    return [
        pl.when(first).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    ]
