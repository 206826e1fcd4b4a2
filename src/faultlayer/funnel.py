"""The funnel: model, harness and quota in order, each check passed, failed or blind."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from faultlayer import assets, database, queries, render, summary, wording
from faultlayer.case import Case
from faultlayer.render import Cell, Line
from faultlayer.summary import Values

_MARKS: Final = {
    "pass": Cell("pass       ", "green"),
    "fail": Cell("FAIL       ", "bold red"),
    "no evidence": Cell("no evidence", "yellow"),
}
_LAYERS: Final = ("model", "harness", "quota")
_FEW: Final = 3
# A day within what SQL can count, naive as all times of a case.
_FIRST: Final = datetime(1970, 1, 2)  # noqa: DTZ001
_LAST: Final = datetime(9999, 12, 30)  # noqa: DTZ001


def gather(
    case: Case, since: datetime | None = None, until: datetime | None = None
) -> Values:
    """Give the checks of a case, or of a window of it (naive UTC), in their order.

    `start` is the first layer that fails, None when none does.
    """
    (query,) = queries.load(assets.builtin("queries"), "checks")
    window = {"since": since or _FIRST, "until": until or _LAST}
    with database.reading(case.path) as con:
        checks = summary.rows(con, query.statement, window)
        open_ = summary.rows(con, _UNDETERMINED, window)[0]["attempts"]
    failing = [one["layer"] for one in checks if one["result"] == "fail"]
    return {
        "case": str(case.path),
        "since": since,
        "until": until,
        "start": failing[0] if failing else None,
        "undetermined": open_,
        "checks": checks,
    }


_UNDETERMINED: Final = """
SELECT count(*) AS attempts
FROM verdicts
INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
WHERE
    verdicts.layer = 'undetermined'
    AND attempts.ts_start <= $until
    AND coalesce(attempts.ts_end, attempts.ts_start) >= $since
"""


def screen(values: Values, width: int) -> Iterator[Line]:
    """Set the checks, and say where to begin."""
    for layer in _LAYERS:
        yield render.line(Cell(layer, "bold"))
        for check in values["checks"]:
            if check["layer"] == layer:
                yield from _check(check, width)
    yield render.line("")
    if values["undetermined"]:
        number = wording.count(values["undetermined"], "failed attempt")
        yield render.line(f"{number} undetermined: no check counts them")
    start = values["start"]
    if start is None:
        yield render.line(_nothing(values))
        return
    first = next(c for c in values["checks"] if c["result"] == "fail")
    yield render.line(
        "begin with ",
        Cell(start, "bold"),
        f": {first['ask']}; what is below may follow",
    )
    if first["example"]:
        yield render.line(f"  faultlayer explain {values['case']} {first['example']}")


def _check(check: Values, width: int) -> Iterator[Line]:
    words = []
    if check["result"] == "fail":
        if check["failed_attempts"]:
            words.append(wording.count(check["failed_attempts"], "failed attempt"))
        names = [cause.partition(".")[2] for cause in check["causes"]]
        words.append(wording.listed(names, _FEW))
        if check["scopes"]:
            words.append(wording.listed(check["scopes"], _FEW))
        if check["first_ts"] is not None:
            words.append(f"from {wording.moment(check['first_ts'])}")
    elif check["result"] == "no evidence":
        words.append("no log tells")
    head = render.line("  ", _MARKS[check["result"]], f"  {check['title']}")
    if not words:
        yield head
        return
    text = render.cut(" · ".join(words), max(width - head.cell_len - 2, _NARROW))
    yield render.line("  ", _MARKS[check["result"]], f"  {check['title']}: {text}")


_NARROW: Final = 24


def _nothing(values: Values) -> str:
    blind = [c["layer"] for c in values["checks"] if c["result"] == "no evidence"]
    layers = list(dict.fromkeys(blind))
    rest = f"; nothing is known of {wording.listed(layers, _FEW)}" if layers else ""
    return f"no check fails{rest}"
