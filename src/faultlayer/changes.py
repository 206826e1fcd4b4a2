"""What rose and fell between two cases or windows, and what of it chance can make."""

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from faultlayer.case import Case

FAILED: Final = "failed attempts"
CONDITIONS: Final = "conditions"
SURE: Final = "more than chance"
BURSTS: Final = "in bursts"
FEW: Final = "may be chance"
UNTESTED: Final = "not tested"

KEYS = ("layer", "cause", "model", "user_id", "route")
_KINDS: Final = {
    "number": pa.int64(),
    "change": pa.string(),
    "certainty": pa.string(),
    "measure": pa.string(),
    **dict.fromkeys(KEYS, pa.string()),
    "base_value": pa.float64(),
    "base_attempts": pa.int64(),
    "case_value": pa.float64(),
    "case_attempts": pa.int64(),
    "base_share": pa.float64(),
    "case_share": pa.float64(),
    "difference": pa.float64(),
    "difference_low": pa.float64(),
    "difference_high": pa.float64(),
    "p": pa.float64(),
    "part_of": pa.int64(),
}
_LISTED = 3


@dataclass(slots=True)
class Change:
    """One row of the answer; what it is about stands in `keys`, None is all.

    `low` and `high` bound `case - base`, of shares for failed attempts, else in ms.
    `part_of` is the number of the change whose failures make this one.
    """

    measure: str
    keys: dict[str, str | None]
    base: float
    case: float
    base_attempts: int | None = None
    case_attempts: int | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    certainty: str = FEW
    number: int | None = None
    part_of: int | None = None

    @property
    def change(self) -> str:
        """Say what it is: new, gone, rose, fell or same."""
        before, after = (
            self.level(self.base, self.base_attempts),
            self.level(self.case, self.case_attempts),
        )
        if before == after:
            return "same"
        if self.measure in {FAILED, CONDITIONS} and not before:
            return "new"
        if self.measure in {FAILED, CONDITIONS} and not after:
            return "gone"
        return "rose" if after > before else "fell"

    def level(self, value: float, attempts: int | None) -> float:
        """Give what is compared: the share of failures, else the value itself."""
        return value / attempts if attempts and self.measure == FAILED else value

    def row(self) -> dict[str, Any]:
        """Give it as a row of data."""
        shares = self.measure == FAILED
        before = self.level(self.base, self.base_attempts)
        after = self.level(self.case, self.case_attempts)
        return {
            "number": self.number,
            "change": self.change,
            "certainty": self.certainty,
            "measure": self.measure,
            **self.keys,
            "base_value": self.base,
            "base_attempts": self.base_attempts,
            "case_value": self.case,
            "case_attempts": self.case_attempts,
            "base_share": before if shares else None,
            "case_share": after if shares else None,
            "difference": after - before,
            "difference_low": self.low,
            "difference_high": self.high,
            "p": self.p,
            "part_of": self.part_of,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs; `total` is all failed attempts, `rest` what is as it was.

    `tested` is the number of comparisons that `p` is corrected for.
    """

    attempts: tuple[int, int]
    total: Change | None
    found: list[Change]
    rest: list[Change]
    tested: int
    alpha: float


def definitions(base: Case, case: Case) -> list[str]:
    """Say by what else two cases differ than by their logs: their verdicts then may."""
    texts = []
    versions = [one.manifest.get("tool_version") for one in (base, case)]
    if versions[0] != versions[1]:
        texts.append(
            f"BASE was analyzed by version {versions[0]}, CASE by {versions[1]}"
        )
    for key, what in (
        ("definitions", "formats, signatures or rules"),
        ("values", "limits and thresholds"),
        ("layers", "layers of causes"),
        ("replaced", "replaced rules"),
    ):
        first, second = (_of(one, key) for one in (base, case))
        if key == "values":  # those alone are listed that had a part in a verdict
            both = first.keys() & second.keys()
            first, second = (
                {name: one[name] for name in both} for one in (first, second)
            )
        if first != second:
            texts.append(f"BASE and CASE had other {what}{_apart(first, second)}")
    return [f"{text}; what differs may be due to that" for text in texts]


def _of(case: Case, key: str) -> Any:
    found = case.manifest.get(key) or {}
    if key != "values":
        return found
    return {f"{one['section']}.{one['name']}": one["value"] for one in found}


def _apart(first: object, second: object) -> str:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return ""
    names = sorted(
        str(name)
        for name in first.keys() | second.keys()
        if first.get(name) != second.get(name)
    )
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f": {', '.join(names[:_LISTED])}{more}"


def table(found: Comparison, *, everything: bool) -> pa.Table:
    """Give the changes as data, all of them or those that are worth a word."""
    rows = [*found.found, *(found.rest if everything else [])]
    columns: dict[str, list[Any]] = {name: [] for name in _KINDS}
    for one in rows:
        for name, value in one.row().items():
            columns[name].append(value)
    return pa.table(
        {name: pa.array(columns[name], kind) for name, kind in _KINDS.items()}
    )
