"""Where the shell keeps what was typed: in the user's state folder, for nobody else."""

import os
from pathlib import Path
from typing import Final

_MOST: Final = 1 << 20  # bytes; the older half goes when there are more
_ENTRY: Final = b"\n# "  # what begins an entry, as prompt_toolkit writes it


def path(case: Path) -> Path | None:
    """Give the file to read and append to, made when absent; None: keep no history.

    That is so where the folder cannot be written, or lies in the case, which nothing is
    added to.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        # The standard has relative paths ignored.
        base = (
            Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
        )
        file = (base / "faultlayer" / "sql_history").resolve()
        if file.is_relative_to(case.resolve()):
            return None
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(file, flags, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            _shorten(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None
    return file


def _shorten(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    if size <= _MOST:
        return
    kept = os.pread(descriptor, _MOST // 2, size - _MOST // 2)
    start = kept.find(_ENTRY)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, kept[start:] if start >= 0 else b"")
