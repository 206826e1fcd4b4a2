"""Within its interval an offset is put where the bounds say that it is."""

import numpy as np
import pytest

from faultlayer.clocks.agreement import Bounds, leaning
from faultlayer.clocks.estimate import segments

START = 1.79e15  # some day of 2026, us since 1970
SECOND = 1e6


def error(kinds: str, edge_us: float, clock_us: float, seed: int) -> tuple[float, bool]:
    """Tie a clock by 60 requests of half an hour; gives its error and whether it is held.

    Both clocks cut their stamps off, at so many us; the one to tie logs when a request
    is taken (`t`), answered (`a`), or both.
    """
    random = np.random.default_rng(seed)
    truth = random.uniform(-5e6, 5e6)
    begin = np.sort(random.random(60)) * 1800e6
    taken = begin + 3e3 + random.exponential(5e3, 60)
    answered = taken + 50e3 + random.lognormal(np.log(2e6), 0.9, 60)
    end = answered + 500 + random.exponential(3e3, 60)
    logged = np.floor((START + end) / edge_us) * edge_us
    low, high = logged - np.floor((end - begin) / 1e3) * 1e3, logged + edge_us
    sides = []
    for at, near in [(taken, low)] * ("t" in kinds) + [(answered, high)] * (
        "a" in kinds
    ):
        stamp = np.floor((START + at + truth) / clock_us) * clock_us
        sides.append((near, stamp + clock_us - low + 2e3, stamp - high - 2e3))
    at, upper, lower = (
        np.concatenate(column).astype(np.float64) for column in zip(*sides, strict=True)
    )
    order = np.argsort(at, kind="stable")
    (one,) = segments(Bounds(at[order], upper[order]), Bounds(at[order], lower[order]))
    return one.offset - truth, bool(one.low <= truth <= one.high)


@pytest.mark.parametrize("kinds", ["t", "a", "ta"])
@pytest.mark.parametrize(("edge_us", "clock_us"), [(1e6, 1e6), (1e3, 1e6), (1e3, 1e5)])
def test_stamps_that_are_cut_off_move_no_point(
    kinds: str, edge_us: float, clock_us: float
) -> None:
    """A stamp is up to its resolution too early, whichever side of requests it bounds."""
    found = [error(kinds, edge_us, clock_us, seed) for seed in range(8)]
    assert all(held for _, held in found)
    assert abs(np.mean([off for off, _ in found])) < 0.25 * clock_us
    assert np.sqrt(np.mean([off**2 for off, _ in found])) < 0.3 * clock_us


def test_two_values_of_a_grid_tell_where_between_them() -> None:
    """Three of ten stamps show the second that has just begun: 0.3 s of it are over."""
    downs = np.array([0.0] * 3 + [-SECOND] * 7)
    ups = np.array([8e5, 8.1e5, 8.2e5, 2e6])
    assert leaning(ups, downs, (1e3, SECOND)) == pytest.approx(0.3 * SECOND)
    # The other way round, and never outside.
    assert leaning(-downs, -ups, (SECOND, 1e3)) == pytest.approx(-0.3 * SECOND)
    assert leaning(ups / 10, downs, (1e3, SECOND)) == pytest.approx(0.08 * SECOND)


def test_many_values_of_a_grid_tell_nothing_but_their_room() -> None:
    """A crowd on whole seconds is half a second wide, a crowd of milliseconds sharp."""
    downs = np.array([-number * SECOND for number in range(12) for _ in range(5)])
    ups = np.array([SECOND + number * 1e4 for number in range(60)])
    # Half a second on one side, 10 ms on the other.
    wanted = SECOND * 0.5 / (0.5 + 0.01)
    assert leaning(ups, downs, (1e3, SECOND)) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("step", "grid"), [(1e6, 1e6), (1e5, 1e5), (1e4, 1e4), (1e3, 1e3), (7e3, 1e3)]
)
def test_a_grid_is_found_whatever_the_constant(step: float, grid: float) -> None:
    """Values are multiples of a resolution, apart from the slack that all of them have."""
    random = np.random.default_rng(3)
    value = (random.integers(-500, 500, 200) * step + 2e3).astype(np.float64)
    assert Bounds(np.arange(200.0), value).gridded().grid == grid


