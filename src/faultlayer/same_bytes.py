"""Counts how many bytes two sources have in common from a place on."""

from collections.abc import Iterable, Iterator

import numpy as np

from faultlayer.blocks import Block, open_source
from faultlayer.members import Source

_BLOCK = 1 << 20


def in_common(one: Source, other: Source, start: int) -> int:
    """Count the bytes of `one`, from its first, that `other` has from `start` on.

    Both are decoded as they are when they are read. Raises `SourceError` when one of
    them cannot be read any more.
    """
    same = 0
    with open_source(one, _BLOCK) as first, open_source(other, _BLOCK) as second:
        mine, theirs = _from(first, 0), _from(second, start)
        a = b = memoryview(b"")
        while True:
            a = a or next(mine, a)
            b = b or next(theirs, b)
            size = min(len(a), len(b))
            if not size:
                return same
            if a[:size] != b[:size]:
                left, right = (np.frombuffer(part[:size], np.uint8) for part in (a, b))
                return same + int(np.argmax(left != right))
            same += size
            a, b = a[size:], b[size:]


def _from(blocks: Iterable[Block], start: int) -> Iterator[memoryview]:
    """Give the bytes from a place on."""
    for block in blocks:
        skipped = max(0, start - block.offset)
        if skipped < len(block.data):
            yield memoryview(block.data)[skipped:]
