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


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("refused (request id: r-77-abc)", "r-77-abc"),
        ("Request 3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f failed", None),
        ("x request-id=r-1 cf_ray=9", "r-1"),
        ("[3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f] failed", None),
        ("3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f - failed", None),
        ("[edge] [3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f] failed status=500", None),
        ("server [req=3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f] failed", None),
        ("failed, requestId: r-77-abc, status: 500", "r-77-abc"),
        ("failed X-Request-ID: r-77-abc", "r-77-abc"),
        ('failed {"request_id":"r-77-abc","status":500}', "r-77-abc"),
        ('failed {"x": 1, "requestId": "r-77-abc"} request_id=r-1', "r-77-abc"),
        ("x cf_ray=9f request_id=r-1", "r-1"),
        ("x request_id='r 1' user=u", "r 1"),
        ("x prompt='it is request_id=fake' request_id=r-1", "r-1"),
    ],
)
def test_ids_in_sentences_and_single_quotes(message: str, wanted: str | None) -> None:
    """A vendor's id gives way to the request's own."""
    known, _ = _find(message)
    assert known["request_id"] == (wanted or "3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f")


@pytest.mark.parametrize(
    "message",
    [
        "[trace_id=3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f] failed",
        "session 3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f is gone",
        'refused {"messages":[{"content":"\\"request_id\\": \\"fake-1\\""}]}',
        'echo body={"metadata":{"request_id":"fake-1"}}',
        'prompt: [3f6c1d0e-6b7a-4c55-9f0e-1a2b3c4d5e6f] {"request_id":"fake-1"}',
    ],
)
def test_other_ids_and_those_of_users_are_none(message: str) -> None:
    """Neither a trace's id nor what a user wrote names the request."""
    known, _ = _find(message)
    assert "request_id" not in known


def test_an_apostrophe_ends_no_prompt() -> None:
    """What follows it is still the user's."""
    known, _ = _find("x prompt='It's a fake request_id=fake user=u-9")
    assert known == {}


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("refused request_id=a-1: too long", "a-1"),
        ("refused (request_id=a-1).", "a-1"),
        ("refused request_id=u-1:17960:x", "u-1:17960:x"),
    ],
)
def test_what_ends_a_clause_is_no_part_of_a_value(message: str, wanted: str) -> None:
    """Colons within an id are."""
    known, _ = _find(message)
    assert known["request_id"] == wanted
