"""Tells the encoding of a text by its bytes, and turns UTF-16 into UTF-8 on the way."""

import codecs
from collections.abc import Iterator
from functools import cache
from typing import Final

from faultlayer.stored import Piece

UTF8: Final = "utf-8"
#: Chinese, with GBK and GB2312 in it. It has ASCII where UTF-8 has it, line ends above all.
GB18030: Final = "gb18030"
_UTF16: Final = ("utf-16-le", "utf-16-be")

_HEAD: Final = 4096
_FEW: Final = 16  # bytes that are too few to tell
_SAMPLE: Final = 1 << 16
_BOTH: Final = 0.3  # share of NULs on one side that UTF-16 has at least
_NONE: Final = 0.02  # and at most on the other side
_PLAIN: Final = 0.1  # share of ASCII that a text has at least
_COMMON_SHARE: Final = 0.7
_LEAST: Final = 4  # characters that speak for a file
_LEAST_IN_LINE: Final = 2  # and for a line in a file of another encoding
_LOST: Final = "\N{REPLACEMENT CHARACTER}"


class Text:
    """The pieces of a text as UTF-8, or as they are; `encoding` as far as it is known.

    `problems` gets what does not decode.
    """

    def __init__(self, pieces: Iterator[Piece], problems: list[str]) -> None:
        self._pieces = pieces
        self._problems = problems
        self.encoding = UTF8

    def __iter__(self) -> Iterator[Piece]:
        held: list[Piece] = []
        size = 0
        for piece in self._pieces:
            held.append(piece)
            size += len(piece or b"")
            if piece is None or size >= _HEAD:
                break
        utf16 = _utf16(b"".join(piece or b"" for piece in held))
        if utf16:
            self.encoding = utf16
            yield from self._transcoded(held)
            return
        ascii_only = True
        for piece in self._chained(held):
            # The first piece with other characters decides, wherever blocks end.
            if ascii_only and piece is not None and not piece.isascii():
                ascii_only = False
                self.encoding = guess(piece)
            yield piece

    def _chained(self, held: list[Piece]) -> Iterator[Piece]:
        yield from held
        yield from self._pieces

    def _transcoded(self, held: list[Piece]) -> Iterator[Piece]:
        decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        lost = 0
        for piece in self._chained(held):
            text = decoder.decode(piece or b"", piece is None)
            lost += text.count(_LOST)
            if text:
                yield text.encode()
            if piece is None:
                decoder.reset()
                yield None
        text = decoder.decode(b"", True)
        lost += text.count(_LOST)
        if text:
            yield text.encode()
        if lost:
            self._problems.append(
                f"{lost} characters are no {self.encoding}: shown as {_LOST}"
            )


def guess(sample: bytes) -> str:
    """Tell UTF-8 from GB18030 by bytes that are not all ASCII."""
    sample = sample[:_SAMPLE] if not sample[:_SAMPLE].isascii() else _first_odd(sample)
    text = sample.decode(UTF8, "replace")
    bad = text.count(_LOST)
    good = sum(char > "\x7f" for char in text) - bad
    # A character that the sample cuts off counts as bad.
    return GB18030 if good < bad and _is_chinese(sample, _LEAST) else UTF8


def in_line(line: bytes) -> str | None:
    """Decode a line that is no UTF-8 when it is plainly Chinese."""
    return decoded(line) if _is_chinese(line, _LEAST_IN_LINE) else None


def decoded(line: bytes) -> str | None:
    """Decode GB18030; None where there are bytes that are none."""
    try:
        return line.decode(GB18030)
    except UnicodeDecodeError:
        return None


def _utf16(head: bytes) -> str | None:
    """Tell UTF-16 by its mark or by the NULs that ASCII has in it."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        marked = _UTF16[head.startswith(codecs.BOM_UTF16_BE)]
        text = head.decode(marked, "replace")
        # Damage may look like the mark; but no log is without digits and spaces.
        plain = sum(char < "\x7f" for char in text)
        return marked if plain >= _PLAIN * (len(text) - 1) else None
    pairs = len(head) // 2
    if len(head) < _FEW or b"\x00" not in head:
        return None
    first = head[: 2 * pairs : 2].count(0) / pairs
    second = head[1 : 2 * pairs : 2].count(0) / pairs
    if second >= _BOTH and first <= _NONE:
        return _UTF16[0]
    return _UTF16[1] if first >= _BOTH and second <= _NONE else None


def _first_odd(data: bytes) -> bytes:
    """Give a sample from the first part that is not ASCII."""
    for at in range(0, len(data), _SAMPLE):
        part = data[at : at + _SAMPLE]
        if not part.isascii():
            return part
    return b""


def _is_chinese(data: bytes, least: int) -> bool:
    """Tell whether bytes make up enough of the characters that Chinese is written in."""
    wide = [char for char in data.decode(GB18030, "replace") if char > "\x7f"]
    words, marks = _rows(0xB0, 0xD8), _rows(0xA1, 0xA4)
    common = sum(char in words for char in wide)
    known = common + sum(char in marks for char in wide)
    return common >= least and known >= _COMMON_SHARE * len(wide)


@cache
def _rows(first: int, last: int) -> frozenset[str]:
    """Give rows of GB 2312: B0 to D7 are its 3755 common characters, A1 to A3 marks."""
    pairs = (
        bytes([lead, trail])
        for lead in range(first, last)
        for trail in range(0xA1, 0xFF)
    )
    return frozenset(pair.decode("gb2312", "ignore") for pair in pairs) - {""}
