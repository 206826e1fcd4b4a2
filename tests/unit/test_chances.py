"""The statistics of `diff` against values worked out by hand or printed in the papers."""

import math

import pytest

from faultlayer import chances
from faultlayer.chances import Side


def clumped(*clumps: tuple[int, int]) -> Side:
    """Add up clumps of `(failed, attempts)`."""
    return Side(
        sum(y for y, _ in clumps),
        sum(n for _, n in clumps),
        sum(y * y for y, _ in clumps),
        sum(y * n for y, n in clumps),
        sum(n * n for _, n in clumps),
    )


@pytest.mark.parametrize(
    ("failed", "attempts", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson(failed: int, attempts: int, low: float, high: float) -> None:
    """The examples that Newcombe printed."""
    found = chances.wilson(failed, attempts, level=0.95)
    assert found == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_nothing() -> None:
    """No attempts say nothing, and the interval is all."""
    assert chances.wilson(0, 0) == (0, 1)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 873, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_interval(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """The difference of two shares, as Newcombe printed it."""
    found = chances.interval(Side(*second), Side(*first), level=0.95)
    assert found == pytest.approx((low, high), abs=5e-5)


def test_exact_test() -> None:
    """1 of 10 against 7 of 10: (45 + 1200 + 1200 + 45) of 125970 tables are as rare."""
    found, least = chances.comparison(Side(1, 10), Side(7, 10))
    assert found == pytest.approx(2490 / 125970)
    assert least == pytest.approx(90 / 125970)


def test_without_anything_to_compare() -> None:
    """No failures, nothing but failures, or an empty side: chance makes that."""
    assert chances.comparison(Side(0, 10), Side(0, 10)) == (1, 1)
    assert chances.comparison(Side(10, 10), Side(10, 10)) == (1, 1)
    assert chances.comparison(Side(0, 0), Side(5, 10)) == (1, 1)


def test_large_counts_are_compared_by_the_score() -> None:
    """3000 against 3200 of 50000: pooled 0.062, z = 0.004 / 0.0015252 = 2.6226."""
    found, least = chances.comparison(Side(3000, 50_000), Side(3200, 50_000))
    assert least == 0
    assert found == pytest.approx(math.erfc(2.6226 / math.sqrt(2)), rel=1e-3)


def test_failures_that_come_together_scatter_more() -> None:
    """Ten clumps of ten, one of them failed as a whole: as if it were one attempt.

    Share 0.1: the failed clump is 9 off, the nine others 1 each: 81 + 9 = 90 instead of
    100 * 0.1 * 0.9 = 9.
    """
    side = clumped((10, 10), *[(0, 10)] * 9)
    assert chances.dispersion([side]) == pytest.approx(10)
    even = clumped(*[(1, 10)] * 10)
    assert chances.dispersion([even]) == 1
    assert chances.dispersion([even, clumped((0, 50))]) == 1


def test_a_difference_is_no_scatter() -> None:
    """Each side is measured against its own share."""
    sides = [clumped(*[(1, 10)] * 10), clumped(*[(9, 10)] * 10)]
    assert chances.dispersion(sides) == 1


def test_scattered_counts_weigh_less() -> None:
    """10 against 70 of 100 in clumps of ten are worth 1 against 7 of 10."""
    base, case = Side(10, 100), Side(70, 100)
    found = chances.comparison(base, case, scatter=10)
    assert found == chances.comparison(Side(1, 10), Side(7, 10))
    wide = chances.interval(base, case, scatter=10)
    assert wide == chances.interval(Side(1, 10), Side(7, 10))


def test_correction() -> None:
    """Holm: 0.001 * 3, 0.01 * 2, 0.02 * 1; no smaller than the one before."""
    tests = [(0.02, 0.0), (0.001, 0.0), (0.01, 0.0)]
    found, count = chances.corrected(tests, alpha=0.05)
    assert found == pytest.approx([0.02, 0.003, 0.02])
    assert count == 3


def test_what_cannot_be_significant_costs_nothing() -> None:
    """Tarone: a hundred that could never reach alpha leave one comparison."""
    tests = [(0.004, 0.0001), *[(0.2, 0.1)] * 100]
    found, count = chances.corrected(tests, alpha=0.01)
    assert count == 1
    assert found[0] == pytest.approx(0.004)
    assert set(found[1:]) == {1.0}
    assert chances.corrected([], alpha=0.01) == ([], 0)


def test_ranks() -> None:
    """Of 100 values the median is the 50th, 95 %: 50 - 9.8 and 50 + 9.8 + 1."""
    assert chances.ranks(100, 0.5, level=0.95) == (40, 50, 61)
    assert chances.ranks(10, 0.95, level=0.95) == (8, 10, 11)
