"""What `--fail-on` asks for: a layer, a cause or a glob of causes, and how many."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

from faultlayer import stated, wording
from faultlayer.errors import UsageError
from faultlayer.summary import Values

LAYERS: Final = (*stated.LAYERS, "undetermined")
_CONDITION: Final = re.compile(r"\s*([\w.*?\[\]!-]+?)\s*(?:>\s*([\d_,]+)\s*)?")


@dataclass(frozen=True, slots=True)
class Condition:
    """It is met where more than `above` attempts failed by what `what` names."""

    text: str
    what: str
    above: int = 0

    def number(self, causes: Sequence[Values]) -> int:
        """Count the failed attempts that it is about, of rows by layer and cause."""
        return sum(row["attempts"] for row in causes if self._names(row))

    def _names(self, row: Values) -> bool:
        return self.what in {"any", row["layer"], row["cause"]} or fnmatchcase(
            row["cause"], self.what
        )


def read(text: str, causes: Collection[str]) -> Condition:
    """Read `model`, `model.cuda_oom`, `any`, `model.*>10`; UsageError for what is none."""
    match = _CONDITION.fullmatch(text)
    what = match[1] if match else text
    known = {"any", *LAYERS, *causes}
    globs = any(char in what for char in "*?[")
    if match and (
        what in known or (globs and any(fnmatchcase(c, what) for c in causes))
    ):
        above = (match[2] or "0").replace("_", "").replace(",", "")
        return Condition(text.strip(), what, int(above or 0))
    near = get_close_matches(what, [*LAYERS, *sorted(causes)], 1)
    raise UsageError(
        f"--fail-on does not know {text!r}",
        hint=f"did you mean {near[0]}?"
        if near
        else f"any, one of {', '.join(LAYERS)}, a cause such as model.cuda_oom,"
        " or more than some: 'model.*>10'",
    )


def met(causes: Sequence[Values], wanted: Sequence[Condition]) -> list[str]:
    """Say which conditions are met, and by how many failed attempts."""
    found = [(one, one.number(causes)) for one in wanted]
    return [
        f"--fail-on {one.text}: {wording.count(number, 'failed attempt')}"
        for one, number in found
        if number > one.above
    ]
