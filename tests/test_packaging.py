"""The package finds its definitions, and names its version, wherever it runs from."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

import faultlayer
from faultlayer import assets
from faultlayer.errors import AssetError

Kind = Literal["parsers", "queries"]
KINDS: tuple[Kind, ...] = ("parsers", "queries")


def _give_no_package(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(assets, "files", lambda _: folder)


@pytest.mark.checkout
@pytest.mark.parametrize("kind", KINDS)
def test_a_checkout_uses_its_own_folders(root: Path, kind: Kind) -> None:
    """Edits to parsers/ and queries/ are seen without installing anew."""
    assert assets.builtin(kind) == root / kind


@pytest.mark.parametrize("kind", KINDS)
def test_definitions_are_found(root: Path, kind: Kind) -> None:
    """An installed wheel has the definitions inside the package."""
    found = Path(str(assets.builtin(kind)))
    assert any(found.iterdir())
    if not (root / "src").is_dir():
        assert found.parts[-3:] == ("faultlayer", "_builtin", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_packaged_definitions_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    """What was packed with the code is what the code uses."""
    (tmp_path / "_builtin" / kind).mkdir(parents=True)
    _give_no_package(monkeypatch, tmp_path)
    assert assets.builtin(kind) == tmp_path / "_builtin" / kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_beside_a_project_file_is_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    """A folder named parsers/ counts only where the project file stands beside it."""
    (tmp_path / kind).mkdir()
    _give_no_package(monkeypatch, tmp_path / "nowhere")
    monkeypatch.setattr(assets, "_CHECKOUT", tmp_path)
    with pytest.raises(AssetError, match=f"the built-in {kind} are missing"):
        assets.builtin(kind)
    (tmp_path / "pyproject.toml").touch()
    assert assets.builtin(kind) == tmp_path / kind


def test_version_is_that_of_the_distribution() -> None:
    """`faultlayer.__version__` is what pip shows."""
    try:
        shown = importlib.metadata.version("faultlayer")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("a bare checkout has no distribution")
    assert faultlayer.__version__ == shown


def test_the_module_runs() -> None:
    """`python -m faultlayer` is the command."""
    shown = subprocess.run(
        [sys.executable, "-m", "faultlayer", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert faultlayer.__version__ in shown.stdout


@pytest.mark.checkout
@pytest.mark.parametrize("lock", ["", "-build", "-dev"])
def test_locks_hold_hashes_and_no_addresses(root: Path, lock: str) -> None:
    """Every locked package is pinned with hashes; where it comes from is not said."""
    text = (root / f"requirements{lock}.lock").read_text("utf-8")
    entries = re.split(r"\n(?=\w)", text.strip())
    bare = [entry for entry in entries if "==" not in entry or "--hash=" not in entry]
    assert bare == []
    assert "://" not in text


@pytest.mark.checkout
def test_locks_agree(root: Path) -> None:
    """The runtime and build locks pin what the dev lock pins."""

    def pins(lock: str) -> set[str]:
        text = (root / f"requirements{lock}.lock").read_text("utf-8")
        return {line.rstrip(" \\") for line in text.splitlines() if "==" in line}

    assert (pins("") | pins("-build")) - pins("-dev") == set()
