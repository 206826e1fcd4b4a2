"""What a clock is ahead by over time, with the band in which it may lie, as a picture."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from faultlayer import wording
from faultlayer.clock_words import doubt, is_untied, offset_at, zone_of
from faultlayer.summary import Values

_LINE, _BAND = "━", "░"
#: Rows of a clock that moves by more than its doubt, and of one that does not.
_TALL, _FLAT = 7, 3
_NARROWEST = 10


def picture(segments: Sequence[Values], width: int) -> list[str]:
    """Draw what a clock is ahead by, in lines of at most `width` cells.

    A heading, rows from the most to the least, and the times below. Empty where nothing
    is known of the clock, or its log has no time.
    """
    first, last = segments[0]["first_ts"], segments[0]["last_ts"]
    unknown = is_untied(segments) or any(doubt(one) is None for one in segments)
    if unknown or segments[0]["status"] == "reference" or first is None:
        return []
    start = first - timedelta(microseconds=segments[0]["offset_us"])
    end = last - timedelta(microseconds=segments[-1]["offset_us"])
    if end <= start:
        return []
    zone = zone_of(max(segments, key=lambda one: one["pairs"] or 0))
    widest = max(doubt(one) or 0 for one in segments)
    values = _over_time(segments, start, end, width, zone)
    levels = [value for _, value, _ in values]
    tall = max(levels) - min(levels) > widest
    rows = _TALL if tall else _FLAT
    top = max(high for _, _, high in values)
    bottom = min(low for low, _, _ in values)
    labels = _labels(top, bottom, rows)
    room = max(len(label) for label in labels) + 1
    columns = max(width - room, _NARROWEST)
    values = _over_time(segments, start, end, columns, zone)
    cells = [_column(value, top, bottom, rows) for value in values]
    beside = f" beside {wording.zone(zone)}" if zone else ""
    thin = "" if any(_BAND in column for column in cells) else " (thinner than a row)"
    return [
        f"ahead by{beside}, in a band of {wording.error(widest)}{thin}",
        *(
            f"{label:>{room - 1}} {''.join(column[row] for column in cells)}".rstrip()
            for row, label in enumerate(labels)
        ),
        " " * room + _times(start, end, columns),
    ]


def _over_time(
    segments: Sequence[Values], start: datetime, end: datetime, columns: int, zone: int
) -> list[tuple[float, float, float]]:
    """Give low, offset and high beside a zone in the middle of each column, us."""
    found = []
    for column in range(columns):
        at = start + (end - start) * (column + 0.5) / columns
        one = next(s for s in segments if s["valid_to"] is None or at < s["valid_to"])
        value = offset_at(one, at) - zone
        moved = value - one["offset_us"]
        found.append((one["lo_us"] + moved, value, one["hi_us"] + moved))
    return found


def _labels(top: float, bottom: float, rows: int) -> list[str]:
    """Name the highest and the lowest row, and that of zero where it lies between."""
    labels = [""] * rows
    labels[0], labels[-1] = _ahead(top), _ahead(bottom)
    zero = _row(0, top, bottom, rows)
    if bottom < 0 < top and 0 < zero < rows - 1:
        labels[zero] = "0"
    return labels


def _column(
    value: tuple[float, float, float], top: float, bottom: float, rows: int
) -> str:
    """Give the cells of one column, from the top."""
    low, middle, high = (_row(one, top, bottom, rows) for one in value)
    return "".join(
        _LINE if row == middle else _BAND if high <= row <= low else " "
        for row in range(rows)
    )


def _row(value: float, top: float, bottom: float, rows: int) -> int:
    return round((top - value) / (top - bottom) * (rows - 1)) if top > bottom else 0


def _times(start: datetime, end: datetime, columns: int) -> str:
    """Write when the picture starts and ends, and its middle where there is room."""
    first, last = f"{start:%H:%M}", f"{end:%H:%M}"
    if start.date() != end.date():
        first, last = f"{start:%m-%d %H:%M}", f"{end:%m-%d %H:%M}"
    middle = f"{start + (end - start) / 2:%H:%M}"
    if len(first) + len(middle) + len(last) + 4 > columns:
        middle = ""
    left = (columns - len(middle)) // 2 - len(first)
    right = columns - len(first) - left - len(middle) - len(last)
    return first + " " * left + middle + " " * right + last


def _ahead(us: float) -> str:
    return wording.offset(round(us)) if abs(us) > 999 else "0"  # noqa: PLR2004
