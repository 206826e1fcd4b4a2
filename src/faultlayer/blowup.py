"""Finds regexes that backtrack without end, by lines that almost fit."""

import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Final

import polars as pl
import regex

from faultlayer.compile import Plan

#: Characters up to which Python's engine is asked; longer lines only polars sees.
LONGEST: Final = 2000
_LIMIT_S: Final = 0.5  # of CPU, for one line; what is harmless takes microseconds
_LONG: Final = 40_000
_LONG_LIMIT_S: Final = 2.0
_PLACES: Final = 12  # of a sample at which something is repeated
_MOST: Final = 48


def near_misses(samples: Sequence[str], size: int) -> Iterator[str]:
    """Give lines of about `size` characters that a regex begins to match, and then fails.

    A sample is taken up to some place, what stands there is repeated, and the end is one
    that no pattern wants.
    """
    count = 0
    for sample in samples:
        step = max(1, len(sample) // _PLACES)
        for place in range(step, len(sample) + 1, step):
            for width in {1, 2, place // 2}:
                if count >= _MOST:
                    return
                part = sample[max(place - width, 0) : place]
                times = (size - place) // (len(part) or size)
                if part and times > 0:
                    count += 1
                    yield f"{sample[:place]}{part * times}\x01"


def endless(pattern: str, samples: Sequence[str]) -> str | None:
    """Give a line, shortened, on which a backtracking engine does not come to an end."""
    try:
        re.compile(pattern)
    except re.error:
        return None  # not its business
    for line in near_misses(samples, LONGEST):
        try:
            _match(pattern, line)
        except TimeoutError:
            return f"{line[:40]}…"
    return None


def _match(pattern: str, line: str) -> None:
    """Match with a time limit; raises `TimeoutError`."""
    timer = getattr(signal, "setitimer", None)
    if timer is None or threading.current_thread() is not threading.main_thread():
        # Its own engine is cleverer than Python's, and misses some that Python's has.
        regex.fullmatch(pattern, line, timeout=_LIMIT_S)
        return
    # Time of the processor: the wall clock depends on what else the machine does.
    before = signal.signal(signal.SIGVTALRM, _stop)
    timer(signal.ITIMER_VIRTUAL, _LIMIT_S)
    try:
        re.fullmatch(pattern, line)
    finally:
        timer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def slow(plan: Plan, samples: Sequence[str]) -> float | None:
    """Give the CPU seconds for lines of 40 kB that almost fit, when they are too many."""
    lines = pl.Series(list(near_misses(samples, _LONG))[:8], dtype=pl.String)
    begun = time.process_time()
    plan.match(lines)
    took = time.process_time() - begun
    return took if took > _LONG_LIMIT_S else None
