"""Pairs are found by structure: quotes and prompts hold none."""

import json

import polars as pl
import pytest

from faultlayer import pairs


def _find(message: str) -> tuple[dict[str, object], dict[str, object]]:
    columns, rest = pairs.find(pl.Series(["no pairs here", message]))
    known = columns.row(1, named=True) if len(columns) else {}
    return known, json.loads(f"{{{rest[1] or ''}}}")


def test_known_names_are_columns_and_the_rest_is_kept() -> None:
    """Spellings of one thing meet in its column."""
    known, rest = _find("done rid=r-1 user=u-1 Status=200 latency_ms=5 stream=false.")
    assert known == {
        "request_id": "r-1",
        "user_id": "u-1",
        "status": "200",
        "duration_ms": "5",
    }
    assert rest == {"stream": "false"}


@pytest.mark.parametrize(
    "message",
    [
        'x request_id=real text="request_id=fake user=u-9"',
        'x request_id=real "request_id=fake"',
        r'x request_id=real error="a \" request_id=fake"',
        "x request_id=real prompt: please use request_id=fake",
        "x request_id=real prompt=say request_id=fake",
        "x request_id=real then request_id=fake",
    ],
)
def test_only_structure_counts(message: str) -> None:
    """Neither quotes nor a prompt nor a second pair give another id."""
    known, _ = _find(message)
    assert known["request_id"] == "real"
    assert "user_id" not in known


def test_quoted_values_lose_their_quotes() -> None:
    """What is escaped inside them is undone."""
    _, rest = _find(r'x error="a \"b\" c" empty="" n=1')
    assert rest == {"error": 'a "b" c', "empty": "", "n": "1"}
