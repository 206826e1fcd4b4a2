"""The project's own incidents: every verdict, condition and clock is as it was."""

from functools import cache
from pathlib import Path

import pytest
from tests.scenario_builder import Scenario, scenarios
from tests.scorer import Score, score

from faultlayer.analyze import analyze

SAMPLES = Path(__file__).resolve().parent.parent / "sample_logs"
BUILT = scenarios()
NAMES = ["engine_death", "model_busy", *BUILT]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder for the logs and cases of this module."""
    return tmp_path_factory.mktemp("scenarios")


@cache
def analyzed(name: str, folder: Path) -> Score:
    """Analyze an incident once and compare it with its truth."""
    logs = SAMPLES / name
    if name in BUILT:
        logs = folder / name
        logs.mkdir()
        BUILT[name]().write(logs)
    case = folder / f"{name}.case"
    analyze([str(logs / "logs")], case)
    return score(case, logs / "truth.jsonl")


@pytest.mark.parametrize("name", NAMES)
def test_incident_is_explained(name: str, folder: Path) -> None:
    """Nothing differs from the truth."""
    assert analyzed(name, folder).problems == []


@pytest.mark.parametrize("name", NAMES)
def test_no_wrong_verdict_is_proven(name: str, folder: Path) -> None:
    """`proven` is never wrong."""
    assert analyzed(name, folder).wrong_proven == []


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
