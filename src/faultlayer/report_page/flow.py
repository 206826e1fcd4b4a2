"""Draws the used share of the fullest quota pools over time."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby

from faultlayer import wording
from faultlayer.report_page import scales, shapes
from faultlayer.report_page.bars import Say, time_axis
from faultlayer.report_page.shapes import Chart, Shape
from faultlayer.summary import Values

_TOP, _TALL, _BELOW = 12, 190, 30
_LEFT = 58.0
_FULL = 1.0


def chart(rows: Sequence[Values], say: Say) -> Chart | None:
    """Give a line for each pool; None where the case has no balances."""
    if not rows:
        return None
    start = min(row["ts"] for row in rows)
    end = max(row["ts"] for row in rows) + timedelta(seconds=rows[0]["width_s"])
    times = scales.Times(start, end, _LEFT, shapes.WIDTH - 20.0)
    most = max(_FULL, *(row["used_ratio"] for row in rows)) * 1.04
    drawn: list[Shape] = []
    for tick in scales.rounded(0, most):
        y = _at(tick, most)
        drawn.append(shapes.segment(_LEFT, y, shapes.WIDTH - 20, y, "grid"))
        drawn.append(shapes.label(_LEFT - 6, y + 4, f"{tick:.0%}", "", "end"))
    full = _at(_FULL, most)
    drawn.append(shapes.segment(_LEFT, full, shapes.WIDTH - 20, full, "limit"))
    legend = []
    pools = [
        (level, pool, list(found))
        for (level, pool), found in groupby(
            rows, key=lambda row: (row["level"], row["pool"])
        )
    ]
    for number, (level, pool, found) in enumerate(pools):
        name = f"{level} {pool}"
        points = [(times.at(row["ts"]), _at(row["used_ratio"], most)) for row in found]
        drawn.append(shapes.path(points, f"series s{number}", name, closed=False))
        if len(points) == 1:
            drawn.append(shapes.circle(*points[0], 3, f"dot s{number}", name))
        legend.append((f"series s{number}", name))
    drawn += time_axis(times, _TOP + _TALL)
    return Chart(
        "pools",
        say("chart.pools.title"),
        say("chart.pools.desc", pools=", ".join(name for _, name in legend)),
        _TOP + _TALL + _BELOW,
        drawn,
        _table(rows, say),
        "pools",
        legend,
    )


def _at(share: float, most: float) -> float:
    return _TOP + _TALL * (1 - max(share, 0.0) / most)


def _table(rows: Sequence[Values], say: Say) -> shapes.Table:
    return shapes.Table(
        [
            say("column.when"),
            say("column.level"),
            say("column.pool"),
            say("column.used"),
        ],
        [
            [
                wording.moment(row["ts"], None, 0),
                row["level"],
                row["pool"],
                f"{row['used_ratio']:.2%}",
            ]
            for row in rows
        ],
    )
