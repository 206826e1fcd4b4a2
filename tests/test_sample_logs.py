"""The sample incidents are what their generator makes, and their truth fits the logs."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).resolve().parent.parent / "sample_logs"
INCIDENTS = ("engine_death", "model_busy")
LIMIT_BYTES = 600_000


def content(path: Path) -> bytes:
    """Give what a file holds; two zlibs may pack the same content differently."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def truth(incident: str) -> list[dict[str, Any]]:
    """Give the lines of a truth file."""
    lines = (SAMPLES / incident / "truth.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the incidents afresh in another folder."""
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run(
        [sys.executable, "-B", str(SAMPLES / "make.py"), "-o", str(folder)], check=True
    )
    return folder


@pytest.mark.parametrize("incident", INCIDENTS)
def test_regenerating_gives_the_same_bytes(incident: str, made: Path) -> None:
    """What is committed is what the program makes, file by file."""
    here = {
        path.relative_to(SAMPLES): content(path)
        for path in (SAMPLES / incident).rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    there = {
        path.relative_to(made): content(path)
        for path in (made / incident).rglob("*")
        if path.is_file()
    }
    assert sorted(here) == sorted(there)
    assert [path for path in here if here[path] != there[path]] == []


@pytest.mark.parametrize("incident", INCIDENTS)
def test_incident_is_small(incident: str) -> None:
    """A checkout stays light."""
    files = [path for path in (SAMPLES / incident).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LIMIT_BYTES


@pytest.mark.parametrize("incident", INCIDENTS)
def test_truth_names_what_is_in_the_logs(incident: str) -> None:
    """Every request id, and every line that a condition cites, is there."""
    folder = SAMPLES / incident
    logs = {
        path.relative_to(folder).as_posix(): content(path).decode()
        for path in (folder / "logs").rglob("*")
        if path.is_file()
    }
    blob = "\n".join(logs.values())
    lines = truth(incident)
    missing = [
        line["request_id"] for line in lines if line.get("request_id", "") not in blob
    ]
    cited = [
        reference.rpartition(":")
        for line in lines
        if "condition" in line
        for reference in [line["root"], *line.get("also", [])]
    ]
    empty = [
        (path, number)
        for path, _, number in cited
        if not logs[path].split("\n")[int(number) - 1].strip()
    ]
    assert missing == []
    assert cited
    assert empty == []


@pytest.mark.parametrize("incident", INCIDENTS)
def test_truth_covers_every_exchange(incident: str) -> None:
    """There is one attempt in the truth for each line of the access log."""
    access = (SAMPLES / incident / "logs" / "nginx").glob("harness_access.log*")
    exchanges = sum(content(path).count(b"\n") for path in access)
    attempts = [line for line in truth(incident) if "request_id" in line]
    assert len(attempts) == exchanges
