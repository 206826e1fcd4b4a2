"""Durations as Go and Rust print them."""

import polars as pl
import pytest

from faultlayer import durations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.803219ms", 1.803219),
        ("1.204411s", 1204.411),
        ("12.3µs", 0.0123),
        ("12.3μs", 0.0123),
        ("850us", 0.85),
        ("40ns", 0.00004),
        ("1m2.5s", 62_500.0),
        ("12m", 720_000.0),
        ("1h0m3s", 3_603_000.0),
        ("  2s ", 2000.0),
        ("0s", 0.0),
        ("12", None),
        ("", None),
        ("-", None),
        ("1.2.3s", None),
        ("s", None),
        ("5 s", None),
    ],
)
def test_milliseconds(text: str, expected: float | None) -> None:
    """Each unit by itself and together; what is no duration gives nothing."""
    frame = pl.DataFrame({"t": [text, None]})
    assert frame.select(durations.milliseconds(pl.col("t"))).to_series().to_list() == [
        expected,
        None,
    ]


def test_a_number_without_a_unit() -> None:
    """It is of the unit that is told, and what has one keeps it."""
    frame = pl.DataFrame({"t": ["60.012", "12ms", "1m", "-", None]})
    found = frame.select(durations.milliseconds(pl.col("t"), 1000)).to_series()
    assert found.to_list() == [60_012.0, 12.0, 60_000.0, None, None]
