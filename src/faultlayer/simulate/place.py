"""Where an invented day is put: built beside its folder, moved there when whole."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faultlayer.errors import UsageError
from faultlayer.simulate.write import FILES, README, TITLE

_ELSEWHERE = "choose another folder with -o"


@contextmanager
def placed(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder to build a day in; when the block ends well it is at `target`.

    A target that holds something is refused. With `force`, a day that stands there is
    replaced, if nothing else is in its folder: no file that a day does not have is
    ever removed. Raises UsageError; what was at the target is then as it was.
    """
    target = target.absolute()
    _check(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        prefix = f".{target.name}.partial-"
        built = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        built.chmod(0o755)
        yield built
        _check(target, force=force)  # it may have changed meanwhile
        _swap(built, target)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(built, ignore_errors=True)


def _check(target: Path, *, force: bool) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir() or target.is_symlink():
        raise UsageError(f"{target} is no folder", hint=_ELSEWHERE)
    found = {
        path.relative_to(target).as_posix()
        for path in target.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    if not any(target.iterdir()):
        return
    foreign = sorted(found - FILES)
    if foreign or not _is_day(target):
        what = foreign[0] if foreign else "something else than an invented day"
        raise UsageError(
            f"{target} is not empty: it holds {what}; it is left as it is",
            hint=_ELSEWHERE,
        )
    if not force:
        raise UsageError(
            f"{target} holds an invented day already",
            hint="--force replaces it; or choose another folder with -o",
        )


def _is_day(target: Path) -> bool:
    try:
        return (target / README).read_text("utf-8").startswith(TITLE)
    except (OSError, ValueError):
        return False


def _swap(built: Path, target: Path) -> None:
    if not target.exists():
        built.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old-", dir=target.parent))
    before = old / target.name
    target.rename(before)
    try:
        built.rename(target)
    except BaseException:  # whatever interrupts, the old day comes back
        before.rename(target)
        old.rmdir()
        raise
    shutil.rmtree(old)


def _unwritable(target: Path, error: OSError) -> UsageError:
    return UsageError(
        f"no day can be written to {target}: {error.strerror or error}",
        hint=_ELSEWHERE,
    )
