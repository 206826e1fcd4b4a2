"""Draws quota over time: the used share of the fullest pools, and what was charged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from faultlayer import wording
from faultlayer.report_page import scales, shapes
from faultlayer.report_page.bars import Say, time_axis
from faultlayer.report_page.shapes import Chart, Shape
from faultlayer.summary import Values

_TOP, _TALL, _BELOW = 12, 190, 30
_FULL = 1.0
#: How much further a forecast goes at most, as a share of the time that is drawn.
_AHEAD = 0.25


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the lines are: times across, 0 to `most` upwards."""

    times: scales.Times
    most: float

    def at(self, row: Values, key: str) -> tuple[float, float]:
        return self.times.at(row["ts"]), self.y(row[key])

    def y(self, value: float) -> float:
        return _TOP + _TALL * (1 - max(value, 0.0) / self.most)


def balances(
    rows: Sequence[Values], forecasts: Sequence[Values], say: Say
) -> Chart | None:
    """Give the used share of each pool; None where the case has no balances.

    Behind the last snapshot stands how it goes on by `forecasts`, with their band.
    """
    if not rows:
        return None
    ahead = _ahead(forecasts, [f"{row['level']} {row['pool']}" for row in rows])
    ahead = {pool: found for pool, found in ahead.items() if _told(found)}
    most = max(_FULL, *(row["used_ratio"] for row in rows)) * 1.04
    frame, drawn = _frame(rows, most, lambda tick: f"{tick:.0%}", ahead)
    full = frame.y(_FULL)
    drawn.append(
        shapes.segment(frame.times.left, full, frame.times.right, full, "limit")
    )
    legend = []
    pools = groupby(rows, key=lambda row: f"{row['level']} {row['pool']}")
    for number, (name, found) in enumerate(pools):
        points = [frame.at(row, "used_ratio") for row in found]
        drawn += _forecast(ahead.get(name, ()), "used_ratio", frame, points[-1], number)
        drawn += _line(points, number, name)
        legend.append((f"series s{number}", name))
    return _chart(
        "pools",
        drawn,
        legend,
        say,
        {
            "when": [wording.moment(row["ts"], None, 0) for row in rows],
            "level": [row["level"] for row in rows],
            "pool": [row["pool"] for row in rows],
            "used": [f"{row['used_ratio']:.2%}" for row in rows],
        },
    )


def spending(
    rows: Sequence[Values], forecasts: Sequence[Values], say: Say
) -> Chart | None:
    """Give what each spender was charged by then; None where no ledger tells.

    Behind the end of the ledger stands how it goes on by `forecasts`, with their band.
    """
    if not rows:
        return None
    ahead = _ahead(forecasts, [row["pool"] for row in rows])
    spent = {row["pool"]: row["spent"] for row in rows}  # the last one stays
    most = max(spent.values())
    for pool, told in ahead.items():
        for row in told:
            for key in ("total", "total_low", "total_high"):
                row[key] += spent[pool]
        # A band may be so wide that nothing else could be seen.
        most = max(most, min(told[-1]["total_high"], 2 * spent[pool]))
    frame, drawn = _frame(rows, most * 1.04, lambda tick: f"{tick:,g}", ahead)
    end = min((one[0]["ts"] for one in ahead.values()), default=None)
    right = frame.times.right if end is None else frame.times.at(end)
    legend = []
    for number, (name, found) in enumerate(groupby(rows, key=lambda row: row["pool"])):
        points: list[tuple[float, float]] = []
        for row in found:
            x, y = frame.at(row, "spent")
            points.append((x, points[-1][1] if points else frame.y(0)))
            points.append((x, y))
        points.append((max(right, points[-1][0]), points[-1][1]))
        drawn += _forecast(ahead.get(name, ()), "total", frame, points[-1], number)
        drawn += _line(points, number, name)
        legend.append((f"series s{number}", name))
    return _chart(
        "spending",
        drawn,
        legend,
        say,
        {
            "when": [wording.moment(row["ts"], None, 0) for row in rows],
            "pool": [row["pool"] for row in rows],
            "charged": [f"{row['charged']:,g}" for row in rows],
            "spent": [f"{row['spent']:,g}" for row in rows],
        },
    )


def _ahead(
    forecasts: Sequence[Values], pools: Sequence[str]
) -> dict[str, list[Values]]:
    """Give the forecasts of these pools by their names, each in the order of time."""
    found: dict[str, list[Values]] = {}
    for row in forecasts:
        if row["pool"] in pools:
            found.setdefault(row["pool"], []).append(dict(row))
    return found


def _told(found: Sequence[Values]) -> bool:
    return all(row["used_ratio_high"] is not None for row in found)


def _chart(
    name: str,
    drawn: Sequence[Shape],
    legend: Sequence[tuple[str, str]],
    say: Say,
    columns: Mapping[str, Sequence[str]],
) -> Chart:
    """Give the chart of this name, with its numbers as a table beneath."""
    return Chart(
        name,
        say(f"chart.{name}.title"),
        say(f"chart.{name}.desc", pools=", ".join(series for _, series in legend)),
        _TOP + _TALL + _BELOW,
        drawn,
        shapes.Table(
            [say(f"column.{one}") for one in columns],
            [list(row) for row in zip(*columns.values(), strict=True)],
        ),
        name,
        legend,
    )


def _frame(
    rows: Sequence[Values],
    most: float,
    spelled: Callable[[float], str],
    ahead: Mapping[str, Sequence[Values]],
) -> tuple[_Frame, list[Shape]]:
    """Give the frame of lines with its axes, with room behind them for forecasts."""
    ticks = scales.rounded(0, most)
    left = max(shapes.width_of(spelled(tick)) for tick in ticks) + 16
    start = min(row["ts"] for row in rows)
    width = timedelta(seconds=rows[0]["width_s"])
    end = scales.later(max(row["ts"] for row in rows), width)
    if ahead:
        last = max(found[-1]["ts"] for found in ahead.values())
        end = min(last, scales.later(end, (end - start) * _AHEAD))
    times = scales.Times(start, end, left, shapes.WIDTH - 20.0)
    frame = _Frame(times, most)
    drawn: list[Shape] = []
    for tick in ticks:
        y = frame.y(tick)
        drawn.append(shapes.segment(left, y, times.right, y, "grid"))
        drawn.append(shapes.label(left - 6, y + 4, spelled(tick), "", "end"))
    return frame, [*drawn, *time_axis(times, _TOP + _TALL)]


def _forecast(
    rows: Sequence[Values],
    key: str,
    frame: _Frame,
    last: tuple[float, float],
    number: int,
) -> list[Shape]:
    """Give the band in which a pool goes on, and the line in it."""
    seen = [row for row in rows if last[0] < frame.times.at(row["ts"])]
    seen = [row for row in seen if row["ts"] <= frame.times.end]
    if not seen:
        return []

    def edge(name: str) -> list[tuple[float, float]]:
        return [
            (frame.times.at(row["ts"]), frame.y(min(row[name], frame.most)))
            for row in seen
        ]

    band = [last, *edge(f"{key}_high"), *reversed(edge(f"{key}_low"))]
    return [
        shapes.path(band, "band", closed=True),
        shapes.path([last, *edge(key)], f"forecast s{number}", closed=False),
    ]


def _line(points: list[tuple[float, float]], number: int, name: str) -> list[Shape]:
    found = [shapes.path(points, f"series s{number}", name, closed=False)]
    if len(points) == 1:
        found.append(shapes.circle(*points[0], 3, f"dot s{number}", name))
    return found
