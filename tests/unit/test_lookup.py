"""A request is found by any spelling of its id, and a beginning must be unique."""

from collections.abc import Callable

import duckdb
import pytest

from faultlayer import database, lookup
from faultlayer.case import Case
from faultlayer.errors import UsageError

Build = Callable[..., Case]
ID = "7f26411e-1f0a-4c6e-9a51-0d2f6a9be001"


@pytest.fixture
def con(build_case: Build) -> duckdb.DuckDBPyConnection:
    """Give a connection to the small case."""
    con = database.connect()
    database.attach_views(con, build_case().path)
    return con


@pytest.mark.parametrize(
    "text",
    [
        ID,
        ID.upper(),
        ID.replace("-", ""),
        f"  '{ID}',",
        f"chatcmpl-{ID}",
        f"{ID}-0a1b2c3d",
        f"chatcmpl-{ID}-0a1b2c3d",
        f"0_cmpl-{ID.replace('-', '')}",
        "7f26411e",
        "7F26411E-1f0a",
        "7f26411e1f0a4c",
        "chatcmpl-7f26411e",
    ],
)
def test_any_spelling_is_found(con: duckdb.DuckDBPyConnection, text: str) -> None:
    """As a log writes it, as a person copies it, or just the beginning."""
    assert lookup.request(con, text) == ID


@pytest.mark.parametrize("text", ["7f26411", "7f26411f", "fine", "%", "________"])
def test_what_is_not_there_is_not_found(
    con: duckdb.DuckDBPyConnection, text: str
) -> None:
    """Too short, another, or a pattern: none of them is a request."""
    assert lookup.request(con, text) is None


def test_an_ambiguous_beginning_is_told(build_case: Build) -> None:
    """With the ids that begin like it."""
    attempts = [
        {"attempt_id": n, "request_id": f"request-{n}", "attempt": 1} for n in (1, 2)
    ]
    con = database.connect()
    database.attach_views(con, build_case(attempts=attempts).path)
    with pytest.raises(UsageError, match="2 requests begin with request-") as caught:
        lookup.request(con, "request-")
    assert caught.value.hint == "give more of the id: request-1, request-2"
    assert lookup.request(con, "request-1") == "request-1"


def test_records_of_all_spellings_are_found(con: duckdb.DuckDBPyConnection) -> None:
    """The engine's record under its own spelling belongs to the request."""
    assert lookup.record_ids(con, ID) == [10**10 + 1, 2 * 10**10 + 1]
