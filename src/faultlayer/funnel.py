"""The funnel: model, harness and quota in order, each check passed, failed or blind."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import duckdb

from faultlayer import (
    assets,
    database,
    incident_words,
    investigations,
    queries,
    render,
    summary,
    wording,
)
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
        targets = summary.rows(con, _TARGETS, window)
        capacity = _capacity(con)
        shapes = _shapes(con, window)
        span = summary.rows(con, _SPAN, window)[0]
    failing = [one["layer"] for one in checks if one["result"] == "fail"]
    return {
        "case": str(case.path),
        "since": since,
        "until": until,
        "start": failing[0] if failing else None,
        "undetermined": open_,
        "checks": checks,
        "targets": targets,
        "capacity": capacity,
        "shapes": shapes,
        "span": span,
    }


def _capacity(con: duckdb.DuckDBPyConnection) -> Values:
    """Give the real concurrency of the whole case against the configured limit."""
    one = investigations.pick(investigations.load(), "real_concurrency")
    bounds = summary.rows(con, one.query.statement)
    least = next((bound for bound in bounds if bound["least"]), None)
    result = "no evidence"
    if least is not None and least["configured"] is not None:
        result = "pass" if least["fits"] else "fail"
    return {"result": result, "bounds": bounds}


def _shapes(con: duckdb.DuckDBPyConnection, window: Values) -> list[Values]:
    """Give the shapes of the greatest incidents of a window that say something."""
    one = investigations.pick(investigations.load(), "shape")
    found = summary.rows(con, one.query.statement, one.values([]))
    within = {row["incident_id"] for row in summary.rows(con, _WITHIN, window)}
    return [row for row in found if row["support"] and row["incident_id"] in within]


_WITHIN: Final = """
SELECT incident_id
FROM incidents
WHERE ts_start <= $until AND coalesce(ts_end, ts_start) >= $since
"""

_SPAN: Final = """
SELECT
    count(*) FILTER (
        WHERE ts_start <= $until AND coalesce(ts_end, ts_start) >= $since
    ) AS attempts,
    min(ts_start) AS ts_start,
    max(coalesce(ts_end, ts_start)) AS ts_end
FROM attempts
"""

_UNDETERMINED: Final = """
SELECT count(*) AS attempts
FROM verdicts
INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
WHERE
    verdicts.layer = 'undetermined'
    AND attempts.ts_start <= $until
    AND coalesce(attempts.ts_end, attempts.ts_start) >= $since
"""


_TARGETS: Final = """
SELECT
    layer,
    max(target_s) AS target_s,
    count(*) AS incidents,
    count(*) FILTER (WHERE target_met) AS kept,
    count(*) FILTER (WHERE NOT target_met) AS missed,
    max(recover_s) AS longest_s
FROM incidents
WHERE
    target_s IS NOT NULL
    AND ts_start <= $until
    AND coalesce(ts_end, ts_start) >= $since
