"""SQL is read while it is typed: where it ends, and which tables it is about."""

import pytest

from faultlayer import statements

KNOWN = {"verdicts", "attempts", "events", "around"}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("SELECT 1;", True),
        ("SELECT 1", False),
        ("SELECT ';", False),
        ("SELECT ';'", False),
        ("SELECT ';';  ", True),
        ("SELECT 'it''s;", False),
        ("SELECT 1; -- done", True),
        ("SELECT 1 -- not yet;", False),
        ("SELECT 1 /* ; */", False),
        ("SELECT 1 /* open ;", False),
        ("SELECT $$;$$", False),
        ('SELECT "a;', False),
        ("SELECT 1;\nSELECT 2;", True),
        ("SELECT 1;\nSELECT 2", False),
        ("", False),
    ],
)
def test_a_semicolon_ends_it(text: str, *, whole: bool) -> None:
    """One that is a part of a text, a name or a comment does not."""
    assert statements.is_complete(text) is whole


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("SELECT 'a", True),
        ("SELECT 'a'", False),
        ("SELECT 'it''s", True),
        ('SELECT "a', True),
        ("SELECT 1 -- a", True),
        ("SELECT 1 -- a\n", False),
        ("SELECT /* a", True),
        ("SELECT /* a */", False),
        ("", False),
    ],
)
def test_a_cursor_within_a_text(before: str, *, inside: bool) -> None:
    """What stands between quotes, or is a comment, is no SQL."""
    assert statements.is_quoted(before) is inside


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT cause FROM verdicts", {"verdicts": "verdicts"}),
        ("FROM Verdicts AS v WHERE", {"v": "verdicts"}),
        (
            "SELECT FROM verdicts v JOIN attempts AS a USING (attempt_id, request_id)",
            {"v": "verdicts", "a": "attempts"},
        ),
        ("FROM verdicts, attempts a", {"verdicts": "verdicts", "a": "attempts"}),
        ("FROM verdicts LEFT JOIN events ON true", {"verdicts": "verdicts", "events": "events"}),
        ("SELECT attempts FROM incidents", {}),
        ("FROM around('14:05', '1s') x WHERE x.", {"x": "around"}),
        ("SELECT 'FROM events' FROM verdicts -- FROM attempts", {"verdicts": "verdicts"}),
        (
            "FROM (SELECT * FROM events e) s JOIN attempts",
            {"e": "events", "attempts": "attempts"},
        ),
        ("WITH a AS (FROM events) SELECT * FROM a", {"events": "events"}),
        ("SELECT count(*", {}),
    ],
)  # fmt: skip
def test_tables_by_alias(text: str, found: dict[str, str]) -> None:
    """Known tables of every FROM, also of statements that are not finished."""
    assert statements.tables(text, KNOWN) == found


def test_names_of_its_own() -> None:
    """What WITH names can be read from; a column after a comma is no such name."""
    text = "WITH a AS (FROM x), b (c) AS MATERIALIZED (FROM y) SELECT d, e FROM "
    assert statements.own_names(text) == ["a", "b"]


def test_blanks_keep_every_place() -> None:
    """Texts and comments give way to as many blanks; names in quotes stay."""
    text = "SELECT 'a''b', \"c\" -- d\nFROM e"
    assert statements.blanked(text) == 'SELECT       , "c"     \nFROM e'