def test_between_wide_intervals_the_line_keeps_to_the_sharp_edge() -> None:
    """An engine that tells only of the end: its start is seconds before that, and varies."""
    ppm, off = 20e-6, []
    for seed in range(5):
        random = np.random.default_rng(seed)
        begin = np.sort(random.random(35_000)) * 86_400e6
        end = begin + 50e3 + random.lognormal(np.log(4e6), 1.1, 35_000)
        order = np.argsort(end)
        begin, end = begin[order], end[order]
        stamp = np.floor((START + end + 2.6e6 + ppm * end) / SECOND) * SECOND
        upper = stamp + SECOND - (START + begin)
        lower = stamp - (START + end + random.exponential(2e3, 35_000))
        (one,) = segments(Bounds(START + end, upper), Bounds(START + end, lower))
        for since in (0.0, 86_400e6):
            ahead = one.offset + one.slope * (START + since - (one.anchor or 0.0))
            off.append(ahead - 2.6e6 - ppm * since)
    assert np.sqrt(np.mean(np.square(off))) < 20e3


def test_two_of_sixty_stamps_may_be_late() -> None:
    """Records that were written a moment late push an edge that nothing contradicts."""
    at = np.array([START + minute * 60e6 for minute in range(60)])
    lower = np.full(60, -3e3)
    lower[[20, 40]] = 5e3
    (one,) = segments(Bounds(at, np.full(60, 9e3)), Bounds(at, lower))
    assert one.slope == 0
    assert one.low <= -3e3
    assert one.high >= 9e3


@pytest.mark.parametrize("seed", range(3))
def test_a_queue_of_most_of_the_day_hides_no_false_bound(seed: int) -> None:
    """What falls into the room of a queue contradicts nothing there, but elsewhere."""
    random = np.random.default_rng(seed)
    begin = np.sort(random.random(27_000)) * 86_400e6
    queued = (begin > 10_000e6) & (begin < 80_000e6)
    ahead = 0.3e6 + 5e-6 * begin
    upper = 2.5e3 + random.exponential(1e3, 27_000) + queued * 0.1e6
    lower = -3e3 - random.exponential(1e3, 27_000)
    false = random.random(27_000) < 0.0015
    lower[false] += random.uniform(0, 50e3, false.sum())
    at = START + begin
    (one,) = segments(Bounds(at, ahead + upper), Bounds(at, ahead + lower))
    for since in (0.0, 86_400e6):
        moved = one.slope * (START + since - (one.anchor or 0.0))
        assert one.low + moved <= 0.3e6 + 5e-6 * since <= one.high + moved
        assert abs(one.offset + moved - 0.3e6 - 5e-6 * since) < 16e3


def test_late_stamps_of_whole_seconds_widen_the_band() -> None:
    """Three in ten lines are written 50 ms late; whole seconds hide nearly all of that."""
    random = np.random.default_rng(1)
    begin = np.sort(random.random(40_000)) * 86_400e6
    taken = begin + 3e3 + random.lognormal(np.log(5e3), 0.8, 40_000)
    answered = taken + random.lognormal(np.log(4e6), 1.1, 40_000)
    end = answered + 1e3 + random.exponential(2e3, 40_000)
    sides = []
    for at, near in ((taken, begin), (answered, end)):
        late = (random.random(40_000) < 0.3) * random.exponential(50e3, 40_000)
        stamp = np.floor((START + at + late) / SECOND) * SECOND
        sides.append((near, stamp + SECOND - START - begin, stamp - START - end))
    at, upper, lower = (np.concatenate(column) for column in zip(*sides, strict=True))
    order = np.argsort(at)
    at = START + at[order]
    for one in segments(Bounds(at, upper[order]), Bounds(at, lower[order])):
        moved = one.slope * (START + 43_200e6 - (one.anchor or 0.0))
        assert one.low + moved <= 0 <= one.high + moved
        assert one.high - one.low < 0.2e6
