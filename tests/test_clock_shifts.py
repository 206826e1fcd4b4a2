"""What a clock is off by, and how its log is cut into files, changes no verdict."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from tests.scenario_builder import scenarios

from faultlayer.analyze import AnalyzeOptions, analyze
from faultlayer.clocks import wishes

SKEWED = scenarios()["plugin_outage_skewed"]
STAMP = re.compile(r"(?<=\[)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}(?=\])")
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
FORM = "%Y-%m-%d %H:%M:%S,%f"

VERDICTS = """
SELECT attempts.request_id, attempts.status, verdicts.layer, verdicts.cause, strength
FROM verdicts JOIN attempts USING (attempt_id) ORDER BY ALL
"""
CLOCK = """
SELECT offset_us, lo_us, hi_us, status, time_zone_us FROM clocks WHERE clock_id LIKE '%gateway%'
"""


Found = tuple[list[Any], list[Any]]


def _other(found: re.Match[str]) -> str:
    return found[0].translate(str.maketrans("0123456789", "9876543210"))


def _longer(found: re.Match[str]) -> str:
    return str(int(found[0]) + 1)


def explained(folder: Path) -> Found:
    """Analyze the logs of a folder; give the verdicts, and the gateway's clock."""
    analyze([str(folder / "logs")], folder / "case")
    with duckdb.connect() as con:
        for name in ("attempts", "verdicts", "clocks"):
            path = folder / f"case/{name}.parquet"
            con.read_parquet(str(path)).create_view(name)
        return con.execute(VERDICTS).fetchall(), con.execute(CLOCK).fetchall()


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Analyze the incident as it is."""
    folder = tmp_path_factory.mktemp("before")
    SKEWED().write(folder)
    return explained(folder)


@pytest.fixture
def incident(tmp_path: Path) -> Path:
    """Write the logs of a skewed gateway; gives that gateway's."""
    SKEWED().write(tmp_path)
    return tmp_path / "logs/gateway/app.log"


@pytest.mark.parametrize("seconds", [-0.4, -5 * 3600.0, 8 * 3600 + 1.3])
def test_a_constant_moves_the_offset_and_no_verdict(
    seconds: float, incident: Path, tmp_path: Path, before: Found
) -> None:
    """The offset and its bounds move by exactly what the clock was moved by."""
    verdicts, (clock,) = before
    assert len(verdicts) > 3
    assert clock[3] == "tied"

    def later(found: re.Match[str]) -> str:
        moved = datetime.fromisoformat(found[0]) + timedelta(seconds=seconds)
        return moved.strftime(FORM)[:-3]

    incident.write_text(STAMP.sub(later, incident.read_text()))
    same, (after,) = explained(tmp_path)
    assert same == verdicts
    by = round(seconds * 1e6)
    assert after[:4] == (*(value + by for value in clock[:3]), "tied")


def test_two_files_of_one_log_are_one_clock(
    incident: Path, tmp_path: Path, before: Found
) -> None:
    """A log that was rotated has the same clock and the same verdicts."""
    lines = incident.read_text().splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if STAMP.search(line)]
    cut = starts[len(starts) // 2]
    incident.with_name("app.log.1").write_text("".join(lines[:cut]))
    incident.write_text("".join(lines[cut:]))
    assert explained(tmp_path) == before


def test_two_stacks_in_one_archive_have_a_clock_each(
    incident: Path, tmp_path: Path, before: Found
) -> None:
    """They have no request in common: each is tied to its own edge, and judged by it."""
    assert incident.exists()
    for file in sorted((tmp_path / "logs").rglob("*.*")):
        text = ID.sub(_other, file.read_text())
        other = tmp_path / "logs/second" / file.relative_to(tmp_path / "logs")
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(re.sub(r"(?<= rt=)\d+", _longer, text))
    verdicts, clocks = explained(tmp_path)
    assert sorted(row[1:] for row in verdicts) == sorted(2 * [r[1:] for r in before[0]])
    assert [clock[3] for clock in clocks] == ["tied", "tied"]
    assert all(clock[1] <= 3_000_000 <= clock[2] for clock in clocks)


def test_what_a_user_says_of_clocks_holds(incident: Path, tmp_path: Path) -> None:
    """Kept as logged though requests contradict it, which is said; and another reference.

    What the reference is said to be ahead moves what is said of the others.
    """
    told = wishes.read(["gateway=+8h", "nginx=+8h"], "nginx")
    analyze([str(tmp_path / "logs")], tmp_path / "case", AnalyzeOptions(clocks=told))
    found = pl.read_parquet(tmp_path / "case/clocks.parquet").rows_by_key(
        "clock_id", named=True, unique=True
    )
    (kept,) = (one for name, one in found.items() if "gateway" in name)
    assert kept["offset_us"] == 0
    assert re.fullmatch(
        r"as told, against \d\d % of what its requests demand", kept["method"]
    )
    (edge,) = (one for one in found.values() if one["status"] == "reference")
    assert edge["method"] == "as told; all times are as this clock shows them"
    assert edge["offset_us"] == 0
    assert incident.exists()
    checks = json.loads((tmp_path / "case/case.json").read_text())["clock_checks"]
    (check,) = (one for one in checks if "gateway" in one["clock_id"])
    assert check["violated_corrected"] == check["violated_as_logged"] > 0
