"""Judges what two sides count: which differences are told, and in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from faultlayer import chances, counted
from faultlayer.chances import Side
from faultlayer.changes import (
    BURSTS,
    CONDITIONS,
    FAILED,
    FEW,
    KEYS,
    SURE,
    UNTESTED,
    Change,
    Comparison,
)
from faultlayer.counted import Counts, Part

_NAMED: Final = {"model": "model", "user": "user_id", "route": "route"}
_NARROW: Final = ("user", "route", "model", "all")  # of as many attempts, the last
_FOLDED: Final = (
    100  # rows that others are tried as a part of; more tell nobody anything
)
_SLOWER: Final = 1.2  # smaller changes of a latency are the load of another hour


def compare(
    base: Part, case: Part, *, alpha: float = 0.01, memory: str | None = None
) -> Comparison:
    """Compare two sides; with chance alone, `alpha` of all runs name a failure.

    Raises CaseError for a damaged case.
    """
    return judged(counted.count(base, case, alpha=alpha, memory=memory), alpha)


def judged(counts: Counts, alpha: float) -> Comparison:
    """Tell from counts what differs, most surprising first."""
    subjects = [_subject(row, alpha) for row in counts.counts]
    if not all(counts.attempts):
        return Comparison(counts.attempts, None, [], [], 0, alpha)
    sure, tested = _corrected(subjects, [one.sure for one in subjects], alpha)
    plain, _ = _corrected(subjects, [one.plain for one in subjects], alpha)
    for one, p, loose in zip(subjects, sure, plain, strict=True):
        one.change.p = p
        if p <= alpha:
            one.change.certainty = SURE
        elif loose <= alpha:
            one.change.certainty = BURSTS
    found = _told(subjects, counts.failures, alpha / max(tested, 1))
    slower = _latencies(counts.latencies)
    rare = [one.change for one in subjects if _comes_or_goes(one)]
    rest = [
        one.change
        for one in subjects
        if one.change.certainty == FEW and not _comes_or_goes(one)
    ]
    total = next(
        (one.change for one in subjects if one.of == "all" and not one.layer), None
    )
    if total is None:
        total = Change(FAILED, dict.fromkeys(KEYS), 0, 0, *counts.attempts)
    troubles = _troubles(counts.troubles)
    return Comparison(
        counts.attempts, total, [*found, *slower, *rare, *troubles], rest, tested, alpha
    )


def _corrected(
    subjects: Sequence["_Subject"], tests: Sequence[tuple[float, float]], alpha: float
) -> tuple[list[float], int]:
    """Correct p within each way of looking, of which each has its share of `alpha`.

    Or twenty thousand users would drown what all attempts, or a model, have to say.
    """
    result = [1.0] * len(tests)
    tested = 0
    for of in _NARROW:
        part = [n for n, one in enumerate(subjects) if one.of == of]
        found, count = chances.corrected(
            [tests[n] for n in part], alpha=alpha / len(_NARROW)
        )
        tested += count
        for n, p in zip(part, found, strict=True):
            result[n] = min(p * len(_NARROW), 1.0)
    return result, tested


@dataclass(slots=True)
class _Subject:
    """Something whose share of failures is compared."""

    of: str
    sides: tuple[Side, Side]
    scatter: float
    change: Change
    sure: tuple[float, float]
    plain: tuple[float, float]

    @property
    def p(self) -> float:
        """How likely chance makes it; of what is in bursts, as if it were not."""
        return (self.sure if self.change.certainty == SURE else self.plain)[0]

    @property
    def layer(self) -> str | None:
        return self.change.keys["layer"]

    @property
    def cause(self) -> str | None:
        return self.change.keys["cause"]


def _subject(row: Mapping[str, Any], alpha: float) -> _Subject:
    names = ("failed", "attempts", "failed_squares", "crossed", "squares")
    base, case = (
        Side(*(row[f"{side}_{name}"] for name in names)) for side in ("base", "case")
    )
    keys: dict[str, str | None] = dict.fromkeys(KEYS)
    keys |= {"layer": row["layer"], "cause": row["cause"]}
    if row["of"] in _NAMED:
        keys[_NAMED[row["of"]]] = row["name"]
    scatter = chances.dispersion([base, case])
    low, high = chances.interval(base, case, scatter=scatter, level=1 - alpha)
    change = Change(
        FAILED,
        keys,
        base.failed,
        case.failed,
        base.attempts,
        case.attempts,
        low=low,
        high=high,
    )
    plain = chances.comparison(base, case)
    sure = plain if scatter == 1 else chances.comparison(base, case, scatter=scatter)
    return _Subject(row["of"], (base, case), scatter, change, sure, plain)


def _told(
    subjects: Sequence[_Subject], failures: Sequence[Mapping[str, Any]], least: float
) -> list[Change]:
    """Order what differs: the sure before bursts, causes before what sums them up.

    What no longer differs without the failures of those before it is a part of them.
    """
    cells = {
        key: np.array([row[key] for row in failures], dtype=object) for key in KEYS
    }
    live = np.array(
        [
            [row["failed"] if row["side"] == side else 0 for row in failures]
            for side in ("base", "case")
        ],
        dtype=np.int64,
    )
    places: dict[int, npt.NDArray[np.intp]] = {}
    for n, one in enumerate(subjects):
        if one.change.certainty != FEW:
            taken = np.ones(len(failures), dtype=bool)
            for key, value in one.change.keys.items():
                if value is not None:
                    taken &= cells[key] == value
            places[n] = np.flatnonzero(taken)
    found: list[Change] = []
    number = 0
    for certainty in (SURE, BURSTS):
        for summed in (False, True):
            while True:
                left = [
                    n
                    for n in places
                    if subjects[n].change.certainty == certainty
                    and (subjects[n].cause is None) == summed
                ]
                if not left:
                    break
                number += 1
                first = _first(subjects, left)
                subjects[first].change.number = number
                found.append(subjects[first].change)
                live[:, places.pop(first)] = 0
                if number <= _FOLDED:
                    found += _parts(subjects, places, live, number, least)
    return found


def _first(subjects: Sequence[_Subject], left: Sequence[int]) -> int:
    """Choose the most surprising; of those about the same failures the narrowest."""

    def order(n: int) -> tuple[float, float, int]:
        one = subjects[n]
        gap = abs(one.sides[1].share - one.sides[0].share)
        return one.p, -gap, n

    best = subjects[min(left, key=order)]
    failed = [side.failed for side in best.sides]
    same = [
        n
        for n in left
        if [side.failed for side in subjects[n].sides] == failed
        and subjects[n].cause == best.cause
    ]
    # The fewer attempts it takes to hold the same failures, the more it says.
    return min(
        same,
        key=lambda n: (
            sum(side.attempts for side in subjects[n].sides),
            -_NARROW.index(subjects[n].of),
            n,
        ),
    )


def _parts(
    subjects: Sequence[_Subject],
    places: dict[int, npt.NDArray[np.intp]],
    live: npt.NDArray[np.int64],
    number: int,
    least: float,
) -> list[Change]:
    parts = []
    for n in sorted(places):
        one = subjects[n]
        base, case = (int(failed) for failed in live[:, places[n]].sum(axis=1))
        left = (
            Side(base, one.sides[0].attempts),
            Side(case, one.sides[1].attempts),
        )
        scatter = one.scatter if one.change.certainty == SURE else 1.0
        if chances.comparison(*left, scatter=scatter)[0] > least:
            one.change.part_of = number
            parts.append(one.change)
            del places[n]
    return parts


def _comes_or_goes(one: _Subject) -> bool:
    """Whether it is a cause that one side alone has, though in few attempts."""
    return (
        one.of == "all"
        and one.cause is not None
        and one.change.certainty == FEW
        and one.change.change in {"new", "gone"}
    )


def _latencies(rows: Sequence[Mapping[str, Any]]) -> list[Change]:
    """Give the quantiles whose intervals lie apart, by a fifth at least."""
    sides: dict[tuple[str, float], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        sides.setdefault((row["model"], row["quantile"]), {})[row["side"]] = row
    found = []
    for (served, quantile), both in sorted(sides.items()):
        if len(both) < 2:  # noqa: PLR2004 - one side alone has that model
            continue
        base, case = both["base"], both["case"]
        bounds = [side[end] for side in (base, case) for end in ("low", "high")]
        if None in bounds:
            continue
        apart = base["high"] < case["low"] or case["high"] < base["low"]
        low, high = sorted((base["middle"], case["middle"]))
        if not apart or high < _SLOWER * low:
            continue
        found.append(
            Change(
                f"p{100 * quantile:.0f} ms",
                dict.fromkeys(KEYS) | {"model": served},
                base["middle"],
                case["middle"],
                base["attempts"],
                case["attempts"],
                low=case["low"] - base["high"],
                high=case["high"] - base["low"],
                certainty=SURE,
            )
        )
    return found


def _troubles(rows: Sequence[Mapping[str, Any]]) -> list[Change]:
    """Give the causes of conditions that one side alone has."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows:
        counts.setdefault((row["layer"], row["cause"]), {})[row["side"]] = row[
            "conditions"
        ]
    return [
        Change(
            CONDITIONS,
            dict.fromkeys(KEYS) | {"layer": layer, "cause": cause},
            both.get("base", 0),
            both.get("case", 0),
            certainty=UNTESTED,
        )
        for (layer, cause), both in sorted(counts.items())
        if len(both) == 1
    ]
