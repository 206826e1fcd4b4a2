"""From values to places on a chart, and the marks along its edges."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 21600, 43200),
    *(86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000, 157680000),
)
_DAY = 86400
_LAST = datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001 - cases hold UTC without a zone
_NOON = datetime(1970, 1, 5)  # noqa: DTZ001 - a Monday, like it


@dataclass(frozen=True, slots=True)
class Times:
    """A stretch of time along x, from `left` to `right`, px."""

    start: datetime
    end: datetime
    left: float
    right: float

    def at(self, ts: datetime) -> float:
        """Give where a time is, px; times outside are at the edges."""
        whole = (self.end - self.start) / timedelta(seconds=1)
        part = (ts - self.start) / timedelta(seconds=1)
        share = min(max(part / whole, 0.0), 1.0) if whole > 0 else 0.0
        return self.left + share * (self.right - self.left)

    def marks(self, most: int) -> list[tuple[float, str]]:
        """Give places and words of at most about `most` round times."""
        seconds = (self.end - self.start) / timedelta(seconds=1)
        step = next((s for s in _STEPS if seconds / s <= most), _STEPS[-1])
        first = math.ceil((self.start - _NOON) / timedelta(seconds=step))
        found = []
        for number in range(first, first + most + 2):
            ts = later(_NOON, timedelta(seconds=step) * number)
            if ts > self.end or ts == _LAST:
                break
            found.append((self.at(ts), _time(ts, step)))
        return found


def later(ts: datetime, time: timedelta) -> datetime:
    """Give a moment after another one; none is later than the last that there is."""
    try:
        return ts + time
    except OverflowError:
        return _LAST


def counts(most: int, marks: int = 4) -> list[int]:
    """Give round numbers from 0 to at least `most`, about `marks` steps."""
    if most <= 0:
        return [0, 1]
    raw = max(most / marks, 1.0)
    power = 10 ** math.floor(math.log10(raw))
    step = next(
        (int(power * one) for one in (1, 2, 5, 10) if power * one >= raw - 1e-9),
        int(power * 10),
    )
    return list(range(0, step * (math.ceil(most / step)) + 1, step))


def rounded(low: float, high: float, marks: int = 4) -> list[float]:
    """Give round numbers that lie between two, about `marks` steps."""
    raw = (high - low) / marks
    if raw <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((power * one for one in (1, 2, 5, 10) if power * one >= raw), raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * number for number in range(first, last + 1)]


def spread(marks: Sequence[tuple[float, str]], room: float) -> list[tuple[float, str]]:
    """Leave out marks that would stand nearer than `room` px to the one before."""
    kept: list[tuple[float, str]] = []
    for place, text in marks:
        if not kept or place - kept[-1][0] >= room:
            kept.append((place, text))
    return kept


def _time(ts: datetime, step: int) -> str:
    if step >= _DAY:
        return f"{ts:%Y-%m-%d}" if step >= 30 * _DAY else f"{ts:%m-%d}"
    if ts.hour == ts.minute == ts.second == 0:
        return f"{ts:%m-%d}"
    return f"{ts:%H:%M}" if step % 60 == 0 else f"{ts:%H:%M:%S}"
