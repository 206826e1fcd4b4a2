"""Draws how long each part of the way took over time, as a heat map with a log scale."""

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from faultlayer import wording
from faultlayer.report_page import scales, shapes
from faultlayer.report_page.bars import Say, time_axis
from faultlayer.report_page.shapes import Chart, Shape
from faultlayer.summary import Values

_PARTS = ("edge", "header", "response")
_ROW, _HEAD, _BETWEEN, _BELOW = 9, 18, 10, 30
_A_DECADE = 3
_SECOND_US = 1_000_000
_LEFT = 62.0


def chart(rows: Sequence[Values], say: Say) -> Chart | None:
    """Give one panel for each part that the case has; None without latencies."""
    if not rows:
        return None
    width = timedelta(seconds=rows[0]["width_s"])
    start = min(row["ts"] for row in rows)
    end = scales.later(max(row["ts"] for row in rows), width)
    times = scales.Times(start, end, _LEFT, shapes.WIDTH - 20.0)
    lowest = min(row["step"] for row in rows)
    highest = max(row["step"] for row in rows)
    most = max(row["attempts"] for row in rows)
    parts = [part for part in _PARTS if any(row["part"] == part for row in rows)]
    drawn: list[Shape] = []
    y = 0.0
    for part in parts:
        drawn.append(shapes.label(_LEFT, y + 12, say(f"part.{part}"), "strong"))
        y += _HEAD
        drawn += _steps(lowest, highest, y)
        for row in rows:
            if row["part"] != part:
                continue
            top = y + (highest - row["step"]) * _ROW
            drawn.append(_cell(row, times, width, top, most))
        y += (highest - lowest + 1) * _ROW + _BETWEEN
    drawn += time_axis(times, y - _BETWEEN)
    return Chart(
        "latency",
        say("chart.latency.title"),
        say(
            "chart.latency.desc",
            parts="; ".join(say(f"part.{part}") for part in parts),
            most=wording.count(most),
            width=wording.duration(rows[0]["width_s"] * 1_000_000),
        ),
        y - _BETWEEN + _BELOW,
        drawn,
        _table(rows, range(lowest, highest + 1), say),
        "latency",
    )


def step_words(step: int) -> str:
    """Name the durations of a step: `1 s - 2.15 s`; three steps are ten times as long."""
    low, high = (1000 * 10 ** (one / _A_DECADE) for one in (step, step + 1))
    return f"{_short(low) if step else '0'} - {_short(high)}"


def _short(us: float) -> str:
    """Spell a duration in three digits."""
    if us < _SECOND_US * 0.9995:
        return f"{us / 1000:.3g} ms"
    return wording.duration(int(float(f"{us:.3g}")))


def _cell(
    row: Values, times: scales.Times, width: timedelta, top: float, most: int
) -> Shape:
    x = times.at(row["ts"])
    wide = times.at(scales.later(row["ts"], width)) - x
    shade = 0.15 + 0.85 * math.log1p(row["attempts"]) / math.log1p(most)
    words = f"{wording.moment(row['ts'], None, 0)} · {step_words(row['step'])}"
    return shapes.rect(
        x,
        top,
        wide - 0.5,
        _ROW - 0.5,
        "heat",
        f"{words}: {wording.count(row['attempts'])}",
        **{"fill-opacity": f"{shade:.2f}"},
    )


def _steps(lowest: int, highest: int, y: float) -> list[Shape]:
    """Mark the powers of ten."""
    found = []
    for step in range(lowest, highest + 2):
        if step % _A_DECADE:
            continue
        at = y + (highest + 1 - step) * _ROW
        text = wording.duration(round(1000 * 10 ** (step / _A_DECADE)))
        found.append(shapes.label(_LEFT - 8, at + 4, text, "", "end"))
        found.append(shapes.segment(_LEFT, at, shapes.WIDTH - 20, at, "grid"))
    return found


def _table(rows: Sequence[Values], steps: Sequence[int], say: Say) -> shapes.Table:
    cells: dict[tuple[str, datetime], dict[int, int]] = defaultdict(dict)
    for row in rows:
        cells[row["part"], row["ts"]][row["step"]] = row["attempts"]
    used = [step for step in steps if any(step in one for one in cells.values())]
    headers = [
        say("column.when"),
        say("column.part"),
        *(step_words(step) for step in used),
    ]
    body = [
        [
            wording.moment(ts, None, 0),
            say(f"part.{part}"),
            *(wording.count(found[step]) if step in found else "" for step in used),
        ]
        for (part, ts), found in cells.items()
    ]
    return shapes.Table(headers, body)
