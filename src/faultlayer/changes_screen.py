"""Sets what differs between two cases for the screen: most surprising first."""

from collections.abc import Iterator, Sequence
from typing import Final

from faultlayer import changes, wording
from faultlayer.changes import Change, Comparison
from faultlayer.masking import shown
from faultlayer.render import Cell, Line, Table, line, tabulated, wrapped

_STYLES: Final = {"new": "red", "rose": "red", "gone": "green", "fell": "green"}
_SECTIONS: Final = {
    changes.SURE: "more than chance",
    changes.BURSTS: "in bursts: too many for chance, but a burst or two make them",
    changes.FEW: "on one side only, but few enough to be chance",
    changes.UNTESTED: "conditions that one side alone has",
}
_WORDS: Final = {"layer": "layer", "model": "model", "user_id": "user", "route": "on"}
_MEASURES: Final = {"p50 ms": "median duration", "p95 ms": "95 of 100 take up to"}


def screen(
    found: Comparison, names: tuple[str, str], width: int, *, everything: bool
) -> Iterator[Line]:
    """Give the lines about a comparison of two sides called `names`."""
    yield from _head(found, names)
    if found.total is None:
        for name, attempts in zip(names, found.attempts, strict=True):
            if not attempts:
                yield line(Cell(f"{shown(name)} has no attempts", "bold"))
        yield line("nothing to compare")
        return
    parts = [change for change in found.found if change.part_of is not None]
    told = [(text, _of(found, certainty)) for certainty, text in _SECTIONS.items()]
    told += _more(found, parts) if everything else []
    yield line()
    if told[0][1]:
        count = wording.count(found.tested, "comparison")
        yield from _plain(f"more than chance, corrected for {count}", width, bold=True)
        yield from _rows(told[0][1], width)
    else:
        yield line(Cell("no difference that is more than chance", "bold"))
    for text, rows in told[1:]:
        if rows:
            yield line()
            yield from _plain(text, width, bold=True)
            yield from _rows(rows, width)
    if parts and not everything:
        yield line()
        count = wording.count(len(parts), "more row is", "more rows are")
        yield from _plain(f"{count} about the same failures; --all shows them", width)


def _more(found: Comparison, parts: list[Change]) -> list[tuple[str, list[Change]]]:
    return [
        ("the same failures, seen otherwise", parts),
        ("as it was, or changed by no more than chance", found.rest),
    ]


def about(change: Change) -> str:
    """Say in words what a change is about."""
    keys = {key: shown(value) for key, value in change.keys.items() if value}
    words = [keys["cause"]] if "cause" in keys else []
    words += [
        f"{word} {keys[key]}"
        for key, word in _WORDS.items()
        if key in keys and not (key == "layer" and "cause" in keys)
    ]
    if change.measure in _MEASURES:
        words.append(_MEASURES[change.measure])
    return ", ".join(words) or "all attempts"


def _of(found: Comparison, certainty: str) -> list[Change]:
    return [
        change
        for change in found.found
        if change.certainty == certainty and change.part_of is None
    ]


def _head(found: Comparison, names: tuple[str, str]) -> Iterator[Line]:
    total = found.total
    failed = (int(total.base), int(total.case)) if total else (0, 0)
    for label, name, attempts, bad in zip(
        ("BASE", "CASE"), names, found.attempts, failed, strict=True
    ):
        share = wording.percent(bad, attempts)
        text = f"  {shown(name)}  {wording.count(attempts, 'attempt')}"
        text += f", {wording.count(bad)} failed, {share}" if total else ""
        yield line(Cell(label, "bold"), text)
    if total and total.low is not None:
        level = f"{100 * (1 - found.alpha):g} %"
        text = f"{_gap(total)} of attempts failed"
        yield line(f"      {text}; in brackets: {level} interval")


def _rows(rows: Sequence[Change], width: int) -> Iterator[Line]:
    wide: list[list[str | Cell]] = [
        [
            Cell(str(change.number or change.part_of or "")),
            Cell(change.change, _STYLES.get(change.change, "")),
            about(change),
            *_values(change),
            _difference(change),
            _bounds(change),
        ]
        for change in rows
    ]
    table = Table(["", "", "", "BASE", "CASE", "", ""], wide, frozenset({0, 3, 4, 5}))
    lines = tabulated(table, None)
    if all(each.cell_len <= width for each in lines):
        yield from lines
        return
    for change in rows:
        number = change.number or change.part_of
        head = [Cell(f"{number} ") if number else Cell("")]
        head += [Cell(change.change, _STYLES.get(change.change, "")), Cell(" ")]
        first, *more = wrapped(about(change), width - 12, "")
        yield line(*head, first)
        base, case = _values(change)
        for text in (*more, f"{base} -> {case}", _gap(change)):
            yield from _plain(text, width, "    ")


def _gap(change: Change) -> str:
    return f"{_difference(change)} {_bounds(change)}"


def _plain(
    text: str, width: int, indent: str = "", *, bold: bool = False
) -> Iterator[Line]:
    for part in wrapped(text.strip(), width, indent):
        yield line(Cell(part, "bold" if bold else ""))


def _values(change: Change) -> tuple[str, str]:
    if change.measure != changes.FAILED:
        unit = "" if change.measure == changes.CONDITIONS else " ms"
        return f"{change.base:,.0f}{unit}", f"{change.case:,.0f}{unit}"
    return (
        _share(change.base, change.base_attempts),
        _share(change.case, change.case_attempts),
    )


def _share(failed: float, attempts: int | None) -> str:
    share = wording.percent(int(failed), attempts or 0)
    return f"{share} ({failed:,.0f} of {attempts or 0:,})"


def _difference(change: Change) -> str:
    if change.measure == changes.CONDITIONS:
        return ""
    if change.measure == changes.FAILED:
        gap = change.level(change.case, change.case_attempts) - change.level(
            change.base, change.base_attempts
        )
        return f"{_signed(gap)} points"
    return f"x {change.case / change.base:.2f}" if change.base else ""


def _bounds(change: Change) -> str:
    if change.low is None or change.high is None:
        return ""
    if change.measure == changes.FAILED:
        return f"({_signed(change.low)} to {_signed(change.high)})"
    return f"({change.low:+,.0f} to {change.high:+,.0f} ms)"


def _signed(share: float) -> str:
    points = 100 * share
    digits = 1 if abs(points) >= 0.1 else 2 if abs(points) >= 0.01 else 3  # noqa: PLR2004
    text = f"{points:+.{digits}f}"
    return "0" if not text.strip("+-0.") else text
