"""Shows text on a terminal, in a pager where it does not fit."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import IO, TextIO

from faultlayer.render import cell_len

_OF_LESS = {"LESS": "-R", "LESSCHARSET": "utf-8", "LESSSECURE": "1"}
"""What `less` is told where the user does not: colours, and to start nothing."""

_ROOM = 2  # lines for the prompt below
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_ENOUGH = 1 << 16  # characters of which a screen may hold some


class Paged:
    """A text stream that holds back one screenful, and starts a pager for more."""

    encoding = "utf-8"

    def __init__(
        self, stream: TextIO, size: Callable[[], os.terminal_size], pager: list[str]
    ) -> None:
        self._stream = stream
        self._size = size
        self._pager = pager
        self._held: list[str] = []
        self._lines = 0
        self._process: subprocess.Popen[str] | None = None

    def isatty(self) -> bool:
        """Say yes: what is written here is for eyes."""
        return True

    def write(self, text: str) -> int:
        """Hold text back, or hand it to the pager; BrokenPipeError when that is gone."""
        if self._process is not None:
            self._into.write(text)
            return len(text)
        self._held.append(text)
        columns, rows = self._size()
        cells = sum(
            1 + max(cell_len(_STYLE.sub("", line)) - 1, 0) // max(columns, 1)
            for line in text[:_ENOUGH].split("\n")[:-1]
        )
        self._lines += max(cells, text.count("\n"))
        if self._lines > rows - _ROOM and self._start():
            self._into.write("".join(self._held))
            self._held = []
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        """Write texts one after the other."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Do nothing: a part of a screen helps nobody."""

    def close(self) -> None:
        """Show what is held, or wait until the person leaves the pager."""
        process = self._process
        if process is None:
            self._stream.write("".join(self._held))
            self._stream.flush()
            return
        with contextlib.suppress(BrokenPipeError):
            self._into.close()
        while True:
            try:
                process.wait()
            except KeyboardInterrupt:  # it is the pager's, for its own searches
                continue
            return

    @property
    def _into(self) -> IO[str]:
        if self._process is None or self._process.stdin is None:
            raise BrokenPipeError
        return self._process.stdin

    def _start(self) -> bool:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own choice
                self._pager,
                stdin=subprocess.PIPE,
                stdout=self._stream,
                env=_OF_LESS | dict(os.environ),
                encoding="utf-8",
                errors="replace",
            )
        except OSError:  # then it scrolls by
            self._pager = []
            self._size = lambda: os.terminal_size((sys.maxsize, sys.maxsize))
            return False
        return True


def command() -> list[str]:
    """Give the pager of the user, else the usual ones; empty: none is wanted or there."""
    given = os.environ.get("PAGER")
    if given is None:
        return next(([one] for one in ("less", "more") if shutil.which(one)), [])
    try:
        words = shlex.split(given)
    except ValueError:
        return []
    return [] if words in ([], ["cat"]) else words


@contextlib.contextmanager
def screen() -> Iterator[TextIO]:
    """Give a stream for the answer to one question; who leaves the pager ends it."""
    pager = command()
    if not (sys.stdout.isatty() and sys.stdin.isatty() and pager):
        yield sys.stdout
        return
    paged = Paged(sys.stdout, shutil.get_terminal_size, pager)
    stream: TextIO = paged  # type: ignore[assignment]  # as much of one as is written to
    try:
        yield stream
    except BrokenPipeError:
        pass
    finally:
        paged.close()
