"""Draws one request through the layers: attempts, records and what overlapped them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from faultlayer import record_words, wording
from faultlayer.report_page import scales, shapes
from faultlayer.report_page.bars import Say
from faultlayer.report_page.shapes import Chart, Shape
from faultlayer.summary import Values

_MOST = 40
_ROW, _TOP, _BELOW = 20, 8, 30
_WIDEST, _RIGHT = 330.0, shapes.WIDTH - 30.0
_COLUMNS = ("when", "within", "layer", "kind", "what", "at")


def chart(victim: Values | None, say: Say) -> Chart | None:
    """Give the way of a request; None where nothing of it has a time."""
    if victim is None:
        return None
    records = [one for one in victim["records"] if one["own"] and one["ts"]][:_MOST]
    attempts = [one for one in victim["attempts"] if one["ts_start"] and one["ts_end"]]
    moments = [one["ts"] for one in records]
    moments += [one[key] for one in attempts for key in ("ts_start", "ts_end")]
    if not moments:
        return None
    names = [_attempt_words(one, say) for one in attempts]
    names += [_condition_words(one) for one in _conditions(victim)]
    names += [_record_words(one) for one in records]
    left = min(max(shapes.width_of(name) for name in names) + 24, _WIDEST)
    times = _axis(min(moments), max(moments), left)
    drawn: list[Shape] = []
    y = float(_TOP)
    for one in attempts:
        drawn += _attempt(one, times, y, say)
        y += _ROW
    for one in _conditions(victim):
        drawn += _condition(one, times, y)
        y += _ROW
    for one in records:
        drawn += _record(one, times, y)
        y += _ROW
    drawn += _ticks(times, min(moments), y)
    return Chart(
        "waterfall",
        say("chart.waterfall.title"),
        say(
            "chart.waterfall.desc",
            request=str(victim["request_id"] or "?"),
            attempts=wording.count(len(attempts)),
            records=wording.count(len(records)),
        ),
        y + _BELOW,
        drawn,
        _table(victim, say),
        "victim",
    )


def _axis(start: datetime, end: datetime, left: float) -> scales.Times:
    """Leave some room at both ends, and let one moment be no line."""
    room = max((end - start) * 0.04, timedelta(milliseconds=1))
    return scales.Times(start - room, end + room, left, _RIGHT)


def _conditions(victim: Values) -> list[Values]:
    """Give each condition that a verdict of the request rests on, once."""
    found = {
        row["condition_id"]: row
        for row in victim["verdicts"]
        if row["condition_id"] is not None and row["condition_start"]
    }
    return list(found.values())


def _attempt(one: Values, times: scales.Times, y: float, say: Say) -> list[Shape]:
    x, end = times.at(one["ts_start"]), times.at(one["ts_end"])
    took = wording.lasting(one["ts_start"], one["ts_end"])
    words = _attempt_words(one, say)
    css = "attempt bad" if one["failed"] else "attempt"
    return [
        *_named(words, times, y, "strong"),
        shapes.rect(x, y + 4, max(end - x, 2), _ROW - 8, css, f"{words}, {took}"),
        *_beside(took, times.left, x, end, y),
    ]


def _condition(one: Values, times: scales.Times, y: float) -> list[Shape]:
    x = times.at(one["condition_start"])
    end = (
        times.right if one["condition_end"] is None else times.at(one["condition_end"])
    )
    when = wording.span(one["condition_start"], one["condition_end"])
    return [
        *_named(_condition_words(one), times, y),
        shapes.rect(x, y + 7, max(end - x, 2), _ROW - 14, "condition", when),
    ]


def _record(one: Values, times: scales.Times, y: float) -> list[Shape]:
    middle = y + _ROW / 2
    x = times.at(one["ts"])
    title = f"{wording.moment(one['ts'])} {record_words.error(one)}"
    found = _named(_record_words(one), times, y)
    found.append(shapes.segment(times.left, middle, _RIGHT, middle, "grid"))
    if one["duration_ms"]:
        begun = times.at(one["ts"] - timedelta(milliseconds=one["duration_ms"]))
        found.append(
            shapes.rect(begun, y + 7, max(x - begun, 1), _ROW - 14, "took", title)
        )
    if one["ts_error_us"]:
        error = timedelta(microseconds=one["ts_error_us"])
        low, high = times.at(one["ts"] - error), times.at(one["ts"] + error)
        found.append(shapes.segment(low, middle, high, middle, "error"))
    bad = one["severity"] in {"error", "critical"} or (one["status"] or 0) >= 400  # noqa: PLR2004
    layer = one["layer"] if one["layer"] in {"model", "harness", "quota"} else "client"
    css = f"fill-{layer}" + (" bad" if bad else "")
    found.append(shapes.circle(x, middle, 5 if bad else 4, css, title))
    return found


def _attempt_words(one: Values, say: Say) -> str:
    status = f" · {one['status']}" if one["status"] is not None else ""
    return say("chart.waterfall.attempt", number=str(one["attempt"])) + status


def _condition_words(one: Values) -> str:
    return " ".join(word for word in (one["cause"], one["scope"]) if word)


def _record_words(one: Values) -> str:
    return " · ".join(word for word in (one["layer"], one["kind"]) if word)


def _named(words: str, times: scales.Times, y: float, css: str = "") -> list[Shape]:
    text = shapes.shortened(words, times.left - 14)
    return [shapes.label(times.left - 10, y + _ROW / 2 + 4, text, css, "end")]


def _beside(text: str, left: float, x: float, end: float, y: float) -> list[Shape]:
    """Write behind a bar where there is room, else before it, else into it."""
    room = shapes.width_of(text) + 6
    if end + room <= shapes.WIDTH:
        return [shapes.label(end + 5, y + _ROW / 2 + 4, text)]
    if x - room >= left:
        return [shapes.label(x - 5, y + _ROW / 2 + 4, text, "", "end")]
    return [shapes.label((x + end) / 2, y + _ROW / 2 + 4, text, "inside", "middle")]


def _ticks(times: scales.Times, zero: datetime, y: float) -> list[Shape]:
    """Mark round times after the first moment."""
    found = [shapes.segment(times.left, y, _RIGHT, y, "axis")]
    low = (times.start - zero) / timedelta(microseconds=1)
    high = (times.end - zero) / timedelta(microseconds=1)
    for tick in scales.rounded(low, high, 6):
        x = times.at(zero + timedelta(microseconds=tick))
        if tick < 0:
            continue
        text = "0" if not round(tick) else f"+{wording.duration(round(tick))}"
        found.append(shapes.segment(x, y, x, y + 4, "axis"))
        found.append(shapes.label(x, y + 18, text, "", "middle"))
    return found


def _table(victim: Values, say: Say) -> shapes.Table:
    records: Sequence[Values] = victim["records"][:_MOST]
    places = record_words.short_places(records)
    return shapes.Table(
        [say(f"column.{name}") for name in _COLUMNS],
        [
            [
                wording.moment(one["ts"]),
                record_words.error(one),
                one["layer"],
                one["kind"] or "",
                record_words.what(one)[:300],
                f"{places[record_words.path_of(one)]}:{one['line']}",
            ]
            for one in records
        ],
    )
