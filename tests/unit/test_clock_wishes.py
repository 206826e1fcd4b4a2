"""Offsets and references that a user gives on the command line."""

import pytest

from faultlayer.clocks import wishes
from faultlayer.errors import UsageError

NAMES = {"logs/nginx": ["logs/nginx/access.log"], "logs/model": ["logs/model/0.log"]}


@pytest.mark.parametrize(
    ("text", "offset_us"),
    [
        ("+8h", 28_800_000_000),
        ("UTC+8", 28_800_000_000),
        ("UTC+05:30", 19_800_000_000),
        ("-1.3s", -1_300_000),
        ("+1h30m", 5_400_000_000),
        ("+2m250ms", 120_250_000),
        ("keep", 0),
    ],
)
def test_offsets_are_read_as_people_write_them(text: str, offset_us: int) -> None:
    """Hours, minutes, seconds, zones, and no offset at all."""
    read = wishes.read([f"*/model/*={text}"], None)
    (line,) = read.told(NAMES)["logs/model"].segments
    assert line.offset == offset_us
    assert line.low < offset_us < line.high


@pytest.mark.parametrize("text", ["model", "=+8h", "model=8h", "model=+", "model=+8q"])
def test_what_is_no_offset_is_refused(text: str) -> None:
    """Each with an example of what would do."""
    with pytest.raises(UsageError) as caught:
        wishes.read([text], None)
    assert "--clock" in (caught.value.hint or "")


def test_a_glob_that_fits_no_clock_names_the_clocks() -> None:
    """The names to choose from stand in the hint."""
    with pytest.raises(UsageError) as caught:
        wishes.read(["quota=+8h"], None).told(NAMES)
    assert "logs/model, logs/nginx" in (caught.value.hint or "")
    with pytest.raises(UsageError):
        wishes.read([], "quota").chosen(NAMES)


def test_a_reference_is_found_by_name_or_path() -> None:
    """As the summary prints it, or as the file is called."""
    assert wishes.read([], "logs/model").chosen(NAMES) == "logs/model"
    assert wishes.read([], "*access.log").chosen(NAMES) == "logs/nginx"
    assert wishes.read([], None).chosen(NAMES) is None
