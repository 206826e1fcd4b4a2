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
        ("UTC+8h", 28_800_000_000),
        ("+08:00", 28_800_000_000),
        ("-0530", -19_800_000_000),
        ("-8 h", -28_800_000_000),
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


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        ("model", ["logs/model"]),
        ("model/*", ["logs/model"]),
        ("*/model/*", ["logs/model"]),
        ("0.log", ["logs/model"]),
        ("logs", ["logs/model", "logs/nginx"]),
        ("*", ["logs/model", "logs/nginx"]),
    ],
)
def test_a_glob_may_begin_at_any_folder(glob: str, fits: list[str]) -> None:
    """Nobody knows by heart what the archive was unpacked into."""
    assert sorted(wishes.read([f"{glob}=+8h"], None).told(NAMES)) == fits


def test_a_program_is_part_of_a_name() -> None:
    """Where several log in one folder its name has both, and either will do."""
    names = {"logs/edge:nginx": ["logs/edge/access.log"], "logs/edge:haproxy": []}
    assert wishes.read([], "nginx").chosen(names) == "logs/edge:nginx"
    assert sorted(wishes.read(["edge=+1s"], None).told(names)) == sorted(names)


def test_half_a_name_fits_nothing() -> None:
    """`mod` is not `model`."""
    with pytest.raises(UsageError):
        wishes.read(["mod=+8h"], None).told(NAMES)


def test_one_reference_of_several_has_to_be_named() -> None:
    """Of those that fit the one that is called so; else the user decides."""
    names = NAMES | {"logs/nginx (local time)": ["logs/nginx/error.log"]}
    assert wishes.read([], "nginx").chosen(names) == "logs/nginx"
    with pytest.raises(UsageError) as caught:
        wishes.read([], "*nginx*").chosen(names)
    assert "logs/nginx, logs/nginx (local time)" in (caught.value.hint or "")
