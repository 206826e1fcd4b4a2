"""The project's own incidents: every verdict, condition and clock is as it was."""

from pathlib import Path

import pytest
from tests.scenario_builder import Scenario, scenarios
from tests.scorer import Score, score

from faultlayer.analyze import analyze

SAMPLES = Path(__file__).resolve().parent.parent / "sample_logs"
BUILT = scenarios()
NAMES = ["engine_death", "model_busy", *BUILT]


def analyzed(name: str, folder: Path) -> Score:
    """Analyze an incident and compare it with its truth."""
    logs = SAMPLES / name
    if name in BUILT:
        logs = folder
        BUILT[name]().write(logs)
    case = folder / "case"
    analyze([str(logs / "logs")], case)
    return score(case, logs / "truth.jsonl")


@pytest.mark.parametrize("name", NAMES)
def test_incident_is_explained(name: str, tmp_path: Path) -> None:
    """Nothing differs from the truth, and above all nothing wrong is `proven`."""
    result = analyzed(name, tmp_path)
    assert result.wrong_proven == []
    assert result.problems == []


def test_every_scenario_has_a_name_of_its_own() -> None:
    """A scenario is called as its function, so that a failure leads to it."""
    assert {name: made().name for name, made in BUILT.items()} == {
        name: name for name in BUILT
    }


def test_building_twice_gives_the_same_logs(tmp_path: Path) -> None:
    """Scenarios are seeded by their name."""
    texts = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        made: Scenario = BUILT["damaged_bytes"]()
        made.write(folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        texts.append([(path.name, path.read_bytes()) for path in files])
    assert texts[0] == texts[1]
