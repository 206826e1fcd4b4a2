"""A clock over time, drawn: levels, slopes, the band, and never wider than asked."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from faultlayer.clock_picture import picture

NOON = datetime(2026, 10, 25, 12)  # noqa: DTZ001 - cases hold UTC without a zone
HOUR = 3_600_000_000


def segments(
    *offsets: int, band: int = 4_000, drift: float = 0.0, zone: int = 0
) -> list[dict[str, Any]]:
    """Give segments of an hour each from noon on, with these offsets and a band in us."""
    last = len(offsets) - 1
    return [
        {
            "status": "tied",
            "valid_from": NOON + timedelta(hours=number) if number else None,
            "valid_to": NOON + timedelta(hours=number + 1) if number < last else None,
            "anchor_ts": NOON if drift else None,
            "offset_us": offset + zone,
            "lo_us": offset + zone - band,
            "hi_us": offset + zone + band,
            "drift_ppm": drift,
            "pairs": 9 - number,
            "time_zone_us": zone,
            "first_ts": NOON + timedelta(microseconds=offsets[0] + zone),
            "last_ts": NOON
            + timedelta(hours=last + 1, microseconds=offsets[-1] + zone),
        }
        for number, offset in enumerate(offsets)
    ]


def test_a_step_shows_as_two_levels() -> None:
    """Half of the time low, half of it high; the zone stands in the heading."""
    assert picture(segments(0, 1_500_000, zone=8 * HOUR), 29) == [
        "ahead by beside UTC+8, in a band of ±4 ms (thinner than a row)",
        "+1.504 s           ━━━━━━━━━━",
        "",
        "",
        "",
        "",
        "",
        "   -4 ms ━━━━━━━━━━",
        "         12:00  13:00   14:00",
    ]


def test_a_band_is_drawn_where_it_is_wider_than_a_row() -> None:
    """A clock that stays is three rows: the most, what is likeliest, the least."""
    drawn = picture(segments(0, band=30_000), 32)
    assert drawn[0] == "ahead by, in a band of ±30 ms"
    assert drawn[1] == "+30 ms " + "░" * 25
    assert drawn[2] == "     0 " + "━" * 25
    assert drawn[3] == "-30 ms " + "░" * 25
    # The band of a step is as high as it is wide.
    tall = picture(segments(0, 600_000, band=150_000), 30)
    assert [row[20:21] for row in tall[1:8]] == ["░", "━", "░", "", "", "", ""]
    assert [row[8:9] for row in tall[1:8]] == [" ", " ", " ", "", "░", "━", "░"]
    assert [row[:8].strip() for row in tall[1:8:3]] == ["+750 ms", "", "-150 ms"]
    assert tall[6].startswith("      0 ")


def test_drift_is_a_slope() -> None:
    """Every row from the least to the most has its part of the line."""
    rows = picture(segments(2_703_000, drift=50.0), 70)[1:-1]
    lefts = [row.find("━") for row in rows]
    assert len(rows) == 7
    assert lefts == sorted(lefts, reverse=True)
    assert len(set(lefts)) == 7
    assert rows[-1].startswith("  +2.7 s ")
    # 50 us a second for an hour, less half a column, and the band of 4 ms.
    assert rows[0].startswith("+2.886 s ")


@pytest.mark.parametrize("width", [30, 72, 120])
def test_no_row_is_wider_than_asked(width: int) -> None:
    """The heading is cut by whoever prints it."""
    for found in (segments(0, -90_000_000, 12), segments(5, band=2_000_000)):
        rows = picture(found, width)[1:]
        assert max(map(len, rows)) <= width
        assert rows[-1].rstrip().endswith(("13:00", "15:00", "14:58"))


def test_nothing_is_drawn_of_what_is_not_known() -> None:
    """Untied, the reference, without a time, or of a single moment."""
    one = segments(5)[0]
    for change in (
        {"status": "untied"},
        {"status": "reference"},
        {"lo_us": None},
        {"first_ts": None},
        {"last_ts": one["first_ts"]},
    ):
        assert picture([one | change], 72) == []
