"""Numbers and times read as people say them."""

from datetime import datetime

import pytest

from faultlayer import wording

NOON = datetime(2026, 11, 30, 12, 0, 0, 250_000)  # noqa: DTZ001 - UTC without a zone


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1500, "1.5 kB"),
        (412_300_000, "412 MB"),
        (999_900, "1.0 MB"),
        (1_124_734_199, "1.1 GB"),
        (5 * 10**15, "5,000 TB"),
    ],
)
def test_size(number: int, text: str) -> None:
    """Powers of 1000, two figures at least."""
    assert wording.size(number) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "0 %"),
        (1022, 12431, "8.2 %"),
        (5, 10, "50 %"),
        (1, 10**6, "< 0.1 %"),
        (999_999, 10**6, "> 99.9 %"),
        (10, 10, "100 %"),
    ],
)
def test_percent(part: int, whole: int, text: str) -> None:
    """A rare failure is not 0 %, and almost all is not all."""
    assert wording.percent(part, whole) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (400, "400 us"),
        (4_000, "4 ms"),
        (1_200_000, "1.2 s"),
        (224_000_000, "3 min 44 s"),
        (3600_000_000 + 120_000_000, "1 h 2 min"),
        (31 * 86400_000_000, "31 d"),
    ],
)
def test_duration(us: int, text: str) -> None:
    """Two units at most."""
    assert wording.duration(us) == text
    assert wording.duration(-us) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (None, "±?"),
        (0, "±1 ms"),
        (3_001, "±4 ms"),
        (1_210_000, "±1.3 s"),
        (10**6, "±1 s"),
    ],
)
def test_an_uncertainty_is_never_rounded_down(us: int | None, text: str) -> None:
    """What is claimed is at least what is known."""
    assert wording.error(us) == text


@pytest.mark.parametrize(
    ("offset", "zone", "text"),
    [
        (2_703_000, 0, "+2.703 s"),
        (-1_390_000, 0, "-1.39 s"),
        (400, 0, "in step"),
        (28_800_000_000, 28_800_000_000, "UTC+8"),
        (28_798_610_000, 28_800_000_000, "UTC+8 and -1.39 s"),
        (-12_600_000_000, -12_600_000_000, "UTC-3:30"),
        (-31_536_000_000_000, -31_536_000_000_000, "a year behind"),
        (31_622_400_000_000, 31_622_400_000_000, "a year ahead"),
        (
            -31_507_198_610_000,
            -31_507_200_000_000,
            "a year behind and UTC+8 and +1.39 s",
        ),
        (-86_400_000_000, -86_400_000_000, "-1 d"),
    ],
)
def test_offset(offset: int, zone: int, text: str) -> None:
    """The part that is a time zone is named as one."""
    assert wording.offset(offset, zone) == text


def test_moment() -> None:
    """The date stands there unless it is understood."""
    assert wording.moment(NOON) == "2026-11-30 12:00:00.250"
    assert wording.moment(NOON, NOON.date(), 1) == "12:00:00.2"
    assert wording.moment(None) == "?"


def test_span() -> None:
    """The second date stands there only when it is another day."""
    later = NOON.replace(hour=13)
    assert wording.span(NOON, later) == "2026-11-30 12:00:00 - 13:00:00"
    assert wording.span(NOON, NOON, NOON.date()) == "12:00:00"
    assert wording.span(NOON, None, NOON.date()) == "12:00:00 - ..."
    next_day = later.replace(month=12, day=1)
    assert wording.span(NOON, next_day, NOON.date()).endswith("2026-12-01 13:00:00")
