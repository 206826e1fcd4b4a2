"""Reads the directory of zip archives, or goes from member to member where it is lost."""

import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from faultlayer.stored import Stored

FILE: Final = "file"
FOLDER: Final = "folder"

_LOCAL: Final = b"PK\x03\x04"
_CENTRAL: Final = b"PK\x01\x02"
_DESCRIPTOR: Final = b"PK\x07\x08"
_END: Final = b"PK\x05\x06"
_LOCAL_HEAD: Final = struct.Struct("<4s5H3I2H")
_CENTRAL_HEAD: Final = struct.Struct("<4s6H3I5H2I")
_END_HEAD: Final = struct.Struct("<4s4H2IH")
_LOCATOR: Final = struct.Struct("<4sIQI")
_END64_HEAD: Final = struct.Struct("<4sQ2H2I4Q")
_FULL: Final = 0xFFFFFFFF  # the number stands in the extra field
_TAIL: Final = 1 << 16  # longest comment
_SEARCHED: Final = 1 << 20

_ENCRYPTED: Final = 1
_STREAMED: Final = 8  # sizes stand behind the data
_UTF8: Final = 1 << 11
#: Method to codec of `decode`.
CODECS: Final = {0: "", 8: "deflate", 12: "bz2", 93: "zst", 95: "xz"}
_METHODS: Final = {1: "shrink", 6: "implode", 9: "deflate64", 14: "LZMA", 98: "PPMd"}
_NODES: Final = {
    stat.S_IFLNK: "symbolic link",
    stat.S_IFCHR: "device file",
    stat.S_IFBLK: "device file",
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
}


@dataclass(slots=True)
class Entry:
    """One member; `offset` is that of its data, which is `packed` bytes long.

    `size` and `crc` are of the data when it is unpacked, None where they are not told.
    `refused` says why it cannot be read, `torn` that the archive ends within it.
    """

    name: str
    kind: str
    method: int
    packed: int
    size: int | None
    crc: int | None
    offset: int
    refused: str = ""
    torn: bool = False


@dataclass(slots=True)
class _Listed:
    entry: Entry
    header: int  # offset of its local header


def entries(
    stored: Stored, size: int, most: int, tell: Callable[[str], None]
) -> Iterator[Entry]:
    """Give up to `most` members in the order of their data.

    `size` is that of the archive. `tell` gets what is damaged. Members whose data
    overlap, as in bombs, are refused but for the first.
    """
    found = _directory(stored, size)
    if found is None:
        tell("its directory is lost (cut off?): members are looked for one by one")
        yield from islice(_searched(stored, size), most)
        return
    first, total, shift = found
    listed = list(islice(_listed(stored, first, total, shift, tell), most))
    listed.sort(key=lambda one: one.header)
    reached, last = -1, ""
    for one in listed:
        entry = one.entry
        data = _data(stored, one.header, size)
        if data is None:
            entry.refused = entry.refused or (
                f"damaged: there is no member at byte {one.header}"
            )
            yield entry
            continue
        entry.offset = data
        if one.header < reached:
            entry.refused = f"its data overlap with those of {last}: refused"
        if entry.offset + entry.packed > size:
            entry.torn = True
            entry.packed = max(0, size - entry.offset)
        reached = max(reached, entry.offset + entry.packed)
        last = entry.name
        yield entry


def _directory(stored: Stored, size: int) -> tuple[int, int, int] | None:
    """Give offset and bytes of the directory, and what offsets in it are short of."""
    begin = max(0, size - _END_HEAD.size - _TAIL)
    stored.offset = begin
    tail = stored.exactly(size - begin)
    at = tail.rfind(_END)
    while at >= 0:
        if len(tail) - at >= _END_HEAD.size:
            *_, total, first, _ = _END_HEAD.unpack_from(tail, at)
            found = _checked(stored, size, begin + at, total, first)
            if found is not None:
                return found
        at = tail.rfind(_END, 0, at)  # that one stood in a comment
    return None


def _checked(
    stored: Stored, size: int, end: int, total: int, first: int
) -> tuple[int, int, int] | None:
    """Find the directory that ends at `end`, where it says that it is or behind that."""
    stored.offset = max(0, end - _LOCATOR.size)
    locator = stored.exactly(_LOCATOR.size)
    if locator.startswith(b"PK\x06\x07"):
        _, _, where, _ = _LOCATOR.unpack(locator)
        # Where something stands before the archive, the offset is short of it.
        for place in (where, end - _LOCATOR.size - _END64_HEAD.size):
            stored.offset = max(0, min(place, size))
            head = stored.exactly(_END64_HEAD.size)
            if head.startswith(b"PK\x06\x06") and len(head) == _END64_HEAD.size:
                *_, total, first = _END64_HEAD.unpack(head)
                end = place
                break
    shift = end - total - first
    if shift < 0 or first + shift > size:
        return None
    stored.offset = first + shift
    if total and stored.exactly(len(_CENTRAL)) != _CENTRAL:
        return None
    return first + shift, total, shift


