"""What is known of one clock."""

from dataclasses import dataclass, replace

QUARTER_US = 900_000_000

#: An offset this near to a multiple of 15 minutes is a time zone and a remainder.
ZONE_SLACK_US = 180_000_000


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one clock; all in microseconds, offset = reading minus reference.

    `start` and `end` are reference times, None where the first or last one is open;
    offset and bounds hold at `anchor` and move along the line (`slope`, us per us).
    """

    start: float | None
    end: float | None
    anchor: float | None
    offset: float
    slope: float
    low: float
    high: float
    pairs: int
    support: float | None

    @property
    def zone_us(self) -> int:
        """The part of the offset that is a time zone, in microseconds."""
        nearest = round(self.offset / QUARTER_US) * QUARTER_US
        return nearest if abs(self.offset - nearest) <= ZONE_SLACK_US else 0

    def moved(self, by_us: int) -> "Segment":
        """Give the segment of a clock that reads so much more."""
        return replace(
            self,
            offset=self.offset + by_us,
            low=self.low + by_us,
            high=self.high + by_us,
        )


def constant(
    offset: float, low: float, high: float, pairs: int = 0, support: float | None = None
) -> Segment:
    """Give the only segment of a clock that neither drifts nor steps."""
    return Segment(None, None, None, offset, 0.0, low, high, pairs, support)


@dataclass(frozen=True, slots=True)
class Clock:
    """One clock, with its segments by time; an untied one has none."""

    clock_id: str
    status: str
    method: str
    segments: tuple[Segment, ...] = ()

    @property
    def whole(self) -> Segment:
        """The segment that most requests tie."""
        return max(self.segments, key=lambda one: one.pairs)
