"""Lines are exact to the byte, whatever the bytes are."""

import random
import zlib
from typing import Any

import polars as pl
import pytest

from faultlayer.blocks import Block
from faultlayer.lines import SCHEMA, lines_of

BOM = b"\xef\xbb\xbf"


def rows(data: bytes, offset: int = 0, first_line: int = 1) -> list[dict[str, Any]]:
    """Give the lines of a block as rows, after a check that they make up the block."""
    frame = lines_of(Block(data, offset, first_line, last=True))
    assert frame.schema == pl.Schema(SCHEMA)
    found = frame.to_dicts()
    at = offset
    for number, row in enumerate(found, first_line):
        assert (row["line"], row["byte_offset"]) == (number, at)
        assert row["byte_length"] > 0
        at += row["byte_length"]
    assert at == offset + len(data)
    return found


def texts(data: bytes) -> list[str]:
    """Give the texts."""
    return [row["text"] for row in rows(data)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\n\n\n", ["", "", ""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\nb", ["a", "", "b"]),
        # CRLF everywhere, here and there, doubled, torn
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb\n\r\n", ["a", "b", ""]),
        (b"a\r\r\n\r\r\n", ["a\r", "\r"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"\r", [""]),
        # what other readers take for line ends
        (b"a\rb\nc\rd\n", ["a\rb", "c\rd"]),
        (b"a\x0bb\x0cc\x1cd\n", ["a\x0bb\x0cc\x1cd"]),
        ("a\u0085b\u2028c\u2029d\n".encode(), ["a\u0085b\u2028c\u2029d"]),
        # NUL runs, as a crash leaves them
        (b"\0\0\0\n\0", ["\0\0\0", "\0"]),
        (b"a\0b\r\n", ["a\0b"]),
        ("grüße 你好 🙂\r\nx\n".encode(), ["grüße 你好 🙂", "x"]),
        (b'"a,b"\t,\n#c\n', ['"a,b"\t,', "#c"]),
    ],
)
def test_text(data: bytes, expected: list[str]) -> None:
    """Only a newline ends a line, and one carriage return before it is no text."""
    assert texts(data) == expected


@pytest.mark.parametrize(
    "start",
    [
        b"x^2 is a zlib header to some\n",
        b"x\x01\n",
        b"(\xb5/\xfd\n",
        b"\x1f\x8b\x08\n",
        b"BZh91AY&SY\n",
        b"PK\x03\x04\n",
        b"PAR1\n",
        zlib.compress(b"a\nb\n"),
    ],
)
def test_not_unpacked(start: bytes) -> None:
    """A block that begins like something compressed is text all the same."""
    data = start + b"second\nthird\n"
    assert [row["byte_length"] for row in rows(data)] == [
        len(line) + 1 for line in data.split(b"\n")[:-1]
    ]
    assert texts(data)[-1] == "third"


class TestByteOrderMark:
    """The mark of UTF-8 is bytes, not text, at the start of the stream only."""

    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (BOM + b"a\nb\n", ["a", "b"]),
            (BOM + b"a\r\nb\r\n", ["a", "b"]),
            (BOM, [""]),
            (BOM + b"\n", [""]),
            (BOM + BOM + b"a\n", ["\ufeffa"]),
            (b"a\n" + BOM + b"b\n", ["a", "\ufeffb"]),
            (BOM + b"a\xff\n", ["a?"]),
            (BOM + "连接超时".encode("gb18030") + b"\n", ["连接超时"]),
        ],
    )
    def test_start(self, data: bytes, expected: list[str]) -> None:
        """It is counted and not shown."""
        assert texts(data) == expected

    def test_later_block(self) -> None:
        """At the start of a later block it is a character."""
        assert [row["text"] for row in rows(BOM + b"a\n", 100, 7)] == ["\ufeffa"]


class TestDamaged:
    """Bytes that are not UTF-8 cost neither the file nor an offset."""

    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (
                b"good\nb\xffd\ngood\n",
                [("good", False), ("b?d", True), ("good", False)],
            ),
            (b"\xff\r\n\xc3\xa9\r\n", [("?", True), ("é", False)]),
            # cut within a character, by a line end and by the end of the stream
            (
                b"\xe4\xbd\n\xa0\n\xe4\xbd\xa0",
                [("??", True), ("?", True), ("你", False)],
            ),
            (b"a\n\xf0\x9f\x99", [("a", False), ("???", True)]),
            # surrogates, overlong forms, beyond Unicode
            (
                b"\xed\xa0\x80\n\xc0\x80\n\xf5\x80\x80\x80\n",
                [("???", True), ("??", True), ("????", True)],
            ),
            (b"x^\xff\n?\n", [("x^?", True), ("?", False)]),
            (b"\xff", [("?", True)]),
        ],
    )
    def test_repair(self, data: bytes, expected: list[tuple[str, bool]]) -> None:
        """Each bad byte is one question mark, and only its line is flagged."""
        assert [(row["text"], row["damaged"]) for row in rows(data)] == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_long_line(end: bytes) -> None:
    """A line of 40 MB among short ones is one row."""
    found = rows(b"a\n" + b"x" * 40_000_000 + end)
    assert [row["byte_length"] for row in found] == [2, 40_000_000 + len(end)]
    assert len(found[1]["text"]) == 40_000_000


def test_later_block() -> None:
    """Numbers and offsets go on from the block's own."""
    found = rows(b"a\nb\n", offset=5 * 10**9, first_line=3 * 10**7)
    assert [(row["line"], row["byte_offset"]) for row in found] == [
        (30_000_000, 5_000_000_000),
        (30_000_001, 5_000_000_002),
    ]


@pytest.mark.parametrize("seed", range(40))
def test_mixture(seed: int) -> None:
    """Random mixtures of all that is odd agree with a plain split."""
    rng = random.Random(seed)
    odd = [
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xe4\xbd",
        b"text",
        "é\u2028".encode(),
        b"\n\n",
        BOM,
        b"x^",
    ]
    data = b"".join(rng.choices(odd[: rng.randint(1, len(odd))], k=rng.randint(1, 300)))
    pieces = data.split(b"\n")
    if not pieces[-1]:
        pieces.pop()
    found = rows(data, offset=10)
    assert len(found) == len(pieces)
    for row, piece in zip(found, pieces, strict=True):
        text = piece.removesuffix(b"\r")
        try:
            expected, damaged = text.decode(), False
        except UnicodeDecodeError:
            expected, damaged = row["text"], True
            assert len(row["text"].encode()) == len(text)
        assert (row["text"], row["damaged"]) == (expected, damaged)
