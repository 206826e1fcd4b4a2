"""The plan of an invented day: whose clock is how wrong, and what goes wrong when.

True time is in microseconds since midnight, by the clock of nginx.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import polars as pl

from faultlayer.simulate.columns import stamp

SECOND: Final = 1_000_000
DAY_S: Final = 86_400
ENGINES: Final = ("engine-a", "engine-b")
ADDRESSES: Final = ("172.20.8.21:8000", "172.20.8.22:8000")
DEPENDENCY: Final = "elasticsearch"
BURST_LIMIT: Final = 20
BURST_US: Final = 5 * SECOND
CONTEXT: Final = 32_768
TIMEOUT_US: Final = 60 * SECOND
SLOWER: Final = 25
RESERVED: Final = 60
PARAMS_B: Final = 14
POOL: Final = "prj-lab"
POOL_LIMIT: Final = 30_000.0
POOL_USED: Final = 29_550.0

# How many requests of its own an incident brings at least, and how long it lasts.
KINDS: Final = {
    "out_of_memory": (32, 75),
    "pool_empty": (30, 340),
    "burst": (28, 5),
    "plugin_down": (24, 90),
    "too_long": (8, 160),
    "left": (10, 150),
    "slow": (30, 150),
    "refused": (18, 60),
}
_QUIET_S: Final = 1200  # between the end of an incident and the next
_MOST_INCIDENTS: Final = 5
_LEAST_INCIDENTS: Final = 3


@dataclass(frozen=True, slots=True)
class Clock:
    """What a host's clock shows: ahead at midnight, drifting, in a zone."""

    midnight: datetime
    ahead_us: int = 0
    drift_ppm: int = 0
    zone_s: int = 0

    def ahead_at(self, t: int) -> int:
        """Give how far it is ahead of nginx at `t`, in microseconds."""
        return self.ahead_us + t * self.drift_ppm // 1_000_000

    def show(self, t: pl.Expr, form: str) -> pl.Expr:
        """Format a column of true times as this clock shows them."""
        zero = self.ahead_us + self.zone_s * SECOND
        zero += int(self.midnight.timestamp()) * SECOND
        return stamp(t + t * self.drift_ppm // 1_000_000 + zero, form)

    def at(self, t: int, form: str) -> str:
        """Format one true time as `show` does."""
        made = pl.select(self.show(pl.lit(t, pl.Int64), form)).item()
        return str(made)


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that goes wrong; `engine` is a number, where one is concerned."""

    kind: str
    start: int
    end: int
    engine: int
    requests: int


@dataclass(frozen=True, slots=True)
class Day:
    """What is decided before the first request comes; `users` have one number each."""

    seed: int
    requests: int
    midnight: datetime
    users: int
    nginx: Clock
    harness: Clock
    quota: Clock
    engines: tuple[Clock, Clock]
    incidents: tuple[Incident, ...]

    def of(self, kind: str) -> tuple[Incident, ...]:
        """Give the incidents of a kind."""
        return tuple(one for one in self.incidents if one.kind == kind)

    def moment(self, t: int) -> datetime:
        """Give a true time as UTC."""
        return self.midnight + timedelta(microseconds=t)


def draw(seed: int, requests: int) -> Day:
    """Draw the day of a seed: date, clocks, and three to five incidents.

    Few requests make fewer incidents, which take no more than half of them.
    """
    dice = np.random.default_rng([seed, 0])
    midnight = datetime(2026, 1, 10, tzinfo=UTC) + timedelta(
        days=int(dice.integers(0, 320))
    )
    nginx_zone = 3600 * int(dice.choice([0, 0, 8, 1, -5]))
    hosts_zone = 3600 * int(dice.choice([0, 8, 8, 2]))

    def clock(most_s: float, zone_s: int) -> Clock:
        ahead = int(dice.integers(-int(most_s * 1000), int(most_s * 1000))) * 1000
        return Clock(midnight, ahead, int(dice.integers(-25, 26)), zone_s)

    return Day(
        seed,
        requests,
        midnight,
        max(24, requests // 60),
        Clock(midnight, zone_s=nginx_zone),
        clock(4, 0),
        clock(3, 0),
        (clock(2, hosts_zone), clock(2, hosts_zone)),
        _incidents(dice, requests),
    )


def _incidents(dice: np.random.Generator, requests: int) -> tuple[Incident, ...]:
    wanted = int(dice.integers(_LEAST_INCIDENTS, _MOST_INCIDENTS + 1))
    left, kinds = requests // 2, list[str]()
    for kind in dice.permutation(list(KINDS)).tolist():
        if len(kinds) < wanted and KINDS[kind][0] <= left:
            kinds.append(kind)
            left -= KINDS[kind][0]
    found = []
    slot = (DAY_S - 2 * 3600) // max(1, len(kinds))
    for number, kind in enumerate(kinds):
        least, lasts = KINDS[kind]
        free = slot - lasts - _QUIET_S
        start = 3600 + number * slot + int(dice.integers(0, free))
        start = start * SECOND + int(dice.integers(0, SECOND))
        engine, more = int(dice.integers(0, 2)), min(requests // 4000, least * 6)
        found.append(
            Incident(kind, start, start + lasts * SECOND, engine, least + more)
        )
    return tuple(found)
