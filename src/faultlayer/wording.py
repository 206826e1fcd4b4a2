"""Numbers, sizes, times and clocks in the words that people read."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from faultlayer import no_logs

#: How a problem begins that says that other sources hold the same records.
TWICE = "archived twice"

_SECOND = 1_000_000
_HOUR = 3600 * _SECOND
_QUARTER = 900 * _SECOND
_DAY = 24 * _HOUR
#: Time zones are no wider.
_WIDEST = 14 * _HOUR


def is_copy(problems: Sequence[str] | None) -> bool:
    """Tell a source that holds what others hold by its problems."""
    return any(problem.startswith(TWICE) for problem in problems or ())


def damage(problems: Sequence[str] | None) -> list[str]:
    """Give the problems that mean that something is missing."""
    return [problem for problem in problems or () if not problem.startswith(TWICE)]


def is_strange(source: Mapping[str, Any]) -> bool:
    """Tell a log of which nothing was understood."""
    if source["events"] or not source["rejects"]:
        return False
    return not is_copy(source["problems"]) and not no_logs.is_one(source["reason"])


def format_of(source: Mapping[str, Any]) -> str:
    """Name the formats of a source, or what it is when it is no log."""
    reason = source["reason"] if no_logs.is_one(source["reason"]) else ""
    return str(source["format"] or reason or "not recognised")


def is_doubtful(source: Mapping[str, Any]) -> bool:
    """Tell a source of which more than one record in twenty was not understood."""
    known, strange = source["events"] or 0, source["rejects"] or 0
    return bool(known) and known + strange < 20 * strange


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Give `1 file`, `1,022 files`, or the number alone."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number: float) -> str:
    """Give bytes as `412 MB`, in powers of 1000."""
    if number < 1000:  # noqa: PLR2004
        return f"{number:.0f} bytes"
    for unit in ("kB", "MB", "GB", "TB"):
        number /= 1000
        if number < 999.5:  # noqa: PLR2004
            return f"{number:.{0 if number >= 10 else 1}f} {unit}"  # noqa: PLR2004
    return f"{number:,.0f} TB"


def percent(part: int, whole: int) -> str:
    """Give a share as `8.2 %`; never 0 or 100 for what is not all or nothing."""
    if not whole:
        return "0 %"
    share = 100 * part / whole
    if 0 < share < 0.1:  # noqa: PLR2004
        return "< 0.1 %"
    text = f"{share:.1f}".removesuffix(".0")
    return "> 99.9 %" if text == "100" and part < whole else f"{text} %"


def duration(us: int) -> str:
    """Give a length of time as `4 ms`, `1.2 s`, `3 min 44 s`, `2 h 5 min`, `31 d`."""
    us = abs(us)
    for limit, unit, name in ((1000, 1, "us"), (_SECOND, 1000, "ms")):
        if us < limit:
            return f"{round(us / unit)} {name}"
    seconds = us / _SECOND
    if seconds < 60:  # noqa: PLR2004
        return f"{seconds:.3f}".rstrip("0").rstrip(".") + " s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d" + (f" {hours} h" if hours else "")
    if hours:
        return f"{hours} h" + (f" {minutes} min" if minutes else "")
    return f"{minutes} min" + (f" {rest} s" if rest else "")


def lasting(start: datetime, end: datetime) -> str:
    """Give the time between two instants, in whole seconds where it is long."""
    us = (end - start) // timedelta(microseconds=1)
    if us >= 10 * _SECOND:
        us = round(us / _SECOND) * _SECOND
    return duration(us)


def error(us: int | None) -> str:
    """Give an uncertainty as `±4 ms`, rounded up; unknown is `±?`."""
    if us is None:
        return "±?"
    if us < _SECOND:
        return f"±{max(1, -(-us // 1000))} ms"
    return f"±{duration(-(-us // 100_000) * 100_000)}"


def offset(us: int, time_zone_us: int = 0, doubt_us: int = 0) -> str:
    """Give what a clock is ahead by: `UTC+8 and -1.39 s`, `+2.703 s`, `in step`.

    What is left beside the time zone is named when it is more than its doubt. A year
    ahead or behind is that of stamps without one.
    """
    words = []
    for days in (365, 366):
        year = days * _DAY if us > 0 else -days * _DAY
        if abs(us - year) <= _WIDEST and abs(time_zone_us - year) <= _WIDEST:
            words.append(f"a year {'ahead' if us > 0 else 'behind'}")
            us, time_zone_us = us - year, time_zone_us - year
    rest = us - time_zone_us
    if time_zone_us:
        words.append(zone(time_zone_us))
    if abs(rest) > max(doubt_us, 999):
        words.append(("+" if rest > 0 else "-") + duration(round(rest / 1000) * 1000))
    return " and ".join(words) or "in step"


def zone(us: int) -> str:
    """Give a time-zone error as `UTC+8`, `UTC-3:30`, or the length when it is none."""
    sign = "+" if us > 0 else "-"
    if us % _QUARTER or abs(us) > _WIDEST:
        return sign + duration(us)
    hours, rest = divmod(abs(us), _HOUR)
    return f"UTC{sign}{hours}" + (f":{rest // (60 * _SECOND):02d}" if rest else "")


def moment(ts: datetime | None, day: date | None = None, digits: int = 3) -> str:
    """Give a time as `14:20:05.500`, with its date unless that is `day`."""
    if ts is None:
        return "?"
    text = f"{ts:%H:%M:%S}"
    if digits:
        text += f".{ts.microsecond:06d}"[: digits + 1]
    return text if ts.date() == day else f"{ts:%Y-%m-%d} {text}"


def span(start: datetime | None, end: datetime | None, day: date | None = None) -> str:
    """Give two times as `14:20:11 - 14:31:40`; an open end is `...`."""
    first = moment(start, day, 0)
    if end is None:
        return f"{first} - ..."
    last = moment(end, start.date() if start else day, 0)
    return first if first == last else f"{first} - {last}"


def quoted(path: str) -> str:
    """Give a path as a shell takes it, in a command that is to be copied."""
    return f'"{path}"' if " " in path or "'" in path else path


def listed(items: Sequence[str], limit: int, rest: str = "more") -> str:
    """Join items with commas, the first `limit` of them and how many are left."""
    if len(items) <= limit:
        return ", ".join(items)
    return f"{', '.join(items[:limit])} and {len(items) - limit} {rest}"