GROUP BY layer
ORDER BY layer
"""


def screen(values: Values, width: int) -> Iterator[Line]:
    """Set the checks, and say where to begin."""
    case = wording.quoted(values["case"])
    for layer in _LAYERS:
        yield render.line(Cell(layer, "bold"), *_target(values["targets"], layer))
        for check in values["checks"]:
            if check["layer"] == layer:
                yield from _check(check, width)
    yield render.line(Cell("capacity", "bold"))
    yield from _fit(values["capacity"], width)
    if values["shapes"]:
        yield render.line(Cell("shape", "bold"))
        for row in values["shapes"][:_FEW]:
            yield _shape(row, width)
    yield render.line("")
    if values["undetermined"]:
        number = wording.count(values["undetermined"], "failed attempt")
        yield render.line(
            f"{number} undetermined: no check counts them; what is missing:"
        )
        yield render.line(f"  faultlayer query {case} undetermined")
    yield from _outside(values)
    start = values["start"]
    if start is None:
        yield render.line(_nothing(values))
        return
    failing = [
        one
        for one in values["checks"]
        if one["layer"] == start and one["result"] == "fail"
    ]
    first = next((one for one in failing if one["failed_attempts"]), failing[0])
    yield render.line(
        "begin with ",
        Cell(start, "bold"),
        f": {first['ask']}; what is below may follow",
    )
    if first["example"]:
        yield render.line(f"  faultlayer explain {case} {first['example']}")


def _outside(values: Values) -> Iterator[Line]:
    """Say of a window without attempts when the attempts of the case were."""
    span = values["span"]
    if span["ts_start"] is not None and not span["attempts"]:
        when = wording.span(span["ts_start"], span["ts_end"])
        yield render.line(f"no attempt in this window; those of the case: {when} UTC")


def _target(targets: Sequence[Values], layer: str) -> Iterator[str]:
    """Say how many incidents of a layer were over in time."""
    for row in targets:
        if row["layer"] == layer:
            number = wording.count(row["incidents"], "incident")
            target = incident_words.seconds(row["target_s"])
            open_ = row["incidents"] - row["kept"] - row["missed"]
            said = [f"{row['kept']} over within {target}"] if row["kept"] else []
            said += (
                [f"{row['missed']} not over within {target}"] if row["missed"] else []
            )
            said += [f"{open_} not known"] if open_ else []
            yield f"  {number}: {', '.join(said)}"


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
            words.append(f"from {wording.moment(check['first_ts'], None, 0)}")
    elif check["result"] == "no evidence":
        words.append("no log tells")
    yield from _marked(check["result"], check["title"], words, width)


def _marked(result: str, title: str, words: list[str], width: int) -> Iterator[Line]:
    """Set a result with its title and all there is to say, in as many lines."""
    said = [f"{title}: {words[0]}", *words[1:]] if words else [title]
    texts = render.packed(said, max(width - _MARGIN, _NARROW), " · ")
    for number, text in enumerate(texts):
        mark = Cell(" " * len(_MARKS[result].text)) if number else _MARKS[result]
        yield render.line("  ", mark, f"  {text}")


def _fit(capacity: Values, width: int) -> Iterator[Line]:
    """Set whether the harness lets in more than the machine can run."""
    words = [_said(one) for one in capacity["bounds"] if one["least"]]
    configured = [one["configured"] for one in capacity["bounds"]]
    if words and configured[0] is not None:
        words.insert(0, f"{configured[0]} configured")
    title = "the limit is no more than can run at once"
    yield from _marked(capacity["result"], title, words or ["no log tells"], width)


def _said(bound: Values) -> str:
    return f"{bound['at_once']} by {bound['bound']} ({bound['how']})"


def _shape(row: Values, width: int) -> Line:
    """Say how an incident looks, and whether that is what its verdicts say."""
    mark = Cell(f"{row['support']:<11}", _STYLES[row["support"]])
    whom = row["pool"] if row["shape"] == "one pool" else None
    of = f" ({whom})" if whom else ""
    text = f"  {row['cause']}: {row['shape']}{of}, which speaks for {row['speaks_for']}"
    return render.line("  ", mark, render.cut(text, max(width - 13, _NARROW)))


_STYLES: Final = {"supports": "green", "suggests": "yellow", "contradicts": "yellow"}
_NARROW: Final = 24
_MARGIN: Final = 15  # the mark, and blanks on both sides of it


def _nothing(values: Values) -> str:
    results: dict[str, set[str]] = {}
    for check in values["checks"]:
        results.setdefault(check["layer"], set()).add(check["result"])
    blind = [layer for layer, said in results.items() if said == {"no evidence"}]
    partly = [one for one, said in results.items() if said > {"no evidence"}]
    text = "no check fails"
    text += f"; nothing is known of {wording.listed(blind, _FEW)}" if blind else ""
    return text + (f"; not all of {wording.listed(partly, _FEW)}" if partly else "")
