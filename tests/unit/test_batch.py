"""What a job of every day asks: a window, and when to raise an alarm."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click
import pytest

from faultlayer import windowed
from faultlayer.case import Case
from faultlayer.commands import _fail_on
from faultlayer.commands._moment import moment
from faultlayer.errors import UsageError
from faultlayer.summary import plain

Build = Callable[..., Case]

CAUSES = ["model.cuda_oom", "model.hung", "quota.exceeded", "harness.hung"]
ROWS: list[dict[str, Any]] = [
    {"layer": "model", "cause": "model.cuda_oom", "attempts": 7},
    {"layer": "model", "cause": "model.hung", "attempts": 4},
    # A cause that [layers] of faultlayer.toml counts to another layer.
    {"layer": "quota", "cause": "harness.hung", "attempts": 2},
]


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("any", "--fail-on any: 13 failed attempts"),
        ("any>13", None),
        ("model", "--fail-on model: 11 failed attempts"),
        ("model>10", "--fail-on model>10: 11 failed attempts"),
        ("model.*>11", None),
        ("model.* > 1_0", "--fail-on model.* > 1_0: 11 failed attempts"),
        ("*.hung>5", "--fail-on *.hung>5: 6 failed attempts"),
        ("quota", "--fail-on quota: 2 failed attempts"),
        ("quota.*", None),
        ("undetermined", None),
    ],
)
def test_conditions(text: str, met: str | None) -> None:
    """A layer goes by the layer, a glob by the cause; `>10` is met by eleven."""
    found = _fail_on.met(ROWS, [_fail_on.read(text, CAUSES)])
    assert found == ([met] if met else [])


@pytest.mark.parametrize(
    "text", ["modle", "model.*>", "model>=3", "mdl.*", ">3", "model>x"]
)
def test_what_is_no_condition(text: str) -> None:
    """A condition that could never be met would be an alarm that never rings."""
    with pytest.raises(UsageError, match="does not know"):
        _fail_on.read(text, CAUSES)


def test_a_window_counts_what_ended_in_it(build_case: Build) -> None:
    """Of two attempts, one failed at 14:20:05.5, one is fine at :06; the end is open."""
    case = build_case()
    start = datetime(2026, 11, 30, 14, 20)  # noqa: DTZ001 - cases hold UTC without a zone

    def counts(*seconds: float | None) -> tuple[int, int, int]:
        since, until = (
            None if one is None else start + timedelta(seconds=one) for one in seconds
        )
        window = windowed.gather(case, since, until)
        assert json.dumps(plain(window))
        failed = sum(row["attempts"] for row in window["causes"])
        return window["attempts"], window["failed"], failed

    assert counts(None, None) == (2, 1, 1)
    assert counts(5.5, 6.0) == (1, 1, 1)
    assert counts(5.6, None) == (1, 0, 0)
    assert counts(None, 5.5) == (0, 0, 0)
    window = windowed.gather(case, start, None)
    (line,) = map(str, windowed.screen(window, 120))
    wanted = (
        "window from 2026-11-30 14:20:00 · 2 attempts, 1 failed · model.engine_dead 1"
    )
    assert " ".join(line.split()) == wanted


def test_moments() -> None:
    """ISO with and without a zone, and the days of a nightly job, in UTC."""
    context = click.Context(click.Command("x"))
    option = click.Option(["--since"])

    def read(text: str | None) -> datetime | None:
        return moment(context, option, text)

    assert read(None) is None
    assert read("2026-11-30") == datetime(2026, 11, 30)  # noqa: DTZ001
    assert read("2026-11-30T14:00+02:00") == datetime(2026, 11, 30, 12)  # noqa: DTZ001
    today, yesterday = read("today"), read("yesterday")
    assert today is not None
    assert yesterday is not None
    assert today - yesterday == timedelta(days=1)
    assert (
        timedelta()
        <= datetime.now(UTC).replace(tzinfo=None) - today
        < timedelta(days=1)
    )
    with pytest.raises(click.BadParameter, match="yesterday"):
        read("tomorrow morning")
