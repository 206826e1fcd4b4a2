"""Fields beside a message are read like pairs within it, users' words are not."""

import polars as pl

from faultlayer import structured


def test_fields_stand_behind_the_message_in_order() -> None:
    """Values with spaces are quoted, what is null is left out."""
    fields = pl.DataFrame({"b": ["x y", None], "a": ["1", None]})
    tail, spread = structured.tail(fields, ["b", "a"])
    assert tail.to_list() == ['a=1 b="x y"', None]
    assert spread.to_list() == [None, None]


def test_what_a_user_said_is_no_part_of_the_message() -> None:
    """Neither beside the message nor within a nested field."""
    fields = pl.DataFrame(
        {"prompt": ["status=500"], "ctx": ['{"text":"a=1","user":"u-1","n":{"k":2}}']}
    )
    tail, spread = structured.tail(fields, ["prompt", "ctx"])
    assert tail.to_list() == ["user=u-1 k=2"]
    assert spread.to_list() == ["user=u-1 k=2"]


def test_an_error_that_an_upstream_answered_is_no_users_word() -> None:
    """A body that is no error is the user's, and so is a text that only looks like one."""
    bodies = ['{"error":{"message":"a b","code":9}}', '{"model":"q"}', "error: x"]
    tail, spread = structured.tail(pl.DataFrame({"body": bodies}), ["body"])
    assert tail.to_list() == ['message="a b" code=9', None, None]
    assert spread.to_list() == tail.to_list()


def test_the_tail_ends_the_first_line() -> None:
    """A traceback stays behind it."""
    message = pl.Series(["boom \nTraceback", "plain"])
    found = structured.with_tail(message, pl.Series(["a=1", None]))
    assert found.to_list() == ["boom a=1\nTraceback", "plain"]


def test_the_requests_own_id_comes_before_a_vendors() -> None:
    """Names differ in case and dashes; a field that is empty gives way."""
    fields = pl.DataFrame(
        {"cf-ray": ["ray", "ray"], "X-Request-ID": ["own", None], "userId": ["u", "v"]}
    )
    known = structured.known(fields, fields.columns)
    assert known["request_id"].to_list() == ["own", "ray"]
    assert known["user_id"].to_list() == ["u", "v"]
