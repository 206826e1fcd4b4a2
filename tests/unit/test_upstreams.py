"""Upstream times, peers and answers say how far an exchange came."""

import polars as pl
import pytest

from faultlayer import upstreams


@pytest.mark.parametrize(
    ("uct", "uht", "urt", "expected"),
    [
        ("0.001", "0.006", "0.29", (1.0, 6.0, 290.0, 1, True)),
        ("-", "-", "-", (None, None, None, 0, False)),
        ("", "", "", (None, None, None, 0, False)),
        ("-", "-", "0.000", (None, None, 0.0, 1, False)),
        ("0.001", "-", "2.199", (1.0, None, 2199.0, 1, True)),
        ("-, 0.001", "-, 0.002", "0.000, 0.003", (1.0, 2.0, 3.0, 2, True)),
        ("-, -", "-, -", "0.000, 0.000", (None, None, 0.0, 2, False)),
        ("0.001, -", "0.002, -", "0.003, 0.0", (None, None, 0.0, 2, True)),
        ("0.001 : ", "0.002 : ", "0.003 : ", (1.0, 2.0, 3.0, 1, True)),
    ],
)
def test_upstream_lists(
    uct: str, uht: str, urt: str, expected: tuple[object, ...]
) -> None:
    """The last item counts; a number in uct or uht says that somebody was reached."""
    lists = {
        "connect": pl.Series(["0.5", uct]),
        "header": pl.Series(["0.5", uht]),
        "response": pl.Series(["0.5", urt]),
    }
    assert upstreams.read(lists).row(1)[:5] == expected


def test_a_response_time_alone_says_little() -> None:
    """A number there also stands for a refused connection: unknown, not true."""
    found = upstreams.read({"response": pl.Series(["0.1", "-"])})
    assert found.get_column("forwarded").to_list() == [None, False]


@pytest.mark.parametrize(
    ("header", "peer", "expected"),
    [
        ("12", "10.1.0.9:8080", (12.0, 1, True)),
        ("-", "10.1.0.9:8080", (None, 1, None)),
        ("-", "-", (None, 0, False)),
    ],
)
def test_a_peer_that_gave_no_header_may_not_have_been_reached(
    header: str, peer: str, expected: tuple[object, ...]
) -> None:
    """Without connect times a peer alone says who was tried; times are as told."""
    lists = {"header": pl.Series(["5", header]), "peer": pl.Series(["h:1", peer])}
    found = upstreams.read(lists, 1)
    assert found.columns == ["upstream_header_ms", "upstream_hops", "forwarded"]
    assert found.row(1) == expected
    # Where the log has them, a connect that is missing says that it failed.
    lists["connect"] = pl.Series(["1", "-"])
    refused = upstreams.read(lists, 1).get_column("forwarded")[1]
    assert refused is (expected[0] is not None)


@pytest.mark.parametrize(
    ("answered", "forwarded"),
    [
        ("8", True),
        ("0, 0, 17", True),
        ("200", True),
        ("429", True),
        ("0", None),
        ("502, 504", None),
        ("-", None),
    ],
)
def test_an_answer_says_that_somebody_was_reached(
    answered: str, forwarded: object
) -> None:
    """Lengths and statuses count, but for those that a proxy writes itself."""
    lists = {
        "response": pl.Series(["0.1", "0.2"]),
        "peer": pl.Series(["h:1", "h:1"]),
        "answered": pl.Series(["7", answered]),
    }
    found = upstreams.read(lists)
    assert found.row(1) == (200.0, 1, forwarded)
    only = upstreams.read({"answered": lists["answered"]})
    assert only.get_column("forwarded").to_list() == [
        True,
        False if answered == "-" else forwarded,
    ]


def test_who_was_not_asked_did_not_answer() -> None:
    """A status is the proxy's own where no peer was tried."""
    lists = {"peer": pl.Series(["h:1", "-"]), "answered": pl.Series(["429", "429"])}
    assert upstreams.read(lists).get_column("forwarded").to_list() == [True, False]


@pytest.mark.parametrize(
    ("response", "status", "expected"),
    [
        ("0.006", "200", (1, True)),
        ("0.000", "502", (1, None)),
        ("0.000, 0.001", "502, 200", (2, True)),
        ("0.000, 0.001", "502, 504", (2, None)),
        ("-", "-", (0, False)),
        (None, None, (None, None)),
    ],
)
def test_times_that_a_record_lacks_say_nothing(
    response: str | None, status: str | None, expected: tuple[object, ...]
) -> None:
    """A JSON log without connect and header times is as one that has no such field."""
    lists = {
        "connect": pl.Series(["0.1", None], dtype=pl.String),
        "header": pl.Series(["0.1", None], dtype=pl.String),
        "response": pl.Series(["0.1", response], dtype=pl.String),
        "answered": pl.Series(["200", status], dtype=pl.String),
    }
    found = upstreams.read(lists)
    assert found.select("upstream_hops", "forwarded").row(1) == expected
