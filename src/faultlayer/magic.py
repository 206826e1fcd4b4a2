"""Tells by its first bytes how a file is packed, or that it is no log at all."""

import re
from typing import Final

from faultlayer import tarfiles

#: Bytes that are enough to tell.
HEAD_BYTES: Final = 1024

_BZ2: Final = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_ZST_SKIPPABLE: Final = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_ZIP: Final = re.compile(rb"PK(?:\x03\x04|\x05\x06|(?:\x07\x08|00)PK\x03\x04)")
_UNPACK: Final = "not read, unpack it and give the folder"
_UNREAD: Final = {
    b"7z\xbc\xaf\x27\x1c": f"7z archive: {_UNPACK}",
    b"Rar!\x1a\x07": f"rar archive: {_UNPACK}",
    b"\x04\x22\x4d\x18": f"lz4 stream: {_UNPACK}",
    b"\x1f\x9d": f"compress (.Z) stream: {_UNPACK}",
    b"LPKSHHRH": "binary journal: not read, give the output of "
    "journalctl --file FILE -o json",
    b"\x7fELF": "program or core dump: not read",
    b"SQLite format 3\x00": "SQLite database: not read, export its tables",
    b"\x89PNG\r\n\x1a\n": "image: not read",
    b"\xff\xd8\xff": "image: not read",
    b"GIF87a": "image: not read",
    b"GIF89a": "image: not read",
    b"%PDF-": "PDF document: not read",
    b"\xd4\xc3\xb2\xa1": "packet capture: not read",
    b"\xa1\xb2\xc3\xd4": "packet capture: not read",
    b"\x4d\x3c\xb2\xa1": "packet capture: not read",
    b"PAR1\x15": "Parquet file: not read, export its rows as JSON lines",
    b"ElfFile\x00": "Windows event log: not read, export it as text",
    b"MDMP\x93\xa7": "memory dump: not read",
    b"JAVA PROFILE 1.": "memory dump: not read",
    b"\x93NUMPY": "array of NumPy: not read",
}
_UNREAD_LIKE: Final = (
    (rb"\n\r\r\n[\s\S]{4}(?:\x4d\x3c\x2b\x1a|\x1a\x2b\x3c\x4d)", "packet capture"),
    (rb"GGUF[\x01-\x0f]\x00\x00\x00", "weights of a model"),
    (rb'[\s\S]{5}\x00\x00\x00\{"', "weights of a model"),
    (rb"[\s\S]\r\r\n[\x00-\x03]\x00\x00\x00", "compiled Python"),
)


def compression(head: bytes) -> str:
    """Give `gz`, `zst`, `bz2` or `xz`, or nothing for what is not compressed."""
    if head.startswith(b"\x1f\x8b\x08"):
        return "gz"
    if head.startswith(b"\x28\xb5\x2f\xfd") or _ZST_SKIPPABLE.match(head):
        return "zst"
    if _BZ2.match(head):
        return "bz2"
    return "xz" if head.startswith(b"\xfd7zXZ\x00") else ""


def archive(head: bytes) -> str:
    """Give `tar` or `zip`, or nothing for what is no archive."""
    if _ZIP.match(head):
        return "zip"
    return "tar" if tarfiles.is_header(head[: tarfiles.BLOCK]) else ""


def unread(head: bytes) -> str:
    """Say why what begins so is not read; nothing when it is."""
    for magic, reason in _UNREAD.items():
        if head.startswith(magic):
            return reason
    for like, what in _UNREAD_LIKE:
        if re.match(like, head):
            return f"{what}: not read"
    return ""
