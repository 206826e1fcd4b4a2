"""Compare a case with the truth about its logs; every difference is one sentence."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

ORDER = ["undetermined", "inferred", "corroborated", "proven"]
Row = dict[str, Any]


@dataclass
class Score:
    """What differs; `wrong_proven` must be empty whatever else is wrong."""

    problems: list[str] = field(default_factory=list)
    wrong_proven: list[str] = field(default_factory=list)


class Case:
    """The tables of a case that a truth file speaks about."""

    def __init__(self, folder: Path) -> None:
        self.verdicts = rows(folder / "verdicts.parquet")
        self.attempts = rows(folder / "attempts.parquet")
        self.conditions = rows(folder / "conditions.parquet")
        self.findings = rows(folder / "findings.parquet")
        self.clocks = rows(folder / "clocks.parquet")
        self.sources = rows(folder / "sources.parquet")
        self.events = folder / "events"

    def attempt(self, line: Row) -> Row | None:
        """Find the attempt that a truth line is about."""
        if line["request_id"] is None:
            when = datetime.fromisoformat(line["ts_end"]).replace(tzinfo=None)
            near = [
                row
                for row in self.attempts
                if row["request_id"] is None
                and row["status"] == line["status"]
                and abs(row["ts_end"] - when) < timedelta(seconds=1.5)
            ]
            return near[0] if near else None
        mine = [
            row for row in self.attempts if same(row["request_id"], line["request_id"])
        ]
        number = line.get("attempt", 1 if len(mine) == 1 else None)
        return next((row for row in mine if row["attempt"] == number), None)

    def verdict(self, attempt: Row) -> Row | None:
        """Find the verdict on an attempt."""
        return next(
            (v for v in self.verdicts if v["attempt_id"] == attempt["attempt_id"]), None
        )

    def event(self, reference: str) -> int | None:
        """Find the record that holds `logs/path:line`."""
        path, _, line = reference.rpartition(":")
        source = next((s for s in self.sources if s["path"] == path), None)
        if source is None:
            return None
        events = pl.read_parquet(
            self.events / f"{source['source_id']:05d}.parquet",
            columns=["event_id", "line", "lines"],
        )
        there = pl.col("line").le(int(line)) & pl.col("line").add(pl.col("lines")).gt(
            int(line)
        )
        found = events.filter(there)["event_id"].to_list()
        return found[0] if found else None


def rows(path: Path) -> list[Row]:
    """Read a small table."""
    return pl.read_parquet(path).to_dicts()


def same(one: str | None, other: str) -> bool:
    """Tell whether two spellings mean the same id."""
    return one is not None and plain(one) == plain(other)


def plain(rid: str) -> str:
    """Give a uuid without dashes and capitals, any other id as it is."""
    digits = rid.replace("-", "").lower()
    return digits if re.fullmatch(r"[0-9a-f]{32}", digits) else rid


def score(folder: Path, truth: Path) -> Score:
    """Compare the case in `folder` with a truth file."""
    case, result = Case(folder), Score()
    lines = [json.loads(line) for line in truth.read_text().splitlines()]
    for line in lines:
        if "request_id" in line:
            judge_attempt(case, line, result)
        elif "condition" in line:
            judge_condition(case, line, result)
        elif "clock" in line:
            judge_clock(case, line["clock"], result)
        else:
            judge_absence(case, line, result)
    return result


def judge_attempt(case: Case, line: Row, result: Score) -> None:
    """Check that an attempt has the verdict that it should have, or none."""
    name = f"{line['request_id']} #{line.get('attempt', '-')}"
    attempt = case.attempt(line)
    if attempt is None:
        result.problems.append(f"{name}: no such attempt")
        return
    verdict = case.verdict(attempt)
    if line.get("failed") is False:
        if attempt["failed"] or verdict:
            cause = verdict and verdict["cause"]
            result.problems.append(f"{name}: did not fail, but is said to: {cause}")
        if verdict and verdict["strength"] == "proven":
            result.wrong_proven.append(name)
        return
    if verdict is None:
        result.problems.append(f"{name}: no verdict, should be {line['cause']}")
        return
    said = f"{verdict['cause']} ({verdict['strength']}, {verdict['rule']})"
    if verdict["cause"] != line["cause"]:
        result.problems.append(f"{name}: {said}, should be {line['cause']}")
        if verdict["strength"] == "proven":
            result.wrong_proven.append(name)
    elif ORDER.index(verdict["strength"]) < ORDER.index(
        line.get("strength", "undetermined")
    ):
        result.problems.append(f"{name}: {said}, should be {line['strength']}")
    missing = " ".join(verdict["missing"] or [])
    if line.get("missing", "") not in missing:
        result.problems.append(
            f"{name}: {line['missing']} is not named as missing: {missing}"
        )


def judge_condition(case: Case, line: Row, result: Score) -> None:
    """Check that a root condition is found, with the right scope and line."""
    name = f"condition {line['condition']} of {line['root']}"
    wanted = {case.event(ref) for ref in [line["root"], *line.get("also", [])]} - {None}
    found = [
        c
        for c in case.conditions
        if c["cause"] == line["condition"] and c["role"] == "root"
    ]
    scoped = [c for c in found if line.get("scope", "") in (c["scope"] or "")]
    if not scoped:
        result.problems.append(
            f"{name}: not found; scopes {[c['scope'] for c in found]}"
        )
    elif not any(wanted & set(c["evidence"]) for c in scoped):
        result.problems.append(f"{name}: found, but does not cite the line")


def judge_clock(case: Case, line: Row, result: Score) -> None:
    """Check that the clock of a source has been found out."""
    clock = next(
        (s["clock_id"] for s in case.sources if s["path"] == line["source"]), None
    )
    true = line["offset_s"] + line.get("time_zone_s", 0)
    tied = [
        c for c in case.clocks if c["clock_id"] == clock and c["offset_us"] is not None
    ]
    at = (
        datetime.fromisoformat(line["at"]).replace(tzinfo=None)
        if "at" in line
        else None
    )
    off = [abs(offset_us(c, at) / 1e6 - true) for c in tied]
    if not off or min(off) > line["tolerance_s"]:
        result.problems.append(
            f"clock of {line['source']}: {[c['offset_us'] for c in tied]} us, should be {true} s"
        )


def offset_us(clock: Row, at: datetime | None) -> float:
    """Give the offset of a clock at its anchor, or moved along its line to `at`."""
    anchor = clock["anchor_ts"]  # the reference has none
    away = (at - anchor).total_seconds() if at and anchor else 0.0
    return float(clock["offset_us"] + away * (clock["drift_ppm"] or 0))


def judge_absence(case: Case, line: Row, result: Score) -> None:
    """Check that nothing is found beyond the truth."""
    if "not_condition" in line:
        if any(
            c["cause"] == line["not_condition"] and c["role"] == "root"
            for c in case.conditions
        ):
            result.problems.append(
                f"condition {line['not_condition']} must not be found"
            )
    elif "not_finding" in line:
        if any(f["cause"] == line["not_finding"] for f in case.findings):
            result.problems.append(
                f"finding {line['not_finding']} must not be reported"
            )
    elif len(case.verdicts) != line["expect_verdicts"]:
        result.problems.append(
            f"{len(case.verdicts)} verdicts, should be {line['expect_verdicts']}"
        )
