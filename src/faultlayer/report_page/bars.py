"""Draws failures by layer over time, as stacked bars."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from faultlayer import wording
from faultlayer.report_page import scales, shapes
from faultlayer.report_page.shapes import Chart, Shape
from faultlayer.summary import Values

LAYERS = ("model", "harness", "quota", "client", "undetermined")
"""The layers of verdicts, from the bottom of a bar to its top."""

Say = Callable[..., str]

_TOP, _TALL, _BELOW = 12, 190, 30
_THIN = 3


def chart(rows: Sequence[Values], say: Say) -> Chart | None:
    """Give the bars; None where nothing failed."""
    if not any(row["failed"] for row in rows):
        return None
    width = timedelta(seconds=rows[0]["width_s"])
    ticks = scales.counts(max(row["failed"] for row in rows))
    left = max(shapes.width_of(wording.count(one)) for one in ticks) + 14
    times = scales.Times(
        rows[0]["ts"], scales.later(rows[-1]["ts"], width), left, shapes.WIDTH - 20.0
    )
    there = [layer for layer in LAYERS if any(row[layer] for row in rows)]
    drawn = [*_grid(ticks, left), *time_axis(times, _TOP + _TALL)]
    for row in rows:
        drawn += _bar(row, there, times, width, ticks[-1], say)
    return Chart(
        "failures",
        say("chart.failures.title"),
        say(
            "chart.failures.desc",
            width=wording.duration(rows[0]["width_s"] * 1_000_000),
            most=wording.count(max(row["failed"] for row in rows)),
            when=wording.moment(
                max(rows, key=lambda row: row["failed"])["ts"], None, 0
            ),
        ),
        _TOP + _TALL + _BELOW,
        drawn,
        _table(rows, there, say),
        "failures",
        [(f"fill-{layer}", say(f"layer.{layer}")) for layer in there],
    )


def time_axis(times: scales.Times, y: float) -> list[Shape]:
    """Give the line, the marks and the words of a time axis at y."""
    found = [shapes.segment(times.left, y, times.right, y, "axis")]
    for x, text in scales.spread(times.marks(10), 62):
        found.append(shapes.segment(x, y, x, y + 4, "axis"))
        half = shapes.width_of(text) / 2
        inside = min(max(x, half), shapes.WIDTH - half)
        found.append(shapes.label(inside, y + 18, text, "", "middle"))
    return found


def _grid(ticks: Sequence[int], left: float) -> list[Shape]:
    found = []
    for tick in ticks:
        y = _TOP + _TALL * (1 - tick / ticks[-1])
        found.append(shapes.segment(left, y, shapes.WIDTH - 20, y, "grid"))
        found.append(shapes.label(left - 6, y + 4, wording.count(tick), "", "end"))
    return found


def _bar(
    row: Values,
    layers: Sequence[str],
    times: scales.Times,
    width: timedelta,
    most: int,
    say: Say,
) -> list[Shape]:
    found = []
    x = times.at(row["ts"])
    wide = times.at(scales.later(row["ts"], width)) - x
    gap = 0.6 if wide > _THIN else 0.0
    level = 0
    for layer in layers:
        number = row[layer]
        if not number:
            continue
        level += number
        y = _TOP + _TALL * (1 - level / most)
        when = wording.moment(row["ts"], None, 0)
        words = f"{when} · {say(f'layer.{layer}')}: {wording.count(number)}"
        tall = _TALL * number / most
        found.append(
            shapes.rect(x + gap / 2, y, wide - gap, tall, f"fill-{layer}", words)
        )
    return found


def _table(rows: Sequence[Values], layers: Sequence[str], say: Say) -> shapes.Table:
    headers = [
        say("column.when"),
        say("column.attempts"),
        say("column.failed"),
        *(say(f"layer.{layer}") for layer in layers),
    ]
    body = [
        [
            wording.moment(row["ts"], None, 0),
            *(wording.count(row[key]) for key in ("attempts", "failed", *layers)),
        ]
        for row in rows
    ]
    return shapes.Table(headers, body)
