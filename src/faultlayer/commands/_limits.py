"""How much archives may unpack to, from the command line and a file."""

import re
from collections.abc import Mapping
from typing import Any, Final

from faultlayer.errors import UsageError
from faultlayer.members import Limits

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?) *([kMGT]?)(i?)B?", re.IGNORECASE)
_UNITS: Final = ("", "k", "m", "g", "t")


def read(given: Mapping[str, Any], file: Mapping[str, Any]) -> Limits:
    """Join both, the command line first; raises `UsageError` for what is no size."""
    told = {
        name: value
        for name in ("unpacked", "ratio", "members", "depth")
        if (value := given[f"max_{name}"] or file.get(f"max-{name}"))
    }
    if "unpacked" in told:
        told["unpacked"] = _bytes(told["unpacked"])
    return Limits(**told)


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"--max-unpacked does not know {text!r}", hint="give a size such as 200GB"
        )
    number, unit, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** _UNITS.index(unit.lower()))
