"""What is known of a clock, in words and as a small picture."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from faultlayer import wording
from faultlayer.summary import Values

_HOUR = 3_600_000_000
#: What a change to or from summer time may be off by, us, beside its doubt.
_HOUR_SLACK = 1_000_000
_BARS = "▁▂▃▄▅▆▇█"
_COLUMNS = 48
_STEPS = 4


def is_untied(segments: Sequence[Values]) -> bool:
    """Whether nothing is known of a clock."""
    first = segments[0]
    if first["status"] == "reference":
        return False
    return first["status"] == "untied" or first["offset_us"] is None


def clock_words(
    segments: Sequence[Values], day: date | None, name: str | None = None
) -> str:
    """Say what is known of one clock: `vllm-0 UTC+8 and -1.39 s ±400 ms`.

    The segment that most requests tie comes first, then what differs before and after,
    each with its time.
    """
    name = name or str(segments[0]["clock_id"])
    if segments[0]["status"] == "reference":
        return f"{name} is the reference"
    if is_untied(segments):
        return f"{name} untied"
    main = max(range(len(segments)), key=lambda one: segments[one]["pairs"] or 0)
    parts = [_state(segments[main], _zone(segments[main]))]
    drift = segments[main]["drift_ppm"] or 0
    if abs(drift) >= 1:
        parts[0] += f" {drift:+.0f} ppm"
    others = [number for number in range(len(segments)) if number != main]
    parts += [_change(segments, number, main, day) for number in others[:_STEPS]]
    if len(others) > _STEPS:
        parts.append(f"{wording.count(len(others) - _STEPS, 'more step')}")
    weak = " (weak)" if any(s["status"] == "weak" for s in segments) else ""
    return f"{name} {', '.join(parts)}{weak}"


def picture(segments: Sequence[Values], start: datetime, end: datetime) -> str:
    """Draw offset over time in one line, with what its lowest and highest bar mean.

    Empty when the offset moves by no more than its doubt.
    """
    if is_untied(segments) or end <= start:
        return ""
    base = _zone(max(segments, key=lambda one: one["pairs"] or 0))
    offsets = []
    for column in range(_COLUMNS):
        at = start + (end - start) * (column + 0.5) / _COLUMNS
        one = next(s for s in segments if s["valid_to"] is None or at < s["valid_to"])
        moved = 0.0
        if one["anchor_ts"] is not None:
            seconds = (at - one["anchor_ts"]) / timedelta(seconds=1)
            moved = (one["drift_ppm"] or 0) * seconds
        offsets.append(one["offset_us"] + moved - base)
    low, high = min(offsets), max(offsets)
    if high - low <= max(doubt(one) or 0 for one in segments):
        return ""
    scale = (len(_BARS) - 1) / (high - low)
    bars = "".join(_BARS[round((value - low) * scale)] for value in offsets)
    zone = f" beside {wording.zone(base)}" if base else ""
    return f"{bars} from {_rest(low)} to {_rest(high)}{zone}"


def doubt(segment: Values) -> int | None:
    """Give what the offset may be off by, us."""
    if segment["lo_us"] is None or segment["hi_us"] is None:
        return None
    low: int = segment["offset_us"] - segment["lo_us"]
    return max(int(segment["hi_us"] - segment["offset_us"]), low)


def _rest(us: float) -> str:
    return wording.offset(round(us)) if abs(us) > 999 else "0"  # noqa: PLR2004


def _zone(segment: Values) -> int:
    return segment["time_zone_us"] or 0


def _state(segment: Values, zone: int) -> str:
    width = doubt(segment)
    text = wording.offset(segment["offset_us"], zone, width or 0)
    return f"{text} {wording.error(width)}"


def _change(
    segments: Sequence[Values], number: int, main: int, day: date | None
) -> str:
    """Say how one segment differs: `from 14:02:00 +1.1 s ±4 ms`."""
    one = segments[number]
    if number < main:
        when = f"until {_second(one['valid_to'], day)}"
        jump = segments[number + 1]["offset_us"] - one["offset_us"]
    else:
        when = f"from {_second(one['valid_from'], day)}"
        jump = one["offset_us"] - segments[number - 1]["offset_us"]
    zone = _zone(one)
    # A step of seconds leaves the zone alone; what is no zone is none.
    if abs(zone - _zone(segments[main])) < _HOUR / 2:
        zone = _zone(segments[main])
    note = ""
    near = segments[number + 1] if number < main else segments[number - 1]
    slack = _HOUR_SLACK + (doubt(one) or 0) + (doubt(near) or 0)
    if abs(abs(jump) - _HOUR) <= slack:
        note = " (summer time begins)" if jump > 0 else " (summer time ends)"
    return f"{when} {_state(one, zone)}{note}"


def _second(ts: datetime, day: date | None) -> str:
    """Give the nearest second: that of a step is hardly known to the millisecond."""
    return wording.moment(ts + timedelta(milliseconds=500), day, 0)
