"""Reads the headers of tar archives of any dialect, and finds on behind damage."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from faultlayer.stored import Reader

BLOCK: Final = 512
_LONGEST: Final = 1 << 20  # bytes of an extended header or a sparse map
_SEARCHED: Final = 1 << 16
_MAGIC: Final = b"ustar"
_MAGIC_AT: Final = 257
_EMPTY: Final = b"12345V6"  # types without data, whatever size they claim
_OCTAL: Final = re.compile(rb" *([0-7]+)[ \x00]*")
_MAP_ENTRY: Final = re.compile(rb"\d{1,20}")

FILE: Final = "file"
FOLDER: Final = "folder"
_KINDS: Final = {
    b"1": "hard link",
    b"2": "symbolic link",
    b"3": "device file",
    b"4": "device file",
    b"5": FOLDER,
    b"6": "named pipe",
    b"D": FOLDER,
    b"M": "the rest of a file that begins in another volume",
    b"V": FOLDER,  # the label of a volume: nothing to read
}


@dataclass(slots=True)
class Entry:
    """One member; its `size` bytes are what the reader gives next.

    `kind` is FILE, FOLDER, or what else it is; `holes` says of a sparse file how many
    zero bytes are left out.
    """

    name: bytes
    kind: str
    size: int
    target: bytes = b""
    holes: int = 0


@dataclass(slots=True)
class _Header:
    name: bytes
    type: bytes
    size: int
    target: bytes
    block: bytes


def is_header(block: bytes) -> bool:
    """Tell whether bytes begin with a header: its checksum is right, it has a name."""
    return _header(block) is not None


def entries(reader: Reader, tell: Callable[[str], None]) -> Iterator[Entry]:
    """Give the members in order; what of a member is not read is passed over.

    `tell` gets what is damaged. Memory holds one header, whatever sizes it claims.
    """
    extended: dict[str, bytes] = {}
    while (header := _next(reader, tell, extended)) is not None:
        if header.type in b"xgLK":
            _extend(extended, header, reader, tell)
            continue
        entry = _entry(header, extended, reader)
        extended.clear()
        end = reader.offset + entry.size + -entry.size % BLOCK
        yield entry
        left = end - reader.offset
        if reader.skip(left) < left and not reader.resume():
            return


def _next(
    reader: Reader, tell: Callable[[str], None], extended: dict[str, bytes]
) -> _Header | None:
    """Give the next header; `extended` is emptied where one was lost before it."""
    ended = False
    while True:
        start = reader.offset
        block = reader.exactly(BLOCK)
        header = _header(block)
        if header is not None:
            return header
        if len(block) == BLOCK and not block.strip(b"\x00"):
            ended = True  # the end mark, or what fills up the last record
        elif block or reader.resume():
            extended.clear()
            if not _to_header(reader, block, start, tell):
                return None
        else:
            if not ended:
                tell("it has no end mark: it may be cut off")
            return None


def _entry(header: _Header, extended: dict[str, bytes], reader: Reader) -> Entry:
    """Give a member; what stands between its header and its data is read."""
    size = _number(extended.get("size", b"")) or header.size
    entry = Entry(
        extended.get("GNU.sparse.name") or extended.get("path") or header.name,
        _KINDS.get(header.type, FILE),
        0 if header.type in _EMPTY else size,
        extended.get("linkpath", header.target),
    )
    if entry.kind == FILE and entry.name.endswith(b"/"):
        entry.kind = FOLDER  # as tar did before it had a type for them
    if header.type == b"S":
        more = header.block[482] == 1
        while more:
            block = reader.exactly(BLOCK)
            more = len(block) == BLOCK and block[504] == 1
        entry.holes = max(0, (_octal(header.block[483:495]) or 0) - entry.size)
    elif extended.get("GNU.sparse.major") == b"1":
        entry.size = _behind_map(reader, entry.size)
    real = extended.get("GNU.sparse.realsize") or extended.get("GNU.sparse.size", b"")
    if real:
        entry.holes = max(0, _number(real) - entry.size)
    return entry


def _header(block: bytes) -> _Header | None:
    if len(block) < BLOCK or not block[0]:
        return None
    stated = _octal(block[148:156])
    # The checksum counts its own field as spaces.
    if stated is None or stated != sum(block[:148]) + 256 + sum(block[156:BLOCK]):
        return None
    size = _octal(block[124:136])
    if size is None or size < 0:
        return None
    name = _text(block[:100])
    if block[_MAGIC_AT:265] == b"ustar\x0000" and (prefix := _text(block[345:500])):
        name = prefix + b"/" + name
    return _Header(name, block[156:157], size, _text(block[157:257]), block[:BLOCK])


def _octal(field: bytes) -> int | None:
    if field[0] & 0x80:  # GNU: a binary number where octal digits do not suffice
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big", signed=True)
    found = _OCTAL.fullmatch(field)
    if found:
        return int(found[1], 8)
    return None if field.strip(b" \x00") else 0


def _text(field: bytes) -> bytes:
    return field.partition(b"\x00")[0]


def _number(text: bytes) -> int:
    return int(text) if _MAP_ENTRY.fullmatch(text) else 0


def _extend(
    extended: dict[str, bytes],
    header: _Header,
    reader: Reader,
    tell: Callable[[str], None],
) -> None:
    """Read what a header says about the next one."""
    padded = header.size + -header.size % BLOCK
    if header.size > _LONGEST:
        tell(f"an extended header of {header.size} bytes is passed over")
        reader.skip(padded)
        return
    data = reader.exactly(padded)[: header.size]
    if header.type == b"L":
        extended["path"] = _text(data)
    elif header.type == b"K":
        extended["linkpath"] = _text(data)
    elif header.type == b"x":
        while data:
            length, _, _ = data.partition(b" ")
            count = _number(length)
            if not len(length) + 1 < count <= len(data):
                break
            key, _, value = data[len(length) + 1 : count].partition(b"=")
            extended[key.decode("utf-8", "replace")] = value.removesuffix(b"\n")
            data = data[count:]


def _behind_map(reader: Reader, size: int) -> int:
    """Go behind the map that a sparse file begins with; give the bytes that are left.

    They are the parts between the holes, one after the other.
    """
    start = reader.offset
    wanted: int | None = None  # numbers that the map still has
    rest = b""
    while wanted is None or wanted > 0:
        block = reader.exactly(min(BLOCK, size - (reader.offset - start)))
        if not block or reader.offset - start > _LONGEST:
            break
        *numbers, rest = (rest + block).split(b"\n")
        if wanted is None and numbers:
            wanted = 2 * _number(numbers.pop(0))
        if wanted is not None:
            wanted -= len(numbers)
    return size - (reader.offset - start)


def _to_header(
    reader: Reader, block: bytes, start: int, tell: Callable[[str], None]
) -> bool:
    """Go to the next header behind damage, or to the end if there is none."""
    window = block[1:]
    base = start + len(block) - len(window)
    while True:
        at = window.find(_MAGIC)
        while at >= 0:
            begin = at - _MAGIC_AT
            missing = begin + BLOCK - len(window)
            if begin >= 0 and missing > 0:
                window += reader.exactly(missing)
            if begin >= 0 and is_header(window[begin : begin + BLOCK]):
                reader.unread(window[begin:])
                tell(
                    f"{base + begin - start} bytes from byte {start} on are no tar: "
                    f"left out, reading goes on at byte {base + begin}"
                )
                return True
            at = window.find(_MAGIC, at + 1)
        more = reader.exactly(_SEARCHED)
        if not more and not reader.resume():
            tell(
                f"{reader.offset - start} bytes from byte {start} on are no tar: "
                "left out, to the end"
            )
            return False
        base += max(0, len(window) - BLOCK)
        window = window[-BLOCK:] + more
