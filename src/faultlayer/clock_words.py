"""What is known of a clock, in words and as a small picture."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise

from faultlayer import wording
from faultlayer.summary import Values

_HOUR = 3_600_000_000
#: What a change to or from summer time may be off by, us, beside its doubt.
_HOUR_SLACK = 1_000_000
_BARS = "▁▂▃▄▅▆▇█"
_COLUMNS = 48
_STEPS = 4
_DIRECT = "shared request ids"
#: Steps of several clocks within so much of one another are one of the reference.
_AT_ONCE = timedelta(minutes=15)


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


def reference_steps(clocks: Sequence[Sequence[Values]], day: date | None) -> list[str]:
    """Say when the reference itself was set: all others show that step, the other way.

    Those count that share requests with it; one alone shows a step of its own.
    """
    tied = [one for one in clocks if one[0]["method"] == _DIRECT and not is_untied(one)]
    if len(tied) < 2:  # noqa: PLR2004
        return []
    found = []
    for left, right in pairwise(tied[0]):
        jump = _jump(left, right)
        if all(_shows(one, left, right) for one in tied[1:]):
            when = _second(right["valid_from"], day)
            by = wording.offset(round(-jump))
            found.append(f"the reference itself was set by {by} about {when}")
    return found


def _shows(segments: Sequence[Values], left: Values, right: Values) -> bool:
    """Whether a clock has the step between two segments of another one."""
    jump = _jump(left, right)
    for before, after in pairwise(segments):
        slack = sum(doubt(one) or 0 for one in (before, after, left, right))
        apart = abs(after["valid_from"] - right["valid_from"])
        alike = abs(_jump(before, after) - jump) <= slack < abs(jump)
        if apart <= _AT_ONCE and alike:
            return True
    return False


def _jump(left: Values, right: Values) -> float:
    """Give by how much a clock went forward between two of its segments, us."""
    at = right["valid_from"]
    return _offset(right, at) - _offset(left, at)


def _offset(segment: Values, at: datetime) -> float:
    if segment["anchor_ts"] is None:
        return float(segment["offset_us"])
    seconds = (at - segment["anchor_ts"]) / timedelta(seconds=1)
    return float(segment["offset_us"] + (segment["drift_ppm"] or 0) * seconds)


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
        offsets.append(_offset(one, at) - base)
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