def _listed(
    stored: Stored, first: int, total: int, shift: int, tell: Callable[[str], None]
) -> Iterator[_Listed]:
    stored.offset = first
    while stored.offset < first + total:
        at = stored.offset
        head = stored.exactly(_CENTRAL_HEAD.size)
        if len(head) < _CENTRAL_HEAD.size or not head.startswith(_CENTRAL):
            tell(f"its directory is damaged at byte {at}: members may be missing")
            return
        _, _, _, flags, method, _, _, *numbers = _CENTRAL_HEAD.unpack(head)
        crc, packed, size, name_size, extra_size, comment_size, *numbers = numbers
        _, _, attributes, header = numbers
        name = stored.exactly(name_size)
        extra = stored.exactly(extra_size)
        stored.skip(comment_size)
        size, packed, header = _large(extra, size, packed, header)
        entry = Entry(
            name=_name(name, flags),
            kind=_kind(name, attributes),
            method=method,
            packed=packed,
            size=size,
            crc=crc,
            offset=0,
            refused=_refused(flags, method),
        )
        yield _Listed(entry, header + shift)


def _large(extra: bytes, *sizes: int) -> tuple[int, ...]:
    """Put numbers of the zip64 field in the place of those that are full."""
    while len(extra) >= 4:  # noqa: PLR2004 - two numbers of two bytes
        kind, length = struct.unpack_from("<2H", extra)
        if kind == 1:
            values = [
                int.from_bytes(extra[at : at + 8], "little")
                for at in range(4, 4 + length - length % 8, 8)
            ]
            return tuple(
                values.pop(0) if size == _FULL and values else size for size in sizes
            )
        extra = extra[4 + length :]
    return sizes


def _data(stored: Stored, header: int, size: int) -> int | None:
    """Give the offset of a member's data."""
    if not 0 <= header <= size - _LOCAL_HEAD.size:
        return None
    stored.offset = header
    head = stored.exactly(_LOCAL_HEAD.size)
    if not head.startswith(_LOCAL):
        return None
    *_, name_size, extra_size = _LOCAL_HEAD.unpack(head)
    data = int(header + _LOCAL_HEAD.size + name_size + extra_size)
    return min(size, data)


def _searched(stored: Stored, size: int) -> Iterator[Entry]:
    """Go from one local header to the next."""
    at = _find(stored, 0, size, _LOCAL)
    while at is not None:
        stored.offset = at
        head = stored.exactly(_LOCAL_HEAD.size)
        if len(head) < _LOCAL_HEAD.size:
            return
        _, _, flags, method, _, _, *numbers = _LOCAL_HEAD.unpack(head)
        crc, packed, unpacked, name_size, extra_size = numbers
        name = stored.exactly(name_size)
        extra = stored.exactly(extra_size)
        unpacked, packed = _large(extra, unpacked, packed)
        begin = min(size, stored.offset)
        entry = Entry(
            name=_name(name, flags),
            kind=_kind(name, 0),
            method=method,
            packed=packed,
            size=unpacked,
            crc=crc,
            offset=begin,
            refused=_refused(flags, method),
        )
        if flags & _STREAMED and not packed:
            entry.size = entry.crc = None
            entry.packed = _streamed(stored, begin, size)
            entry.torn = begin + entry.packed == size
        elif begin + packed > size:
            entry.torn, entry.packed = True, size - begin
        yield entry
        at = _find(stored, begin + entry.packed, size, _LOCAL)


def _streamed(stored: Stored, begin: int, size: int) -> int:
    """Give the bytes up to a descriptor that states as many, or up to the end."""
    at = _find(stored, begin, size, _DESCRIPTOR)
    while at is not None:
        stored.offset = at + 8
        stated = stored.exactly(8)
        if at - begin in {
            int.from_bytes(stated[:4], "little"),
            int.from_bytes(stated, "little"),
        }:
            return at - begin
        at = _find(stored, at + 1, size, _DESCRIPTOR)
    return size - begin


def _find(stored: Stored, begin: int, size: int, mark: bytes) -> int | None:
    """Give the offset of a mark from `begin` on."""
    while begin < size:
        stored.offset = begin
        window = stored.exactly(min(_SEARCHED, size - begin))
        at = window.find(mark)
        if at >= 0:
            return begin + at
        if begin + len(window) >= size or len(window) < len(mark):
            return None
        begin += len(window) - len(mark) + 1
    return None


def _name(name: bytes, flags: int) -> str:
    """Decode a name: many write UTF-8 without saying so, and Windows its code page."""
    encodings = ["utf-8"] if flags & _UTF8 else ["utf-8", "gb18030"]
    for encoding in encodings:
        try:
            return name.decode(encoding)
        except UnicodeDecodeError:
            continue
    return name.decode("cp437")


def _kind(name: bytes, attributes: int) -> str:
    if name.endswith((b"/", b"\\")):
        return FOLDER
    return _NODES.get(stat.S_IFMT(attributes >> 16), FILE)


def _refused(flags: int, method: int) -> str:
    if flags & _ENCRYPTED:
        return "encrypted: not read, unpack it with its password and give the folder"
    if method not in CODECS:
        name = _METHODS.get(method, "unknown to this tool")
        return (
            f"packed by method {method} ({name}): not read, "
            "unpack it and give the folder"
        )
    return ""
