"""Ids, ratios and attributes come to one form."""

import json

import polars as pl
import pytest

from faultlayer import normalise

UUID = "7f26411e-c605-c356-e7f2-e9477ad6dc2a"


def _ids(logged: str | None, *, engine: bool = False) -> tuple[object, ...]:
    # Beside a plain id: the common path and the rare one meet in each block.
    both = pl.Series(["plain-token-of-some-length", logged])
    first, second = normalise.ids(both, engine=engine).rows()
    assert first[0] == "plain-token-of-some-length"
    return second


@pytest.mark.parametrize(
    ("logged", "canonical"),
    [
        (UUID.upper(), UUID),
        (UUID.replace("-", ""), UUID),
        (f'"{UUID}"', UUID),
        (f"00-{UUID.replace('-', '')}-00f067aa0ba902b7-01", UUID),
        ("req-ABC", "req-ABC"),
        ("01JF907199EBC8722854644751", "01JF907199EBC8722854644751"),
    ],
)
def test_an_id_has_one_spelling(logged: str, canonical: str) -> None:
    """Only hex loses its case; what was logged is kept beside it."""
    found, raw, parts = _ids(logged)
    assert found == canonical
    assert raw == (None if logged == canonical else logged)
    assert parts is None


@pytest.mark.parametrize(
    "nothing",
    [
        "-",
        "",
        " ",
        "x",
        "null",
        "None",
        "UNDEFINED",
        "00000000-0000-0000-0000-000000000000",
        "0" * 32,
        "$request_id",
        "${id}",
        "%REQ(X-REQUEST-ID)%",
        "invalid-request-id",
    ],
)
def test_what_stands_for_no_id_is_none(nothing: str) -> None:
    """It is kept as logged, and joins nothing."""
    assert _ids(nothing) == (None, nothing, None)
    assert _ids(None) == (None, None, None)


def test_joined_ids_are_parts() -> None:
    """Nginx joins the headers of a name: the first is the request's."""
    assert _ids(f"{UUID.upper()}, dup-b,-, dup-b") == (
        UUID,
        f"{UUID.upper()}, dup-b,-, dup-b",
        [UUID, "dup-b"],
    )


@pytest.mark.parametrize(
    ("logged", "canonical"),
    [
        (f"chatcmpl-{UUID.replace('-', '')}", UUID),
        ("0_cmpl-r-1", "r-1"),
        ("chatcmpl-chatcmpl-r", "chatcmpl-r"),
        ("r-1-5be90c17", "r-1-5be90c17"),
    ],
)
def test_an_engine_adds_one_prefix(logged: str, canonical: str) -> None:
    """One is taken off; the engine's suffix is left to who knows the other ids."""
    assert _ids(logged, engine=True)[0] == canonical


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("0.99", 0.99),
        ("99%", 0.99),
        ("99.5", 0.995),
        ("1.2", 1.2),
        ("null", None),
        ("nan", None),
        ("0.12%", 0.0012),
    ],
)
def test_a_used_ratio_is_a_fraction(text: str, ratio: float | None) -> None:
    """Percent signs and numbers that can only be percent count as such."""
    found = pl.DataFrame({"r": [text]}).select(normalise.ratio(pl.col("r")))
    assert found.item() == ratio


def test_attributes_are_json_whatever_they_hold() -> None:
    """Quotes, backslashes and control characters survive; null is left out."""
    text = 'a "q" \\ \n\x01 中'
    columns = [pl.Series("b", [text, None]), pl.Series('k"', ["1", None])]
    found = normalise.attributes([*columns, pl.Series("n", [1.5, None])], 2)
    assert json.loads(found[0]) == {"b": text, 'k"': "1", "n": 1.5}
    assert found[1] is None


def test_hex_is_undone_as_bytes() -> None:
    """Bytes first and UTF-8 then; what is no hex stays."""
    logged = [r"x\x22\xE4\xB8\xAD\xGG", "plain", r"\x5Cx41\x\x7f\x0a\x2", r"\xE4\x22"]
    fields = pl.DataFrame({"a": logged, "n": range(4)})
    found = normalise.undo_hex(pl.Series(logged), fields)
    assert found.get_column("a").to_list() == [
        'x"中\\xGG',
        "plain",
        "\\x41\\x\x7f\n\\x2",
        '\ufffd"',
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"level": "user"}', {"level": "user"}),
        ("[1, 2]", [1, 2]),
        ("7e3", 7000.0),
        ("null", None),
        ("input too long", "input too long"),
        ("7 of 8", "7 of 8"),
        ('say "no"', 'say "no"'),
    ],
)
def test_what_is_json_already_stays_so_and_text_becomes_it(
    value: str, expected: object
) -> None:
    """A field may hold an object in one record and a text in the next."""
    found = normalise.attributes([pl.Series("error", [value])], 1, ("error",))
    assert json.loads(found[0]) == {"error": expected}


def test_ids_of_engines_are_read_at_once_as_one_by_one() -> None:
    """Most are plain behind their prefix; the others are looked at as they were logged."""
    plain = (
        UUID,
        UUID.upper(),
        "a",
        "req-1",
        "00000000-0000",
        '"x"',
        "A,b",
        "\u00e9",
        "",
    )
    before = (
        "",
        "chatcmpl-",
        "0_cmpl-",
        "chat-chat-",
        " chatcmpl-",
        '"resp-',
        "x-cmpl-",
    )
    logged = pl.Series([one + id_ for one in before for id_ in plain] + [None])
    found = normalise.ids(logged, engine=True)
    alone = logged.to_frame("raw").select(
        normalise.canonical(pl.col("raw"), engine=True).alias("one")
    )
    whole = ~logged.str.contains(",").fill_null(value=False)
    ids = found.get_column("request_id")
    assert ids.filter(whole).to_list() == alone.filter(whole).to_series().to_list()
    kept = pl.coalesce("raw_request_id", "request_id")
    assert found.select(kept).to_series().to_list() == logged.to_list()
