"""What every tracked file must be free of."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.checkout

# Brackets keep the patterns from finding themselves.
MACHINES = re.compile(r"/(?:f[a]rm|w[o]rk|r[o]ot|h[o]me|t[m]p/w)/[a-z.]+")
REGISTRIES = re.compile(r"p[y]pi\.org|pyth[o]nhosted|registry\.np[m]js|f[i]le:///")
UNFINISHED = re.compile(r"\b(?:T[O]DO|F[I]XME|X[X]X|NotImpl[e]mentedError)\b")

LINES = 400
"""A longer module is split."""


@pytest.fixture(scope="module")
def texts(root: Path) -> dict[str, str]:
    """Give the tracked text files by their path."""
    if not (root / ".git").exists():
        pytest.skip("no repository")
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True)
    found = {}
    for name in listed.stdout.decode().split("\0"):
        path = root / name
        if name and path.is_file():
            data = path.read_bytes()
            if b"\0" not in data[:8192]:
                found[name] = data.decode("utf-8", "replace")
    return found


def _hits(texts: dict[str, str], pattern: re.Pattern[str], *tops: str) -> Iterator[str]:
    for name, text in texts.items():
        if not tops or name.startswith(tops):
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{name}:{line}: {match[0]}"


def test_no_paths_of_a_machine(texts: dict[str, str]) -> None:
    """Nothing depends on, or tells of, the machine it was written on."""
    assert list(_hits(texts, MACHINES)) == []


def test_no_package_hosts(texts: dict[str, str]) -> None:
    """Where packages come from is for the machine that installs them to know."""
    assert list(_hits(texts, REGISTRIES)) == []


def test_nothing_is_marked_unfinished(texts: dict[str, str]) -> None:
    """What is not done is an issue, not a comment."""
    assert list(_hits(texts, UNFINISHED, "src/", "parsers/", "queries/")) == []


def test_modules_are_short(texts: dict[str, str]) -> None:
    """A Python file is one thing."""
    long = [
        f"{name}: {lines} lines"
        for name, text in texts.items()
        if name.endswith(".py") and (lines := text.count("\n")) > LINES
    ]
    assert long == []
