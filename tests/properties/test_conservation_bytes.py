"""Any byte stream, however stored and cut, is the sum of its lines."""

import bz2
import gzip
import hashlib
import lzma
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import zstandard
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from faultlayer.blocks import open_source
from faultlayer.find import find
from faultlayer.lines import lines_of
from faultlayer.magic import unread

PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "zst": zstandard.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
}
# What a file must not begin with to be plain text (a skippable frame: from byte 1).
MAGIC = re.compile(
    rb"\x1f[\x8b\x9d]|\x28\xb5\x2f\xfd|.\x2a\x4d\x18|BZh|\xfd7z|7z|PK|Rar|\x04\x22",
    re.DOTALL,
)

odd = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b"\r",
        b"\n\n\n",
        b"\0" * 17,
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xe4\xbd",
        "你好\u2028".encode(),
        b"x^",
        b"x" * 300,
        b"[INFO] [2026-11-30 14:20:11,123] harness: request accepted\n",
    ]
)
streams = st.lists(st.one_of(odd, st.binary(max_size=12)), max_size=40).map(b"".join)


def reference(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """Split one byte at a time: line, offset, length, text without its line end."""
    lines: list[tuple[int, int, int, bytes]] = []
    start = 0
    for at in range(len(data)):
        if data[at] == 10 or at == len(data) - 1:
            length = at + 1 - start
            text = data[start : at + 1].removesuffix(b"\n").removesuffix(b"\r")
            if start == 0:
                text = text.removeprefix(b"\xef\xbb\xbf")
            lines.append((len(lines) + 1, start, length, text))
            start = at + 1
    return lines


@settings(max_examples=1000)
@given(
    data=streams,
    block_bytes=st.one_of(st.integers(1, 64), st.integers(65, 1 << 20)),
    compression=st.sampled_from(["", *PACKS]),
    members=st.integers(1, 3),
)
def test_lines_make_up_the_stream(
    data: bytes, block_bytes: int, compression: str, members: int
) -> None:
    """Lines, joined, are the stream; each is where and what a plain split says."""
    # What begins as an image, a capture or the like, packed or not, is told and not read.
    assume(not unread(data))
    if compression:
        step = len(data) // members + 1
        parts = [data[at : at + step] for at in range(0, max(1, len(data)), step)]
        stored = b"".join(map(PACKS[compression], parts))
    else:
        assume(not MAGIC.match(data))
        stored = data
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.log"
        file.write_bytes(stored)
        (source,) = find([str(file)]).sources
        with open_source(source, block_bytes) as opened:
            frames = [(block, lines_of(block).rows()) for block in opened]
    assume(not opened.encoding.startswith("utf-16"))
    assert source.compression == compression
    assert opened.sha256 == hashlib.sha256(stored).hexdigest()
    assert (opened.bytes, opened.file_bytes) == (len(data), len(stored))
    found = [row for _, rows in frames for row in rows]
    assert b"".join(data[at : at + length] for _, at, length, _, _ in found) == data
    assert b"".join(block.data for block, _ in frames) == data
    expected = reference(data)
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    assert opened.lines == len(expected)
    for (*_, text, damaged), (*_, raw) in zip(found, expected, strict=True):
        if text == raw.decode("gb18030", "replace"):
            continue
        if damaged:
            assert len(text.encode()) == len(raw)
            assert raw.decode("utf-8", "replace") != raw.decode("utf-8", "ignore")
        else:
            assert text.encode() == raw
