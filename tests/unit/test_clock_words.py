"""What is said of clocks: zone and remainder, steps with their time."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from faultlayer import clock_words

NOON = datetime(2026, 10, 25, 12)  # noqa: DTZ001 - cases hold UTC without a zone
HOUR = 3_600_000_000

WHOLE = {
    "clock_id": "c",
    "segment": 0,
    "valid_from": None,
    "valid_to": None,
    "anchor_ts": None,
    "pairs": 9,
    "offset_us": 2_703_000,
    "lo_us": 2_699_000,
    "hi_us": 2_706_000,
    "drift_ppm": 0.0,
    "status": "tied",
    "method": "shared request ids",
    "time_zone_us": 0,
}


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ({}, "c +2.703 s ±4 ms"),
        ({"status": "weak"}, "c +2.703 s ±4 ms (weak)"),
        ({"status": "untied"}, "c untied"),
        ({"status": "reference"}, "c is the reference"),
        ({"offset_us": 3_000, "lo_us": -1_000, "hi_us": 7_000}, "c in step ±4 ms"),
        ({"drift_ppm": -12.4}, "c +2.703 s ±4 ms -12 ppm"),
        ({"lo_us": None}, "c +2.703 s ±?"),
        ({"method": "as told"}, "c +2.703 s ±4 ms (as told)"),
        ({"method": "as told", "status": "reference"}, "c is the reference (as told)"),
        ({"offset_us": 28_800_001_000, "lo_us": 28_800_000_000,
          "hi_us": 28_800_002_000, "time_zone_us": 28_800_000_000},
         "c UTC+8 ±1 ms"),
    ],
)  # fmt: skip
def test_clocks_in_words(segment: dict[str, Any], text: str) -> None:
    """Offset, bounds and doubt of a clock in a few words."""
    assert clock_words.clock_words([WHOLE | segment], None) == text


def segments(
    *offsets: int, pairs: tuple[int, ...] = (9, 5, 4, 3)
) -> list[dict[str, Any]]:
    """Give segments of an hour each from noon on, with these offsets in us."""
    return [
        WHOLE
        | {
            "segment": number,
            "valid_from": NOON + timedelta(hours=number) if number else None,
            "valid_to": NOON + timedelta(hours=number + 1)
            if number + 1 < len(offsets)
            else None,
            "offset_us": offset,
            "lo_us": offset - 4_000,
            "hi_us": offset + 3_000,
            "time_zone_us": round(offset / 9e8) * 900_000_000,
            "pairs": pairs[number],
        }
        for number, offset in enumerate(offsets)
    ]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (segments(0, 1_100_000), "c in step ±4 ms, from 13:00:00 +1.1 s ±4 ms"),
        (segments(8 * HOUR, 8 * HOUR + 1_100_000, pairs=(2, 9)),
         "c UTC+8 and +1.1 s ±4 ms, until 13:00:00 UTC+8 ±4 ms"),
        (segments(2 * HOUR + 5_000, HOUR + 5_000),
         "c UTC+2 and +5 ms ±4 ms,"
         " from 13:00:00 UTC+1 and +5 ms ±4 ms (summer time ends)"),
        (segments(-5 * HOUR, -4 * HOUR),
         "c UTC-5 ±4 ms, from 13:00:00 UTC-4 ±4 ms (summer time begins)"),
        (segments(0, -365 * 24 * HOUR), "c in step ±4 ms, from 13:00:00 a year behind ±4 ms"),
        (segments(*range(0, 60_000_000, 10_000_000), pairs=(9, 1, 1, 1, 1, 1)),
         "c in step ±4 ms, from 13:00:00 +10 s ±4 ms, from 14:00:00 +20 s ±4 ms,"
         " from 15:00:00 +30 s ±4 ms, from 16:00:00 +40 s ±4 ms, 1 more step"),
    ],
)  # fmt: skip
def test_steps_have_their_time(found: list[dict[str, Any]], text: str) -> None:
    """The longest segment is named first, what differs with when it did."""
    assert clock_words.clock_words(found, NOON.date()) == text


def test_a_step_of_the_reference_shows_in_all_others() -> None:
    """Two clocks that share requests with it went back at once: it was set forward."""
    first, second = segments(2_000_000, 500_000), segments(0, -1_503_000)
    later = [one | {"valid_from": NOON + timedelta(hours=2)} for one in second]
    told = clock_words.reference_steps
    day = NOON.date()
    assert told([first, second], day) == [
        "the reference itself was set by +1.5 s about 13:00:00"
    ]
    assert told([first], day) == []
    assert told([first, later], day) == []
    assert told([first, segments(0, 0)], day) == []
    assert told([first, segments(0, -1_400_000)], day) == []
    summer = segments(2 * HOUR, HOUR + 200)
    assert told([summer, segments(0, -HOUR)], day) == []
