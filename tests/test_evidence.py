"""What is taken away, moved or split: verdicts grow weaker or stay, none turns over."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import pytest
from tests.background_traffic import crowd
from tests.scenario_builder import Scenario, scenarios
from tests.scenario_logs import Log

from faultlayer.analyze import analyze

pytestmark = pytest.mark.slow

BUILT = scenarios()
NAMES = ("quota_and_death_at_once", "restart_v0")

#: Cause and strength of the attempts, by request id and number.
Verdicts = dict[tuple[str | None, int], tuple[str, str]]


def verdicts(
    name: str,
    folder: Path,
    change: Callable[[Path], None] | None = None,
    made: Callable[[], Scenario] | None = None,
) -> Verdicts:
    """Analyze a scenario or one `made` of it, with its folder of logs changed before."""
    folder.mkdir()
    (made or BUILT[name])().write(folder)
    if change is not None:
        change(folder / "logs")
    analyze([str(folder / "logs")], folder / "case")
    with duckdb.connect() as con:
        rows = con.execute(
            "SELECT request_id, attempt, cause, strength FROM read_parquet(?)",
            [str(folder / "case" / "verdicts.parquet")],
        ).fetchall()
    return {(rid, number): (cause, strength) for rid, number, cause, strength in rows}


def _without(path: str, logs: Path) -> None:
    (logs / path).unlink(missing_ok=True)


def proven(found: Verdicts) -> dict[str, str]:
    """Give the proven causes of requests that were tried once."""
    return {
        rid: cause
        for (rid, _), (cause, strength) in found.items()
        if rid is not None
        and strength == "proven"
        and sum(other == rid for other, _ in found) == 1
    }


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdicts]:
    """Give the verdicts of the scenarios as they are."""
    folder = tmp_path_factory.mktemp("untouched")
    return {name: verdicts(name, folder / name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_evidence_removed_never_turns_a_proven_cause(
    name: str, untouched: dict[str, Verdicts], tmp_path: Path
) -> None:
    """Without any one file, what is still proven has the cause that it had."""
    full = proven(untouched[name])
    assert full
    for number, path in enumerate(sorted(BUILT[name]().logs)):
        rest = verdicts(name, tmp_path / str(number), partial(_without, path))
        turned = {
            rid: (full[rid], cause)
            for rid, cause in proven(rest).items()
            if full.get(rid, cause) != cause
        }
        assert turned == {}, f"without {path}"


@pytest.mark.parametrize("clock", ["edge/", "gateway/", "engines/"])
def test_a_constant_added_to_a_clock_changes_no_verdict(
    clock: str,
    untouched: dict[str, Verdicts],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """37 minutes more on the clock of one layer's logs."""
    name = NAMES[0]
    shown = Log.at

    def later(log: Log, t: float, form: str) -> str:
        return shown(log, t + 37 * 60 * log.path.startswith(clock), form)

    monkeypatch.setattr(Log, "at", later)
    assert verdicts(name, tmp_path / "after") == untouched[name]


def test_rotation_changes_no_verdict(
    untouched: dict[str, Verdicts], tmp_path: Path
) -> None:
    """Every log in two pieces, cut at a line in its middle."""

    def rotate(logs: Path) -> None:
        for path in [path for path in logs.rglob("*.log") if path.is_file()]:
            lines = path.read_bytes().splitlines(keepends=True)
            old = path.with_name(path.name + ".1")
            old.write_bytes(b"".join(lines[: len(lines) // 2]))
            path.write_bytes(b"".join(lines[len(lines) // 2 :]))

    name = NAMES[1]
    assert verdicts(name, tmp_path / "after", rotate) == untouched[name]


@pytest.mark.parametrize(
    "name",
    [
        *NAMES,
        "plugin_outage_skewed",
        *(
            pytest.param(name, marks=pytest.mark.deep)
            for name in ("quota_tenant", "edge_limits", "two_deaths_two_reasons")
        ),
    ],
)
def test_ten_times_the_traffic_beside_it_changes_no_verdict(
    name: str, untouched: dict[str, Verdicts], tmp_path: Path
) -> None:
    """Other users at another engine, all served: what failed has failed of the same."""

    def crowded() -> Scenario:
        scenario = BUILT[name]()
        crowd(scenario)
        return scenario

    before = untouched.get(name) or verdicts(name, tmp_path / "before")
    assert before
    assert verdicts(name, tmp_path / "after", made=crowded) == before
