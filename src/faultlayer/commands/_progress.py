"""How far a run is, on stderr, when a person watches."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)

from faultlayer.masking import safe
from faultlayer.render import cut

_FILE_CELLS = 32


class _Vanishing:
    """A progress bar that vanishes at the end; silent where stderr is no terminal."""

    def __init__(self, *columns: ProgressColumn, quiet: bool) -> None:
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            *columns,
            console=Console(stderr=True),
            transient=True,
            disable=quiet or not sys.stderr.isatty(),
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()


class Bar(_Vanishing):
    """A bar of the bytes that are read, then the name of the stage."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(
            DownloadColumn(),
            TransferSpeedColumn(),
            TextColumn("{task.fields[file]}", style="dim", markup=False),
            quiet=quiet,
        )
        self._task: TaskID | None = None

    def start(self, files: int, size: int) -> None:
        """Show the inputs: so many files of so many stored bytes."""
        noun = "file" if files == 1 else "files"
        self._task = self._bar.add_task(
            f"reading {files:,} {noun}", total=size or None, file=""
        )

    def read(self, path: str, size: int) -> None:
        """Move on by so many stored bytes of this file."""
        if self._task is not None:
            name = cut(safe(path.rpartition("/")[2]), _FILE_CELLS)
            self._bar.update(self._task, advance=size, file=name)

    def step(self, name: str) -> None:
        """Name the stage after reading."""
        if self._task is not None:
            self._bar.update(self._task, description=safe(name), file="")


class Steps(_Vanishing):
    """A bar of counted steps."""

    def __init__(self, what: str, total: int, *, quiet: bool) -> None:
        super().__init__(MofNCompleteColumn(), quiet=quiet)
        self._task = self._bar.add_task(what, total=total)

    def advance(self, count: int) -> None:
        """Move on by so many."""
        self._bar.update(self._task, advance=count)
