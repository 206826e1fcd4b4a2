"""Packs files into archives, and reads them back as sources."""

import bz2
import gzip
import hashlib
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import zstandard

from faultlayer.blocks import Opened, open_source
from faultlayer.find import Found, Limits, Source, find

Files = dict[str, bytes]
Pack = Callable[[Files], bytes]

PACKS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


def tar(files: Files, kind: str = "") -> bytes:
    """Make a tar archive, compressed or not."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return PACKS[kind](out.getvalue())


def tgz(files: Files) -> bytes:
    """Make a tar.gz."""
    return tar(files, "gz")


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Make a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return out.getvalue()


def stored_zip(files: Files) -> bytes:
    """Make a zip archive that compresses nothing."""
    return zipped(files, zipfile.ZIP_STORED)


def nodes(*members: tuple[str, bytes, str]) -> bytes:
    """Make a tar archive of links and devices, and a log at its end."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as packed:
        for name, kind, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            packed.addfile(info)
        info = tarfile.TarInfo("fine.log")
        info.size = 5
        packed.addfile(info, io.BytesIO(b"fine\n"))
    return out.getvalue()


def some_lines(count: int, seed: int = 7) -> bytes:
    """Give lines that compress to about a third."""
    rng = random.Random(seed)
    return b"".join(
        b"%06d POST /v1/chat/completions %s\n"
        % (line, rng.randbytes(12).hex().encode())
        for line in range(count)
    )


def found(tmp_path: Path, files: Files, limits: Limits | None = None) -> Found:
    """Write files and find what is in them."""
    logs = tmp_path / "logs"
    spill = tmp_path / f"spill{len(list(tmp_path.glob('spill*')))}"
    spill.mkdir(parents=True)
    for name, data in files.items():
        file = logs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return find([str(logs)], spill, limits)


def read(source: Source) -> tuple[bytes, Opened]:
    """Read a source, after a check that size and hash are those of the member."""
    with open_source(source) as opened:
        data = b"".join(block.data for block in opened)
    if not source.compression and not opened.problems:
        assert opened.sha256 == hashlib.sha256(data).hexdigest()
        assert opened.file_bytes == opened.stored_bytes == source.size == len(data)
    return data, opened


def contents(result: Found) -> Files:
    """Give what can be read, by path."""
    return {source.path: read(source)[0] for source in result.sources}


ONE, TWO = b"one\n", some_lines(3000)
