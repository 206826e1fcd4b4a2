"""What is known of a clock, in words."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise

from faultlayer import wording
from faultlayer.summary import Values

_HOUR = 3_600_000_000
#: What a change to or from summer time may be off by, us, beside its doubt.
_HOUR_SLACK = 1_000_000
_STEPS = 4
_DIRECT = "shared request ids"
_TOLD = "as told"
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
    told = str(segments[0]["method"])
    told = f" ({told})" if told.startswith(_TOLD) else ""
    if segments[0]["status"] == "reference":
        return f"{name} is the reference{told}"
    if is_untied(segments):
        return f"{name} untied"
    main = max(range(len(segments)), key=lambda one: segments[one]["pairs"] or 0)
    parts = [_state(segments[main], zone_of(segments[main]))]
    drift = segments[main]["drift_ppm"] or 0
    if abs(drift) >= 1:
        parts[0] += f" {drift:+.0f} ppm"
    others = [number for number in range(len(segments)) if number != main]
    parts += [_change(segments, number, main, day) for number in others[:_STEPS]]
    if len(others) > _STEPS:
        parts.append(f"{wording.count(len(others) - _STEPS, 'more step')}")
    weak = " (weak)" if any(s["status"] == "weak" for s in segments) else ""
    return f"{name} {', '.join(parts)}{weak}{told}"


def reference_steps(clocks: Sequence[Sequence[Values]], day: date | None) -> list[str]:
    """Say when the reference itself was set: all others show that step, the other way.

    Those count that share requests with it; one alone shows a step of its own. An hour
    is the summer time of all the others.
    """
    tied = [one for one in clocks if one[0]["method"] == _DIRECT and not is_untied(one)]
    if len(tied) < 2:  # noqa: PLR2004
        return []
    found = []
    for left, right in pairwise(tied[0]):
        jump = _jump(left, right)
        if _is_summer_time(jump, left, right):
            continue
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
    return offset_at(right, at) - offset_at(left, at)


def offset_at(segment: Values, at: datetime) -> float:
    """Give what a clock is ahead by at a time, along the line of a segment, us."""
    if segment["anchor_ts"] is None:
        return float(segment["offset_us"])
    seconds = (at - segment["anchor_ts"]) / timedelta(seconds=1)
    return float(segment["offset_us"] + (segment["drift_ppm"] or 0) * seconds)


def doubt(segment: Values) -> int | None:
    """Give what the offset may be off by, us."""
    if segment["lo_us"] is None or segment["hi_us"] is None:
        return None
    low: int = segment["offset_us"] - segment["lo_us"]
    return max(int(segment["hi_us"] - segment["offset_us"]), low)


def zone_of(segment: Values) -> int:
    """Give the part of an offset that is a time zone, us."""
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
    zone = zone_of(one)
    # A step of seconds leaves the zone alone; what is no zone is none.
    if abs(zone - zone_of(segments[main])) < _HOUR / 2:
        zone = zone_of(segments[main])
    note = ""
    near = segments[number + 1] if number < main else segments[number - 1]
    if _is_summer_time(jump, one, near):
        note = " (summer time begins)" if jump > 0 else " (summer time ends)"
    return f"{when} {_state(one, zone)}{note}"


def _is_summer_time(jump: float, left: Values, right: Values) -> bool:
    """Whether a step between two segments is the hour of a change of summer time."""
    slack = _HOUR_SLACK + (doubt(left) or 0) + (doubt(right) or 0)
    return abs(abs(jump) - _HOUR) <= slack


def _second(ts: datetime, day: date | None) -> str:
    """Give the nearest second: that of a step is hardly known to the millisecond."""
    return wording.moment(ts + timedelta(milliseconds=500), day, 0)
