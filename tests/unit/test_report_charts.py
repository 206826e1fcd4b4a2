"""Charts put values where they belong; the places are worked out by hand."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from faultlayer.report_page import bars, flow, heat, offsets, scales, shapes, waterfall
from faultlayer.report_page.shapes import Chart, Shape

START = datetime(2026, 11, 30, 14, 20)  # noqa: DTZ001 - cases hold UTC without a zone
MINUTE = timedelta(minutes=1)


def say(key: str, **parts: object) -> str:
    """Give a key for a text, with its parts."""
    return " ".join([key, *(f"{name}={part}" for name, part in parts.items())])


def of(chart: Chart | None, css: str) -> list[Shape]:
    """Give the shapes of a chart that have a class."""
    assert chart is not None
    return [shape for shape in chart.shapes if css in shape.css.split()]


def at(shape: Shape, *names: str) -> list[float]:
    """Give some attributes of a shape."""
    attributes = dict(shape.attributes)
    return [float(attributes[name]) for name in names]


def test_bars_are_stacked() -> None:
    """Of 4 with 3 of the model: three quarters of 190 px, the quota's quarter on top."""
    layers = dict.fromkeys(bars.LAYERS, 0)
    rows: list[dict[str, Any]] = [
        {"ts": START, "width_s": 60, "attempts": 9, "failed": 4, **layers},
        {"ts": START + MINUTE, "width_s": 60, "attempts": 2, "failed": 0, **layers},
    ]
    rows[0].update(model=3, quota=1)
    chart = bars.chart(rows, say)
    (model,), (quota,) = of(chart, "fill-model"), of(chart, "fill-quota")
    assert at(model, "y", "height") == [59.5, 142.5]
    assert at(quota, "y", "height") == [12.0, 47.5]
    assert model.title == "2026-11-30 14:20:00 · layer.model: 3"
    assert chart is not None
    assert chart.table.rows[0] == ["2026-11-30 14:20:00", "9", "4", "3", "1"]
    assert bars.chart(rows[1:], say) is None


def test_heat_has_three_steps_a_decade() -> None:
    """10 ms and 1 s lie six rows of 9 px apart; what is more is darker."""
    rows = [
        {"part": "edge", "ts": START, "width_s": 60, "step": step, "attempts": number}
        for step, number in ((3, 1), (9, 7))
    ]
    low, high = of(heat.chart(rows, say), "heat")
    assert at(low, "y")[0] - at(high, "y")[0] == 54
    assert at(low, "fill-opacity")[0] < at(high, "fill-opacity")[0] == 1
    assert heat.step_words(0) == "0 - 2.15 ms"
    assert heat.step_words(9) == "1 s - 2.15 s"
    assert heat.chart([], say) is None


def test_a_pool_and_its_forecast() -> None:
    """From 50 % on there is a line to 58 % at the end of the axis, 8 minutes on."""
    rows = [
        {
            "level": "user",
            "pool": "u-1",
            "ts": START + MINUTE * minute,
            "width_s": 120,
            "used_ratio": ratio,
        }
        for minute, ratio in ((0, 0.2), (30, 0.5))
    ]
    ahead = [
        {
            "pool": "user u-1",
            "ts": START + MINUTE * minute,
            "used_ratio": ratio,
            "used_ratio_low": ratio - 0.02,
            "used_ratio_high": ratio + 0.02,
        }
        for minute, ratio in ((36, 0.54), (40, 0.58), (50, 0.68))
    ]
    chart = flow.balances(rows, ahead, say)
    (line,) = of(chart, "forecast")
    end_y = float(dict(line.attributes)["d"].split()[-1])
    assert end_y == pytest.approx(12 + 190 * (1 - 0.58 / 1.04), abs=0.1)
    (band,) = of(chart, "band")
    assert dict(band.attributes)["d"].count("L") == 4
    assert not of(flow.balances(rows, [], say), "band")
    assert flow.balances([], [], say) is None


