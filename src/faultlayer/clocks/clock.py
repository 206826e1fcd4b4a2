"""What is known of one clock."""

from dataclasses import dataclass

QUARTER_US = 900_000_000

#: An offset this near to a multiple of 15 minutes is a time zone and a remainder.
ZONE_SLACK_US = 180_000_000


@dataclass(frozen=True, slots=True)
class Clock:
    """One clock; offset (reading minus reference) and its bounds in microseconds."""

    clock_id: str
    status: str
    method: str
    offset_us: int = 0
    lo_us: int = 0
    hi_us: int = 0
    pairs: int = 0
    support: float | None = None

    @property
    def zone_us(self) -> int:
        """The part of the offset that is a time zone, in microseconds."""
        nearest = round(self.offset_us / QUARTER_US) * QUARTER_US
        return nearest if abs(self.offset_us - nearest) <= ZONE_SLACK_US else 0
