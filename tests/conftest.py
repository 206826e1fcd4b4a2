"""What all tests share: a zone that is not UTC, hypothesis profiles, the checkout."""

import gc
import os
import time
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]


def _leave_utc() -> None:
    """Make a naive time that is taken for UTC wrong by 5:45 hours."""
    os.environ["TZ"] = "Asia/Kathmandu"
    time.tzset()
    if time.timezone == 0:  # no zone database on this machine
        os.environ["TZ"] = "<+0545>-5:45"
        time.tzset()


_leave_utc()
gc.set_threshold(50_000)  # as for the command line; thousands of tests are held

# `derandomize`: a red run is red again. `thorough` is for a search by hand.
settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that rewrite what is generated."""
    parser.addoption(
        "--write-docs",
        action="store_true",
        help="write the generated pages of docs/ instead of comparing them",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the sources where only the installed package is left."""
    if (ROOT / "src").is_dir():
        return
    skip = pytest.mark.skip(reason="the sources are not beside the tests")
    for item in items:
        if item.get_closest_marker("checkout"):
            item.add_marker(skip)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their length: they may hold a clock, or steer the terminal."""
    return f"{argname}_{len(val)}_bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def root() -> Path:
    """Give the folder that holds tests/: a checkout, or an unpacked sdist."""
    return ROOT
