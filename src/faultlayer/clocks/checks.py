"""How much of what shared requests demand of a clock it breaks: a measure without truth."""

from dataclasses import dataclass

import numpy as np

from faultlayer.clocks.agreement import Bounds, Floats
from faultlayer.clocks.clock import Clock


@dataclass(frozen=True, slots=True)
class Check:
    """Constraints of one clock, and how many are violated as logged and corrected.

    A constraint says that a cause precedes its effect. An untied clock is not corrected.
    """

    clock_id: str
    constraints: int
    violated_as_logged: int
    violated_corrected: int


def count(upper: Bounds, lower: Bounds, clock: Clock) -> Check:
    """Count the bounds of a clock's offset that zero violates, and that its line does."""
    logged = int((upper.value < 0).sum()) + int((lower.value > 0).sum())
    if clock.segments:
        corrected = int((_offsets(clock, upper.at) > upper.value).sum())
        corrected += int((_offsets(clock, lower.at) < lower.value).sum())
    else:
        corrected = logged
    return Check(clock.clock_id, len(upper) + len(lower), logged, corrected)


def _offsets(clock: Clock, at: Floats) -> Floats:
    """Give the offset of a clock at reference times, us."""
    starts = [-np.inf if one.start is None else one.start for one in clock.segments]
    number = np.searchsorted(starts, at, side="right") - 1
    offset, slope, anchor = (
        np.array(values)[number]
        for values in zip(
            *((one.offset, one.slope, one.anchor or 0.0) for one in clock.segments),
            strict=True,
        )
    )
    found: Floats = offset + slope * (at - anchor)
    return found
