"""What is wrong with a format file is said all at once, each with file and line."""

from pathlib import Path

import pytest

from faultlayer import formats, wrappers
from faultlayer.errors import DefinitionError

CASES = Path(__file__).parent / "bad_parsers"


def _fault(name: str, folder: str = "quota") -> str:
    text = (CASES / f"{name}.toml").read_text("utf-8")
    with pytest.raises(DefinitionError) as caught:
        formats.read(f"{name}.toml", text, folder)
    return str(caught.value)


@pytest.mark.parametrize("name", sorted(one.stem for one in CASES.glob("*.txt")))
def test_each_fault_is_told(name: str) -> None:
    """The message is the one beside the file, to the letter."""
    expected = (CASES / f"{name}.txt").read_text("utf-8").strip()
    assert _fault(name) == expected


def test_a_format_without_name_or_pattern_is_refused() -> None:
    """An empty file lacks everything, and says so."""
    with pytest.raises(DefinitionError, match=r"lacks name(?s:.)*no \[\[pattern\]\]"):
        formats.read("empty.toml", "", "quota")


def test_all_files_of_a_folder_are_reported(tmp_path: Path) -> None:
    """A second wrong file is not hidden by the first."""
    (tmp_path / "quota").mkdir()
    for name in ("no_toml", "no_sample"):
        text = (CASES / f"{name}.toml").read_text("utf-8")
        (tmp_path / "quota" / f"{name}.toml").write_text(text, "utf-8")
    with pytest.raises(DefinitionError) as caught:
        formats.load(tmp_path)
    assert "parsers/quota/no_sample.toml" in str(caught.value)
    assert "parsers/quota/no_toml.toml" in str(caught.value)


def test_two_formats_of_one_name_are_refused(tmp_path: Path) -> None:
    """A user's file does not silently replace another one."""
    text = """[format]
name = "twin"
layer = "model"
component = "x"
title = "x"

[[pattern]]
regex = '(?P<message>x)'

[[sample]]
line = "x"
"""
    for folder in ("host", "model"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "twin.toml").write_text(text, "utf-8")
    with pytest.raises(DefinitionError, match="two formats are twin"):
        formats.load(tmp_path)


def test_a_wrapper_is_checked_as_well(tmp_path: Path) -> None:
    """Neither pattern nor sample: both are said."""
    (tmp_path / "wrappers").mkdir()
    file = tmp_path / "wrappers" / "bare.toml"
    file.write_text('[wrapper]\nname = "bare"\npartial = "half"\n', "utf-8")
    with pytest.raises(DefinitionError) as caught:
        wrappers.load(tmp_path)
    assert "a wrapper has one of regex, json" in str(caught.value)
    assert "partial must be one of" in str(caught.value)
    assert "no [[sample]]" in str(caught.value)
