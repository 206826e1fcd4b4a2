"""What becomes of each request on its way: limits, plugins, engines, its client.

Every log and the truth are written from what is decided here.
"""

import numpy as np
import polars as pl

from faultlayer.simulate.day import (
    BURST_LIMIT,
    BURST_US,
    CONTEXT,
    SECOND,
    SLOWER,
    TIMEOUT_US,
    Day,
)
from faultlayer.simulate.words import CLOSES_S, READY_S

_NEVER = pl.lit(2**62, pl.Int64)
_SPAN = 2**37  # more microseconds than a day has
_RETRIED = ("refused", "cut", "plugin")

# outcome: status that nginx writes
STATUS = {
    "served": 200,
    "burst": 429,
    "denied": 429,
    "plugin": 503,
    "too_long": 400,
    "refused": 502,
    "cut": 500,
    "broken": 200,
    "left": 499,
    "timeout": 504,
}
TURNED_AWAY = ("burst", "denied", "plugin", "too_long")
_CAUSES = {
    "burst": "quota.burst_limit",
    "denied": "quota.exceeded",
    "plugin": "harness.plugin_failed",
    "too_long": "harness.context_overflow",
    "cut": "model.cuda_oom",
    "broken": "model.cuda_oom",
    "left": "client.abort",
    "timeout": "model.slow",
}
_PROVEN = ("burst", "denied", "plugin", "too_long")


class Way:
    """The way through the stack; keeps the last seconds of each chunk for bursts."""

    def __init__(self, day: Day) -> None:
        self.day = day
        self._recent = np.empty((0, 2), dtype=np.int64)

    def take(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Decide about the requests of a chunk, and about those that come again.

        Adds `outcome`, `end` and `first` (when the answer began), `status`, `cause`
        and `strength` of what failed, `tries`, `recent` (requests of the user within
        the burst window), `slow`, `sent` (to an engine), `reached` (it took it).
        """
        counted = rows.with_columns(recent=self._counted(rows), tries=1)
        decided = self._decide(counted)
        again = decided.filter(
            pl.col("outcome").is_in(_RETRIED)
            & (pl.col("user") % 3 == 0)
            & (pl.col("user") < self.day.users)
        )
        later = again.select(
            pl.col(name) if name != "start" else pl.col("end") + 1_500_000
            for name in rows.columns
        ).rename({"end": "start"})
        later = later.with_columns(
            pl.lit(None, pl.Int64).alias("leaves"),
            recent=pl.lit(1, pl.Int64),
            tries=2,
        )
        return pl.concat([decided, self._decide(later.select(counted.columns))])

    def _counted(self, rows: pl.DataFrame) -> pl.Series:
        """Count the user's requests in the burst window that ends with each."""
        old = self._recent
        new = rows.select("user", "start").to_numpy().astype(np.int64)
        both = np.concatenate([old, new])
        order = np.lexsort((both[:, 1], both[:, 0]))
        keys = both[order, 0] * _SPAN + both[order, 1]
        since = np.searchsorted(keys, keys - BURST_US, side="right")
        begins = np.searchsorted(keys, both[order, 0] * _SPAN)
        counts = np.empty(len(both), dtype=np.int64)
        counts[order] = np.arange(len(both)) - np.maximum(since, begins) + 1
        if len(both):
            self._recent = both[both[:, 1] > both[:, 1].max() - BURST_US]
        return pl.Series(counts[len(old) :])

    def _decide(self, rows: pl.DataFrame) -> pl.DataFrame:
        c = pl.col
        start, engine = c("start"), c("engine")
        slow = plugin = refused = pl.lit(value=False)
        cut, dead = _NEVER, pl.lit(value=False)
        for one in self.day.of("slow"):
            slow |= (engine == one.engine) & start.is_between(one.start, one.end)
        for one in self.day.of("plugin_down"):
            plugin |= c("plugin") & start.is_between(one.start, one.end)
        for one in self.day.of("refused"):
            refused |= (engine == one.engine) & start.is_between(one.start, one.end)
        took = pl.when(slow).then(c("took") * SLOWER).otherwise(c("took"))
        for one in self.day.of("out_of_memory"):
            closes = one.start + int(CLOSES_S * SECOND)
            ready = one.start + int(READY_S * SECOND)
            mine = engine == one.engine
            dead |= mine & start.is_between(closes, ready)
            dies = mine & (start < closes) & (start + took > one.start)
            at = pl.max_horizontal(pl.lit(one.start + 200_000), start + 20_000)
            cut = pl.when(dies).then(at + c("jitter")).otherwise(cut)
        done = start + took
        left = (start + c("leaves")).fill_null(_NEVER)
        waited = start + TIMEOUT_US + c("jitter") // 4
        timeout = pl.when(c("stream")).then(_NEVER).otherwise(waited)
        begun = start + 90_000 + took // 25
        first = pl.when(c("stream")).then(begun).otherwise(done - 4_000)
        soonest = pl.min_horizontal(done, left, timeout, cut)
        turned = start + 8_000 + c("jitter") * 2
        outcome = (
            pl.when(c("recent") > BURST_LIMIT).then(pl.lit("burst"))
            .when(c("denied")).then(pl.lit("denied"))
            .when(plugin).then(pl.lit("plugin"))
            .when(c("prompt") > CONTEXT).then(pl.lit("too_long"))
            .when(dead | refused).then(pl.lit("refused"))
            .when((soonest == cut) & c("stream") & (first < cut)).then(pl.lit("broken"))
            .when(soonest == cut).then(pl.lit("cut"))
            .when(soonest == left).then(pl.lit("left"))
            .when(soonest == timeout).then(pl.lit("timeout"))
            .otherwise(pl.lit("served"))
        )  # fmt: skip
        causes = c("outcome").replace_strict(_CAUSES, default=None)
        alone = pl.lit("harness.connect_refused")
        reason = pl.when(dead).then(pl.lit("model.cuda_oom")).otherwise(alone)
        hidden = c("unlogged") & c("outcome").is_in(["burst", "plugin"])
        proven = c("outcome").is_in(_PROVEN) & ~hidden
        return (
            rows.with_columns(outcome=outcome, slow=slow)
            .with_columns(
                end=pl.when(c("outcome").is_in(TURNED_AWAY)).then(turned)
                .when(c("outcome") == "refused").then(start + 9_000)
                .when(c("outcome").is_in(["cut", "broken"])).then(soonest + 4_000)
                .otherwise(soonest),
                first=first,
                sent=~c("outcome").is_in(TURNED_AWAY),
                reached=~c("outcome").is_in([*TURNED_AWAY, "refused"]),
                status=c("outcome").replace_strict(STATUS, return_dtype=pl.Int64),
                cause=pl.when(c("outcome") == "refused").then(reason).otherwise(causes),
                strength=pl.when(proven).then(pl.lit("proven"))
                .otherwise(pl.lit("corroborated")),
                unlogged=hidden,
            )
        )  # fmt: skip
