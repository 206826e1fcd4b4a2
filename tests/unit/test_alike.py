"""Messages of one shape are read as each of them by itself."""

import random

import polars as pl
import pytest

from faultlayer import alike, pairs

KEYS = (
    *("request_id", "rid", "Request-Id", "user", "status", "prompt", "prompt_tokens"),
    *("text", "a.b", "2x", "reason"),
)
WORDS = ("done", "Request", "request", "id:", "prompt:", "(ok)", "a,b", "-", "body:")
USUAL = (
    "1",
    "ab-2",
    "7.5:",
    "x/y",
    "..",
    "text:",
    "c3a1d2e4-11aa-22bb-33cc-0123456789ab",
)
ODD = ("'q r'", '"q"', "k=v", "[x]", "1;", "\u00e9", "", "a\\b")


def messages(dice: random.Random) -> pl.Series:
    """Make messages of a few shapes; a tenth of the values is odd."""
    shapes = [
        [
            (dice.choice(KEYS), "=")
            if dice.random() < 0.6
            else (dice.choice(WORDS), "")
            for _ in range(dice.randint(1, 6))
        ]
        for _ in range(dice.randint(1, 4))
    ]
    return pl.Series(
        [
            " ".join(
                name + sign + dice.choice(ODD if dice.random() < 0.03 else USUAL)
                if sign
                else name
                for name, sign in dice.choice(shapes)
            )
            for _ in range(2100)
        ]
    )


def test_what_is_read_at_once_is_what_each_message_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Columns and members are the same, for a fifth of the messages by their shape."""
    dice = random.Random(11)
    many = [messages(dice) for _ in range(16)]
    together = [pairs.find(message) for message in many]
    some = pl.int_range(2100, eager=True, dtype=pl.UInt32)
    left = [len(alike.read(one, some, pairs.BEYOND)[1]) for one in many]
    monkeypatch.setattr(alike, "FEWEST", 10**9)
    for message, (columns, members) in zip(many, together, strict=True):
        alone = pairs.find(message)
        assert columns.equals(alone[0])
        assert members.equals(alone[1])
    assert sum(left) < 0.8 * 16 * 2100


def test_a_shape_is_words_and_pairs_with_one_space_between() -> None:
    """What has quotes, brackets, users' texts or ids without a name is no shape."""
    usual = [f"done user=u{n} status=200 user=x" for n in range(3000)]
    odd = [
        *(f"done  user=u{n} status=200" for n in range(1000)),
        *(f"said text: user=u{n}" for n in range(1000)),
        *(f'done user="u{n}"' for n in range(1000)),
    ]
    message = pl.Series([*usual, *odd])
    rows = pl.int_range(len(message), eager=True, dtype=pl.UInt32)
    found, left = alike.read(message, rows, pairs.BEYOND)
    assert left.to_list() == list(range(3000, 6000))
    (one,) = found
    assert [name for name, _ in one.pairs] == ["user", "status"]
    assert one.pairs[0][1].to_list() == [f"u{n}" for n in range(3000)]