def test_a_spender_and_its_forecast() -> None:
    """What is to come is added to what was spent; a wide band does not hide the line."""
    rows = [
        {
            "pool": "user u-1",
            "ts": START + timedelta(days=day),
            "width_s": 86400,
            "charged": 50.0,
            "spent": spent,
        }
        for day, spent in ((0, 50.0), (19, 100.0))
    ]
    ahead = [
        {
            "pool": "user u-1",
            "ts": START + timedelta(days=20, hours=6 * number),
            "total": 10.0 * number,
            "total_low": 5.0 * number,
            "total_high": 400.0 * number,
        }
        for number in range(1, 9)
    ]
    chart = flow.spending(rows, ahead, say)
    (line,) = of(chart, "forecast")
    end_y = float(dict(line.attributes)["d"].split()[-1])
    # Twice of what was spent is the most that is drawn.
    assert end_y == pytest.approx(12 + 190 * (1 - 180 / 208), abs=0.1)
    assert len(of(chart, "band")) == 1
    assert ahead[0]["total"] == 10.0
    assert not of(flow.spending(rows, [], say), "band")
    assert flow.spending([], [], say) is None


def test_a_clock_that_was_set_has_two_lines() -> None:
    """The line steps where the clock did; a log outside of the attempts is cut off."""
    segment: dict[str, Any] = {
        "clock_id": "logs/a",
        "status": "tied",
        "method": "shared request ids",
        "anchor_ts": START,
        "drift_ppm": 0.0,
        "time_zone_us": 0,
        "pairs": 40,
        "support": 1.0,
        "first_ts": START,
        "last_ts": START + 60 * MINUTE,
    }
    middle = START + 10 * MINUTE
    rows = [
        {
            **segment,
            "segment": number,
            "offset_us": offset,
            "lo_us": offset - 1000,
            "hi_us": offset + 1000,
            "valid_from": middle if number else None,
            "valid_to": None if number else middle,
        }
        for number, offset in enumerate((0, 2_000_000))
    ]
    totals = {"ts_start": START, "ts_end": START + 20 * MINUTE}
    chart = offsets.chart(rows, totals, say)
    first, second = of(chart, "offset")
    assert dict(first.attributes)["d"].startswith("M92 ")
    assert " L486 " in dict(first.attributes)["d"]
    assert " L880 " in dict(second.attributes)["d"]
    assert len(of(chart, "band")) == 2
    untied = [{**rows[0], "status": "untied", "offset_us": None}]
    assert offsets.chart(untied, totals, say) is None


def test_no_request_no_waterfall() -> None:
    """Without a victim, or times, there is nothing to draw."""
    assert waterfall.chart(None, say) is None
    assert waterfall.chart({"records": [], "attempts": []}, say) is None


def test_marks_are_round() -> None:
    """Times at whole steps, counts from zero, numbers that lie within."""
    times = scales.Times(START, START + 25 * MINUTE, 0, 100)
    assert times.marks(5) == [
        (0.0, "14:20"),
        (20.0, "14:25"),
        (40.0, "14:30"),
        (60.0, "14:35"),
        (80.0, "14:40"),
        (100.0, "14:45"),
    ]
    assert scales.counts(136) == [0, 50, 100, 150]
    assert scales.counts(1) == [0, 1]
    assert scales.counts(0) == [0, 1]
    assert scales.rounded(-3.2, 9.9) == [0, 5]
    assert scales.spread([(0, "a"), (5, "b"), (11, "c")], 10) == [(0, "a"), (11, "c")]


def test_a_long_label_is_cut() -> None:
    """What is cut is marked; wide characters take twice the room."""
    assert shapes.shortened("abcdef", 6.4 * 6) == "abcdef"
    assert shapes.shortened("abcdefg", 6.4 * 6) == "abcde…"
    assert shapes.width_of("日本") == shapes.width_of("abcd")
