"""How far two shares differ, and whether chance alone makes such differences.

Formulas: Wilson, JASA 22 (1927) 209; Newcombe, Statistics in Medicine 17 (1998) 873,
method 10; Fisher's exact test, two-sided by the probability of the table; Holm,
Scandinavian Journal of Statistics 6 (1979) 65, among the hypotheses that Tarone,
Biometrics 46 (1990) 515, leaves; Pearson's dispersion, McCullagh and Nelder,
Generalized Linear Models (1989) 4.5.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

_EXACT: Final = 4000
"""Failures in both together up to which the test is exact."""
_SAME: Final = 1 + 1e-7  # probabilities that differ less are the same number


@dataclass(frozen=True, slots=True)
class Side:
    """Counts of one side; `squares` and so on are sums over clumps that fail together.

    `failed` of `attempts`; a clump has n attempts of which y failed: `squares` is the
    sum of n * n, `crossed` of n * y, `failed_squares` of y * y.
    """

    failed: int
    attempts: int
    failed_squares: float = 0
    crossed: float = 0
    squares: float = 0

    @property
    def share(self) -> float:
        """Failed attempts as a share of all; 0 without attempts."""
        return self.failed / self.attempts if self.attempts else 0.0


def dispersion(sides: Sequence[Side]) -> float:
    """Give how much more the counts scatter than with failures on their own, 1 at least.

    Each side is measured against its own share, so that a difference is no scatter.
    """
    found = expected = 0.0
    for side in sides:
        share = side.share
        found += (
            side.failed_squares
            - 2 * share * side.crossed
            + share * share * side.squares
        )
        expected += side.attempts * share * (1 - share)
    return max(found / expected, 1.0) if expected > 0 else 1.0


def wilson(
    failed: float, attempts: float, *, level: float = 0.99
) -> tuple[float, float]:
    """Give the score interval of a share; (0, 1) without attempts."""
    if attempts <= 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    middle = 2 * failed + z2
    half = math.sqrt(max(z2 * (z2 + 4 * failed * (attempts - failed) / attempts), 0))
    whole = 2 * (attempts + z2)
    return max((middle - half) / whole, 0.0), min((middle + half) / whole, 1.0)


def interval(
    base: Side, case: Side, *, scatter: float = 1.0, level: float = 0.99
) -> tuple[float, float]:
    """Give the interval of `case.share - base.share`, by Newcombe from Wilson's."""
    low1, high1 = wilson(base.failed / scatter, base.attempts / scatter, level=level)
    low2, high2 = wilson(case.failed / scatter, case.attempts / scatter, level=level)
    gap = case.share - base.share
    return (
        max(gap - math.hypot(case.share - low2, high1 - base.share), -1.0),
        min(gap + math.hypot(high2 - case.share, base.share - low1), 1.0),
    )


def comparison(base: Side, case: Side, *, scatter: float = 1.0) -> tuple[float, float]:
    """Give p of equal shares, and the least p that so many failures could give.

    Scattered counts are worth as many as independent ones would need to be.
    """
    sizes = [round(side.attempts / scatter) for side in (base, case)]
    hits = [
        min(round(side.failed / scatter), size)
        for side, size in zip((base, case), sizes, strict=True)
    ]
    total = sum(hits)
    if not all(sizes) or total in {0, sum(sizes)}:
        return 1.0, 1.0
    if total > _EXACT and sum(sizes) - total > _EXACT:
        return _score(hits, sizes), 0.0
    lowest = max(0, total - sizes[0])
    ways = _hypergeometric(total, sizes[0], sizes[1], lowest)

    def p_of(place: int) -> float:
        return float(min(ways[ways <= ways[place] * _SAME].sum(), 1.0))

    return p_of(hits[1] - lowest), min(p_of(0), p_of(-1))


def _hypergeometric(total: int, base: int, case: int, lowest: int) -> "np.ndarray":
    """Give the probabilities of `lowest`, lowest + 1 ... failures on the second side."""
    k = np.arange(lowest, min(total, case), dtype=np.float64)
    steps = (
        np.log(case - k)
        + np.log(total - k)
        - np.log(k + 1)
        - np.log(base - total + k + 1)
    )
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    ways = np.exp(logs - logs.max())
    return np.asarray(ways / ways.sum())


def _score(hits: Sequence[int], sizes: Sequence[int]) -> float:
    pooled = sum(hits) / sum(sizes)
    error = math.sqrt(pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1]))
    return math.erfc(
        abs(hits[1] / sizes[1] - hits[0] / sizes[0]) / error / math.sqrt(2)
    )


def corrected(
    tests: Sequence[tuple[float, float]], *, alpha: float
) -> tuple[list[float], int]:
    """Correct p for several comparisons; gives them, and how many had to be counted.

    Of `(p, least p)`, those that could not have reached `alpha` take no part: theirs
    becomes 1. The others are corrected by Holm: with chance alone, any of them falls
    below `alpha` in a share of `alpha` of all comparisons of cases.
    """
    least = sorted(low for _, low in tests)
    counted = 0
    for number in range(1, len(tests) + 1):
        counted = number
        if bisect_right(least, alpha / number) <= number:
            break
    part = [n for n, (_, low) in enumerate(tests) if counted and low <= alpha / counted]
    part.sort(key=lambda n: (tests[n][0], n))
    result = [1.0] * len(tests)
    reached = 0.0
    for rank, n in enumerate(part):
        reached = max(reached, min((len(part) - rank) * tests[n][0], 1.0))
        result[n] = reached
    return result, len(part)


def ranks(count: int, quantile: float, *, level: float) -> tuple[int, int, int]:
    """Give which of `count` sorted values bound a quantile, and which is it: from 1.

    Low, middle, high; by the normal approximation of the binomial (Conover, Practical
    Nonparametric Statistics (1999) 3.2). 0 and `count + 1` where no value bounds it.
    """
    spread = NormalDist().inv_cdf((1 + level) / 2)
    half = spread * math.sqrt(count * quantile * (1 - quantile))
    low = math.floor(count * quantile - half)
    high = math.ceil(count * quantile + half) + 1
    middle = max(math.ceil(count * quantile), 1)
    return max(low, 0), middle, min(high, count + 1)
