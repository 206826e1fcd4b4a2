"""Draws what each clock is ahead by over time, with the band in which that may lie."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from faultlayer import wording
from faultlayer.clock_words import clock_words, doubt, is_untied, offset_at, zone_of
from faultlayer.report_page import scales, shapes
from faultlayer.report_page.bars import Say, time_axis
from faultlayer.report_page.shapes import Chart, Shape
from faultlayer.summary import Values

_MOST = 12
_PANEL, _HEAD, _BETWEEN, _BELOW = 64, 20, 14, 30
_LEFT = 92.0
_COLUMNS = 120


def chart(rows: Sequence[Values], totals: Values, say: Say) -> Chart | None:
    """Give a panel for each clock that is tied to the reference; None without any.

    The time is that of the attempts of `totals`, where there are some.
    """
    clocks = [
        list(found) for _, found in groupby(rows, key=lambda row: row["clock_id"])
    ]
    tied = [segments for segments in clocks if _is_drawn(segments)]
    if not tied:
        return None
    tied.sort(key=lambda one: -sum(row["pairs"] or 0 for row in one))
    tied = tied[:_MOST]
    start = totals["ts_start"] or min(_stretch(one)[0] for one in tied)
    end = totals["ts_end"] or max(_stretch(one)[1] for one in tied)
    times = scales.Times(start, end, _LEFT, shapes.WIDTH - 20.0)
    drawn: list[Shape] = []
    y = 0.0
    for segments in tied:
        words = shapes.shortened(clock_words(segments, None), shapes.WIDTH - 10)
        drawn.append(shapes.label(0, y + 12, words, "strong"))
        drawn += _panel(segments, times, y + _HEAD)
        y += _HEAD + _PANEL + _BETWEEN
    drawn += time_axis(times, y - _BETWEEN + 4)
    return Chart(
        "offsets",
        say("chart.offsets.title"),
        say("chart.offsets.desc", clocks=wording.count(len(tied))),
        y - _BETWEEN + 4 + _BELOW,
        drawn,
        table(rows, say),
        "clocks",
    )


def _is_drawn(segments: Sequence[Values]) -> bool:
    first = segments[0]
    if first["status"] == "reference" or is_untied(segments):
        return False
    if any(doubt(one) is None for one in segments) or first["first_ts"] is None:
        return False
    start, end = _stretch(segments)
    return end > start


def _stretch(segments: Sequence[Values]) -> tuple[datetime, datetime]:
    """Give the times of the logs that a clock stamped, by the reference."""
    first, last = segments[0], segments[-1]
    start: datetime = first["first_ts"] - timedelta(microseconds=first["offset_us"])
    end: datetime = last["last_ts"] - timedelta(microseconds=last["offset_us"])
    return start, end


def _panel(segments: Sequence[Values], times: scales.Times, top: float) -> list[Shape]:
    zone = zone_of(max(segments, key=lambda one: one["pairs"] or 0))
    start, end = _stretch(segments)
    start, end = max(start, times.start), min(end, times.end)
    lines = []
    for one in segments:
        first = max(one["valid_from"] or start, start)
        last = min(one["valid_to"] or end, end)
        if last >= first:
            lines.append((one, first, last))
    if not lines:
        return []
    corners = [
        (times.at(ts), *_bounds(one, ts, zone)) for one, *two in lines for ts in two
    ]
    low = min(corner[1] for corner in corners)
    high = max(corner[3] for corner in corners)
    if high - low < 2000:  # noqa: PLR2004 - us; a flat clock is no noise
        low, high = low - 1000, high + 1000
    room = (high - low) / 10
    low, high = low - room, high + room

    def at(us: float) -> float:
        return top + _PANEL * (high - us) / (high - low)

    found = [shapes.rect(_LEFT, top, times.right - _LEFT, _PANEL, "panel")]
    for tick in scales.rounded(low, high, 3):
        found.append(shapes.segment(_LEFT, at(tick), times.right, at(tick), "grid"))
        text = wording.offset(round(tick)) if abs(tick) > 999 else "0"  # noqa: PLR2004
        found.append(shapes.label(_LEFT - 6, at(tick) + 4, text, "", "end"))
    for number in range(0, len(corners), 2):
        (x1, low1, mid1, high1), (x2, low2, mid2, high2) = corners[number : number + 2]
        band = [(x1, at(high1)), (x2, at(high2)), (x2, at(low2)), (x1, at(low1))]
        found.append(shapes.path(band, "band", closed=True))
        found.append(
            shapes.path([(x1, at(mid1)), (x2, at(mid2))], "offset", closed=False)
        )
    return found


def _bounds(one: Values, ts: datetime, zone: int) -> tuple[float, float, float]:
    """Give low, offset and high beside a zone at a time, us."""
    value = offset_at(one, ts) - zone
    moved = value - one["offset_us"]
    return one["lo_us"] + moved, value, one["hi_us"] + moved


def table(rows: Sequence[Values], say: Say) -> shapes.Table:
    """Give what is known of each clock, segment by segment."""
    return shapes.Table(
        [
            say("column.clock"),
            say("column.from"),
            say("column.ahead"),
            say("column.within"),
            say("column.drift"),
            say("column.requests"),
            say("column.status"),
        ],
        [
            [
                row["clock_id"],
                wording.moment(row["valid_from"], None, 1) if row["valid_from"] else "",
                ""
                if row["offset_us"] is None
                else wording.offset(row["offset_us"], row["time_zone_us"] or 0),
                "" if row["offset_us"] is None else wording.error(doubt(row)),
                f"{row['drift_ppm']:+.1f} ppm" if row["drift_ppm"] else "",
                wording.count(row["pairs"] or 0),
                say(f"status.{row['status']}"),
            ]
            for row in rows
        ],
    )
