"""Clocks whose truth is known: what the bounds of their requests give back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from faultlayer.clocks.agreement import Bounds, agreed
from faultlayer.clocks.clock import Segment
from faultlayer.clocks.estimate import segments

DAY = 86_400e6
START = 1.79e15  # some day of 2026, us since 1970

Floats = NDArray[np.float64]


class Clock:
    """Reads `offset` + `ppm` x time, and jumps by each (time, us) of `steps`."""

    def __init__(
        self,
        offset: float = 0.0,
        ppm: float = 0.0,
        steps: tuple[tuple[float, float], ...] = (),
    ) -> None:
        self.offset, self.ppm, self.steps = offset, ppm, steps

    def ahead(self, since: Floats) -> Floats:
        """Give reading minus true time, us, for times since the start."""
        jumps = sum((by * (since >= at) for at, by in self.steps), np.zeros(len(since)))
        return self.offset + self.ppm * 1e-6 * since + jumps


def bounds(
    clock: Clock, requests: int, seed: int = 1, resolution: float = 1e3
) -> tuple[Bounds, Bounds]:
    """Log requests of one day on an exact clock and on this one; give its bounds."""
    random = np.random.default_rng(seed)
    begin = np.sort(random.random(requests)) * DAY
    received = begin + 300 + random.exponential(800, requests)
    answered = received + 3e3 + random.exponential(4e6, requests)
    end = answered + 500 + random.exponential(1500, requests)

    def logged(at: Floats) -> Floats:
        reading = START + at + clock.ahead(at)
        return np.floor(reading / resolution) * resolution

    upper = logged(received) + resolution - (START + begin)
    lower = logged(answered) - (START + end)
    order = np.argsort(end)
    return Bounds(START + begin, upper), Bounds(START + end[order], lower[order])


def read(found: list[Segment], since: Floats) -> tuple[Floats, Floats, Floats]:
    """Give offset, low and high at times since the start."""
    rows = []
    for time in START + since:
        one = next(s for s in found if s.end is None or time < s.end)
        moved = one.slope * (time - (one.anchor or 0.0))
        rows.append((one.offset + moved, one.low + moved, one.high + moved))
    table = np.array(rows).T
    return table[0], table[1], table[2]


GRID = np.arange(0, DAY, 600e6)

CLOCKS = {
    "three seconds": Clock(3e6),
    "eight hours": Clock(8 * 3600e6 + 1.3e6),
    "drift": Clock(0.4e6, 50),
    "behind and slow": Clock(-1.7e6, -12),
    "step": Clock(0.2e6, 8, ((43_200e6, -2e6),)),
    "small step": Clock(0.0, 5, ((40_000e6, 15e3),)),
    "steps": Clock(0.05e6, 40, ((20_000e6, 0.35e6), (47_000e6, -1.5e6), (7e10, 12e6))),
    "pause": Clock(0.0, 5, ((40_000e6, -90e6), (41_000e6, 90e6))),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_a_clock_comes_back_within_milliseconds(name: str) -> None:
    """Offset, drift and each step are found, and the interval holds."""
    clock = CLOCKS[name]
    found = segments(*bounds(clock, 20_000))
    assert len(found) == 1 + len(clock.steps)
    for one, (at, by) in zip(found[1:], clock.steps, strict=True):
        assert one.start is not None
        assert abs(one.start - START - at) < 15e6
        before = found[found.index(one) - 1]
        jump = read([one], GRID[:1])[0] - read([before], GRID[:1])[0]
        drifted = (one.slope - before.slope) * (one.start - START)
        assert abs(jump[0] + drifted - by) < 10e3
    away = [np.abs(GRID - at) > 60e6 for at, _ in clock.steps]
    grid = GRID[np.all(away, axis=0)] if away else GRID
    offset, low, high = read(found, grid)
    truth = clock.ahead(grid)
    assert np.quantile(np.abs(offset - truth), 0.99) < 4e3
    assert np.mean((low <= truth) & (truth <= high)) >= 0.99
    assert np.median(high - low) < 15e3


@pytest.mark.parametrize("requests", [4, 20, 200, 700, 3_000])
def test_the_interval_holds_with_few_requests(requests: int) -> None:
    """A drifting clock is tied by four requests, and by any number more."""
    clock = Clock(-4.2e6, 15)
    found = segments(*bounds(clock, requests, seed=3))
    assert len(found) == 1
    since = GRID[10:-10]
    offset, low, high = read(found, since)
    truth = clock.ahead(since)
    assert ((low <= truth) & (truth <= high)).all()
    assert np.abs(offset - truth).max() < 15e3
    assert (high - low).max() < 40e3


def test_whole_seconds_still_give_a_narrow_interval() -> None:
    """Stamps without a fraction tie a clock to a few of its hundredths."""
    clock = Clock(-1.7e6, -12)
    found = segments(*bounds(clock, 40_000, resolution=1e6))
    offset, low, high = read(found, GRID)
    truth = clock.ahead(GRID)
    assert ((low <= truth) & (truth <= high)).all()
    assert np.abs(offset - truth).max() < 20e3
    assert np.median(high - low) < 100e3


@pytest.mark.parametrize("share", [0.02, 0.2, 0.4])
def test_wrong_matches_are_outvoted(share: float) -> None:
    """Ids of unrelated requests contradict each other, not the clock."""
    clock = Clock(-0.8e6, 30)
    upper, lower = bounds(clock, 20_000)
    random = np.random.default_rng(7)
    for side in (upper, lower):
        wrong = random.random(len(side)) < share
        side.value[wrong] += random.uniform(-DAY, DAY, wrong.sum())
    found = segments(upper, lower)
    assert len(found) == 1
    offset, low, high = read(found, GRID)
    truth = clock.ahead(GRID)
    assert np.abs(offset - truth).max() < 4e3
    assert ((low <= truth) & (truth <= high)).all()
    assert found[0].support is not None
    assert found[0].support < 1 - share / 2


def test_random_matches_tie_nothing() -> None:
    """Where all matches are wrong nothing is claimed."""
    upper, lower = bounds(Clock(3e6), 5_000)
    random = np.random.default_rng(7)
    for side in (upper, lower):
        side.value[:] = random.uniform(-DAY, DAY, len(side))
    assert segments(upper, lower) == []


def test_stamps_late_by_a_flush_tie_nothing() -> None:
    """Stamps of a periodic flush are no stamps of events."""
    upper, lower = bounds(Clock(5.5e6), 20_000)
    late = np.random.default_rng(7).uniform(0, 5e6, len(lower))
    assert segments(upper, Bounds(lower.at, lower.value + late)) == []


def test_one_side_alone_ties_nothing() -> None:
    """Without bounds on one side the offset may be anything there."""
    upper, lower = bounds(Clock(3e6), 1_000)
    nothing = Bounds(np.zeros(0), np.zeros(0))
    assert segments(upper, nothing) == []
    assert segments(nothing, lower) == []


def test_a_queue_on_one_side_is_no_step() -> None:
    """Loose bounds on one side let false ones on the other stand; no step."""
    clock = Clock(0.3e6, 5)
    for seed in range(8):
        upper, lower = bounds(clock, 20_000, seed)
        queued = (upper.at > START + 36_000e6) & (upper.at < START + 43_200e6)
        upper.value[queued] += 0.25e6
        false = np.random.default_rng(seed).random(len(lower)) < 0.004
        lower.value[false] += np.random.default_rng(seed).uniform(0, 60e6, false.sum())
        assert len(segments(upper, lower)) == 1


@settings(max_examples=60, deadline=None)
@given(
    offset=st.integers(-40_000_000_000, 40_000_000_000),
    requests=st.lists(
        st.tuples(
            st.integers(0, 3_600_000_000),  # when, us
            st.integers(0, 5_000_000),  # until it is received
            st.integers(0, 5_000_000),  # until it is answered
            st.integers(0, 5_000_000),  # until it ends
        ),
        min_size=1,
        max_size=40,
    ),
)
def test_a_true_offset_is_never_outside(
    offset: int, requests: list[tuple[int, int, int, int]]
) -> None:
    """Any requests that obey cause and effect; a shift moves all by itself."""
    begin, wait, work, rest = np.array(sorted(requests), dtype=np.float64).T
    received, answered = begin + wait, begin + wait + work
    end = answered + rest
    order = np.argsort(end, kind="stable")
    upper = Bounds(START + begin, received + offset - begin)
    lower = Bounds(START + end[order], (answered + offset - end)[order])
    (one,) = segments(upper, lower)
    for time in (begin.min(), end.max()):
        moved = one.slope * (START + time - (one.anchor or 0.0))
        assert one.low + moved <= offset <= one.high + moved
    shift = 7_200e6
    (other,) = segments(
        Bounds(upper.at, upper.value + shift), Bounds(lower.at, lower.value + shift)
    )
    assert other.offset - one.offset == pytest.approx(shift, abs=1)
    assert other.low - one.low == pytest.approx(shift, abs=1)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    offset=st.integers(-30_000_000, 30_000_000),
    ppm=st.integers(-100, 100),
    step=st.sampled_from([-2e6, -0.4e6, 0.25e6, 3_600e6]) | st.none(),
    when=st.floats(0.2, 0.8),
    requests=st.sampled_from([100, 300, 500, 800, 1200, 2000, 3000, 9000]),
    seed=st.integers(0, 1000),
)
def test_drift_and_a_step_with_few_requests(
    offset: int, ppm: int, step: float | None, when: float, requests: int, seed: int
) -> None:
    """From a hundred requests a day on the bounds hold, and a step is found."""
    at = when * DAY
    clock = Clock(offset, ppm, ((at, step),) if step else ())
    found = segments(*bounds(clock, requests, seed))
    assert len(found) == 1 + bool(step)
    # Where the step lies between two requests is not known.
    since = GRID[np.abs(GRID - at) > (12 * DAY / requests if step else -1)]
    since = since[(since > DAY / 20) & (since < DAY * 19 / 20)]
    _, low, high = read(found, since)
    truth = clock.ahead(since)
    assert ((low <= truth) & (truth <= high)).all()
    assert np.median(high - low) <= 40e3


def test_agreement_contradicts_the_fewest() -> None:
    """The interval of Marzullo, worked out by hand."""
    found = agreed(np.array([5.0, 6.0, 1.0, 7.0]), np.array([2.0, 3.0, 9.0]))
    assert found is not None
    # 1 and 9 are false; the others leave 3 to 5.
    assert (found.low, found.high, found.violated) == (3.0, 5.0, 2)


def test_bounds_that_all_contradict_each_other_agree_on_nothing() -> None:
    """No interval is made up."""
    assert agreed(np.array([1.0]), np.array([2.0])) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_wide_band_after_a_step_is_not_crossed(seed: int) -> None:
    """Whole seconds on both sides leave most of one open; a slanted line fits as well."""
    clock = Clock(0.7e6, 0, ((10_000e6, -2e6),))
    random = np.random.default_rng(seed)
    begin = np.cumsum(random.exponential(2e6, 10_500))
    took = np.round(50e3 + random.exponential(1e6, len(begin)), -3)
    end = START + begin + took
    low, high = np.floor(end / 1e6) * 1e6 - took, np.floor(end / 1e6) * 1e6 + 1e6
    sides = []
    for at, since in ((low, begin + 2e3), (high, begin + took - 1e3)):
        reading = np.floor((START + since + clock.ahead(since)) / 1e6) * 1e6
        sides.append((at, reading + 1e6 - low, reading - high))
    at = np.concatenate([side[0] for side in sides])
    order = np.argsort(at)
    upper, lower = (np.concatenate([side[n] for side in sides]) for n in (1, 2))
    found = segments(Bounds(at[order], upper[order]), Bounds(at[order], lower[order]))
    assert len(found) == 2
    since = np.arange(0, begin[-1], 60e6)
    since = since[np.abs(since - 10_000e6) > 60e6]
    _, low, high = read(found, since)
    truth = clock.ahead(since)
    assert ((low <= truth) & (truth <= high)).all()
