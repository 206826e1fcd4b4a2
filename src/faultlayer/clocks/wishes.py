"""What a user knows of clocks: offsets, and whose clock is the reference."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from faultlayer.clocks.clock import Clock, constant
from faultlayer.errors import UsageError

#: How far off a number given by hand may be: half of its last digit is not known, us.
ROUGH_US = 500_000

#: How a clock is known that the user told of.
TOLD = "as told"

_KEPT = "keep"
_OFFSET = re.compile(
    r"(?:UTC)?(?P<sign>[+-])(?:(?P<hours>\d+(?:\.\d+)?)h)?(?:(?P<minutes>\d+)m(?!s))?"
    r"(?:(?P<seconds>\d+(?:\.\d+)?)s)?(?:(?P<ms>\d+(?:\.\d+)?)ms)?"
)
_ZONE = re.compile(
    r"(?:UTC(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d))?"
    r"|(?P<iso>[+-])(?P<iso_hours>\d\d):?(?P<iso_minutes>\d\d))"
)
_HINT = "for example --clock 'logs/model/*=+8h', '...=-1.3s', '...=UTC+8' or '...=keep'"


@dataclass(frozen=True, slots=True)
class Wishes:
    """Offsets (reading minus reference, us) by glob, and a glob for the reference.

    A glob fits a clock by its name, or by the path of one of its sources, and may begin
    and end at any folder or program: `engine-a` fits all that lies in a folder of that
    name.
    """

    offsets: Mapping[str, int] = field(default_factory=dict)
    reference: str | None = None

    def told(self, names: Mapping[str, Iterable[str]]) -> dict[str, Clock]:
        """Give the clocks that the user ties, by name; `names` has each one's paths.

        Raises `UsageError` for a glob that fits no clock.
        """
        found: dict[str, Clock] = {}
        for glob, offset in self.offsets.items():
            for name in _fitting(glob, names, "--clock"):
                line = constant(offset, offset - ROUGH_US, offset + ROUGH_US)
                found.setdefault(name, Clock(name, "tied", TOLD, (line,)))
        return found

    def chosen(self, names: Mapping[str, Iterable[str]]) -> str | None:
        """Give the clock that the user wants as reference; raises `UsageError`.

        Of several that the glob fits the one that is called so.
        """
        if self.reference is None:
            return None
        found = _fitting(self.reference, names, "--reference")
        last = _parts(self.reference)
        called = [one for one in found if _parts(one).endswith(last)]
        if len(called or found) > 1:
            raise UsageError(
                f"--reference {self.reference!r} fits several clocks",
                hint=f"name one of {', '.join(called or found)}",
            )
        return (called or found)[0]


def _fitting(glob: str, names: Mapping[str, Iterable[str]], option: str) -> list[str]:
    found = [
        name
        for name, paths in sorted(names.items())
        if any(_fits(one, glob) for one in (name, *paths))
    ]
    if not found:
        raise UsageError(
            f"{option} {glob!r} fits no clock",
            hint=f"clocks of these logs: {', '.join(sorted(names)) or 'none'}",
        )
    return found


def _fits(path: str, glob: str) -> bool:
    whole, part = _parts(path), _parts(glob)
    return path == glob or any(
        fnmatchcase(whole, pattern) for pattern in (part, f"*{part}*")
    )


def _parts(path: str) -> str:
    """Give a name of folders and perhaps a program so that each has a slash on its sides."""
    return f"/{path.replace(':', '/')}/"


def read(texts: Iterable[str], reference: str | None) -> Wishes:
    """Read `GLOB=OFFSET` of the command line; raises `UsageError`."""
    offsets = {}
    for text in texts:
        glob, _, offset = text.rpartition("=")
        if not glob:
            raise UsageError(f"--clock wants GLOB=OFFSET, not {text!r}", hint=_HINT)
        offsets[glob] = _offset_us(offset.strip())
    return Wishes(offsets, reference)


def _offset_us(text: str) -> int:
    text = text.replace(" ", "")
    if text in {_KEPT, "0"}:
        return 0
    zone = _ZONE.fullmatch(text)
    found = zone or _OFFSET.fullmatch(text)
    parts = found.groupdict() if found else {}
    if zone and zone["iso"]:
        parts = {name: zone[f"iso_{name}"] for name in ("hours", "minutes")}
        parts["sign"] = zone["iso"]
    numbers = {name: parts.get(name) for name in ("hours", "minutes", "seconds", "ms")}
    if not any(numbers.values()):
        raise UsageError(f"--clock does not know the offset {text!r}", hint=_HINT)
    each = {"hours": 3_600e6, "minutes": 60e6, "seconds": 1e6, "ms": 1e3}
    size = sum(float(number or 0) * each[name] for name, number in numbers.items())
    return round(-size if parts["sign"] == "-" else size)
