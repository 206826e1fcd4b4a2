"""What is in the wheel and the sdist is what is in the folders."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.checkout

PACKED = {
    "src/faultlayer": "faultlayer",
    "parsers": "faultlayer/_builtin/parsers",
    "queries": "faultlayer/_builtin/queries",
}


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both distributions into a folder of their own."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return folder


def _files(folder: Path) -> list[str]:
    """List the files of a folder as posix paths, without what Python leaves there."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def test_wheel_holds_the_engine_and_the_definitions(root: Path, built: Path) -> None:
    """The wheel has the code, parsers/ and queries/, and nothing else."""
    (wheel,) = built.glob("*.whl")
    expected = sorted(
        f"{target}/{name}"
        for folder, target in PACKED.items()
        for name in _files(root / folder)
    )
    names = zipfile.ZipFile(wheel).namelist()
    actual = sorted(name for name in names if ".dist-info/" not in name)
    assert actual == expected
    assert "faultlayer/py.typed" in actual
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_sdist_holds_what_the_tests_need(root: Path, built: Path) -> None:
    """From the sdist one can build, test and run the samples."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = ("src", "parsers", "queries", "tests", "sample_logs")
    wanted = {
        f"{folder}/{name}" for folder in folders for name in _files(root / folder)
    }
    wanted |= {"LICENSE", "Makefile", "README.md", "pyproject.toml", ".ci/run"}
    assert sorted(wanted - names) == []


def test_an_editable_install_refuses_python_among_the_definitions(
    root: Path, tmp_path: Path
) -> None:
    """The build itself keeps parsers/ and queries/ free of code."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((root / name).read_bytes())
    package = tmp_path / "src" / "faultlayer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""Empty."""\n__version__ = "0"\n', "utf-8")
    for folder in ("parsers", "queries"):
        (tmp_path / folder).mkdir()
    command = [
        sys.executable,
        "-c",
        "from hatchling.build import build_editable; build_editable('dist')",
    ]
    clean = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert clean.returncode == 0, clean.stderr
    (tmp_path / "parsers" / "sly.py").touch()
    spoiled = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert spoiled.returncode != 0
    assert b"Dev mode installations are unsupported" in spoiled.stderr
