"""Sets one request for the screen: its way through the layers, and why its verdict."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from faultlayer import record_words, wording
from faultlayer.render import (
    Cell,
    Line,
    Table,
    cut,
    labelled,
    line,
    packed,
    tabulated,
    wrapped,
)
from faultlayer.summary import Values

_WIDE = 110
_ATTEMPTS = 10
_EVIDENCE = 8
_EXCERPT = 400
_HEAD = 2
_TAIL = 2
_STYLES = {
    "model": "red",
    "harness": "yellow",
    "quota": "magenta",
    "client": "cyan",
    "undetermined": "dim",
}
_BAD = {"error", "critical"}
_FAILED = 400
_OTHERS_MARK = "*"


def trace(values: Values, width: int) -> Iterator[Line]:
    """Give a request's records in corrected time, one a line, then its verdicts."""
    day = _day(values)
    yield from _head(values, width, day)
    yield line()
    places = record_words.short_places(values["records"])
    names = [values["request_id"] or "", *values["names"]]
    rows = [_trace_row(record, places, day, names) for record in values["records"]]
    if width >= _WIDE:
        yield from tabulated(Table(["", "", "", "", "", ""], rows, grow=4), width)
    else:
        heads = [[*row[:4], row[5]] for row in rows]
        table = tabulated(Table(["", "", "", "", ""], heads, grow=4), width)
        for first, row in zip(table, rows, strict=True):
            yield first
            text = row[4].text
            if text:
                yield line(Cell("    " + cut(text, width - 4), row[4].style))
    yield from _notes(values)
    yield line()
    for attempt in values["attempts"]:
        yield from _outcome(values, attempt, width)


def explain(values: Values, width: int) -> Iterator[Line]:
    """Give why each failed attempt of a request got its verdict."""
    day = _day(values)
    yield from _head(values, width, day)
    verdicts = {row["attempt_id"]: row for row in values["verdicts"]}
    attempts = values["attempts"]
    for attempt in attempts[:_ATTEMPTS]:
        yield line()
        verdict = verdicts.get(attempt["attempt_id"])
        yield from _attempt(attempt, day, width)
        if verdict is None:
            yield from labelled("verdict", ["did not fail, so it has none"], width, " ")
            continue
        yield from _verdict(verdict, day, width)
        yield from _findings(values, attempt["attempt_id"], width)
        yield from _evidence(values, verdict, width, day)
        for label in ("cleared", "missing"):
            for text in verdict[label] or ():
                yield from _labelled(label, text, width)
        yield from _clock(values, verdict, width)
        yield from _values(values, attempt["attempt_id"], width)
    if len(attempts) > _ATTEMPTS:
        yield line()
        left = wording.count(len(attempts) - _ATTEMPTS, "more attempt")
        yield line(f"and {left}; --attempt N explains one")
    if not attempts:
        text = "no log tells how it ended: it has records, but no attempt"
        yield line()
        yield from _labelled("verdict", text, width)
        yield from _labelled("next", "faultlayer trace CASE ID shows them", width)


def _day(values: Values) -> date | None:
    for record in values["records"]:
        if record["own"] and record["ts"]:
            return record["ts"].date()  # type: ignore[no-any-return]
    return None


def _head(values: Values, width: int, day: date | None) -> Iterator[Line]:
    name = values["request_id"] or "without an id"
    when = f"   {day} UTC" if day else ""
    yield line(Cell(f"request {name}", "bold"), when)
    facts = []
    for key, word in (
        ("user_id", "user"),
        ("project_id", "project"),
        ("tenant_id", "tenant"),
        ("model", "model"),
        ("engine", "engine"),
    ):
        found = dict.fromkeys(row[key] for row in values["attempts"] if row[key])
        if found:
            facts.append(f"{word} {', '.join(found)}")
    attempts, failed = values["of"]
    number = wording.count(attempts, "attempt")
    facts.append(f"{number}, {failed} failed" if attempts else "no attempt")
    if values["names"]:
        facts.append(f"also written {wording.listed(values['names'], 2)}")
    yield from map(line, packed(facts, width, " · "))


def _trace_row(
    record: Values, places: dict[str, str], day: date | None, names: Sequence[str]
) -> list[Cell]:
    own = record["own"]
    bad = record["severity"] in _BAD or (record["status"] or 0) >= _FAILED
    style = "" if own else "dim"
    return [
        Cell(wording.moment(record["ts"], day), style),
        Cell(record_words.error(record), "dim"),
        Cell(
            record["layer"] + ("" if own else _OTHERS_MARK),
            _STYLES.get(record["layer"], ""),
        ),
        Cell(record["kind"] or "", "bold" if bad else style),
        Cell(record_words.without_ids(record_words.what(record), names), style),
        Cell(f"{places[record_words.path_of(record)]}:{record['line']}", style),
    ]


def _notes(values: Values) -> Iterator[Line]:
    records = values["records"]
    if not all(record["own"] for record in records):
        note = f"{_OTHERS_MARK} does not name this request; a verdict cites it"
        yield line(Cell(note, "dim"))
    if any(record_words.error(record) == "±?" for record in records):
        note = "±? this clock is untied: the time is as logged; analyze --clock can tell it"
        yield line(Cell(note, "dim"))
    if any(record["borrowed"] for record in records):
        note = "about: without a stamp of its own, near the records beside it"
        yield line(Cell(note, "dim"))


def _outcome(values: Values, attempt: Values, width: int) -> Iterator[Line]:
    verdicts = {row["attempt_id"]: row for row in values["verdicts"]}
    label = f"attempt {attempt['attempt']}"
    status = f"  {attempt['status']}" if attempt["status"] is not None else ""
    verdict = verdicts.get(attempt["attempt_id"])
    if verdict is None:
        end = "ok" if not attempt["failed"] else "failed, without a verdict"
        yield line(Cell(label, "bold"), f"{status}  {end}")
        return
    yield line(
        Cell(label, "bold"), f"{status}  ", _cause(verdict), f", {_strength(verdict)}"
    )
    for text in wrapped(verdict["because"] or "", width, "    "):
        yield line(text)


def _cause(verdict: Values) -> Cell:
    return Cell(verdict["cause"], "bold " + _STYLES.get(verdict["layer"], ""))


def _strength(verdict: Values) -> str:
    if verdict["strength"] == verdict["cause"]:
        return "the logs do not settle it"
    return str(verdict["strength"])


def _attempt(attempt: Values, day: date | None, width: int) -> Iterator[Line]:
    when = (
        f"{wording.moment(attempt['ts_start'], day)}"
        f" - {wording.moment(attempt['ts_end'], day)}"
    )
    if attempt["ts_start"] and attempt["ts_end"]:
        when += f" ({wording.lasting(attempt['ts_start'], attempt['ts_end'])})"
    facts = [f"{attempt['attempt']}"]
    if attempt["status"] is not None:
        facts.append(f"status {attempt['status']}")
    facts.append(when)
    if attempt["forwarded"] is not None:
        facts.append("forwarded" if attempt["forwarded"] else "never forwarded")
    if attempt["layers_seen"]:
        facts.append(f"seen in {', '.join(attempt['layers_seen'])}")
    yield from labelled("attempt", facts, width, " · ")


def _verdict(verdict: Values, day: date | None, width: int) -> Iterator[Line]:
    yield line(
        Cell(f"{'verdict':<8}", "bold"), _cause(verdict), f", {_strength(verdict)}"
    )
    if verdict["because"]:
        yield from _labelled("", verdict["because"], width)
    if verdict["condition_id"] is not None:
        yield from _labelled("", _condition(verdict, day), width)
    if verdict["incident_id"] is not None:
        others = (verdict["incident_attempts"] or 1) - 1
        text = f"incident {verdict['incident_id']}"
        if others:
            text += f", with {wording.count(others, 'other failed attempt')}"
        if verdict["incident_onset"]:
            text += f", from {wording.moment(verdict['incident_onset'], day)}"
        if verdict["root_incident_id"] is not None:
            text += f"; it follows from incident {verdict['root_incident_id']}"
            text += f": {verdict['follows']}"
        yield from _labelled("", text, width)
    if verdict["contributing"]:
        text = f"contributing: {', '.join(verdict['contributing'])}"
        yield from _labelled("", text, width)


def _condition(verdict: Values, day: date | None) -> str:
    end = verdict["condition_end"]
    until = f"to {wording.moment(end, day)}" if end else "with no end in the logs"
    scope = " ".join(word for word in (verdict["scope_kind"], verdict["scope"]) if word)
    return (
        f"condition {verdict['condition_id']} ({scope or 'everything'}):"
        f" {wording.moment(verdict['condition_start'], day)}"
        f" {wording.error(verdict['condition_error_us'])} {until}"
    )


def _findings(values: Values, attempt_id: int, width: int) -> Iterator[Line]:
    own = [row for row in values["findings"] if row["attempt_id"] == attempt_id]
    if not own:
        yield from _labelled("rules", "none fired on this attempt", width)
    ordered = sorted(own, key=lambda row: not row["decides"])
    for number, row in enumerate(ordered):
        word = "won" if row["decides"] else "lost"
        head = f"{word:<5}{row['rule']}: {row['cause']}, {row['role']}"
        head += f", {row['strength']}"
        if row["why_not"]:
            head += f" - {row['why_not']}"
        if row["contributes"]:
            head += " (contributing)"
        yield from _labelled("" if number else "rules", head, width)
        if row["because"] and not row["decides"]:
            for text in wrapped(row["because"], width, " " * 13):
                yield line(Cell(text, "dim"))


def _evidence(
    values: Values, verdict: Values, width: int, day: date | None
) -> Iterator[Line]:
    records = {record["event_id"]: record for record in values["records"]}
    places = record_words.short_places(values["records"])
    numbers = list(verdict["evidence"] or ())
    numbers += [
        number
        for number in (verdict["condition_evidence"] or ())[:2]
        if number not in numbers
    ]
    # In corrected time; of one moment the attempt's own record last.
    cited = sorted(
        (record for number, record in records.items() if number in set(numbers)),
        key=lambda record: (
            record["ts"] is not None,
            record["ts"],
            record["event_id"] == verdict["attempt_id"],
        ),
    )
    for number, record in enumerate(cited[:_EVIDENCE]):
        where = f"{places[record_words.path_of(record)]}:{record['line']}"
        label = "" if number else "because"
        parts = [where, f"byte {record['byte_offset']}", _times(record, day)]
        yield from labelled(label, parts, width, "  ")
        for item in _excerpt(record):
            for text in wrapped(cut(item, _EXCERPT), width, " " * 10):
                yield line(Cell(text, "dim"))
    if len(cited) > _EVIDENCE:
        yield line(f"        and {len(cited) - _EVIDENCE} more records")


def _excerpt(record: Values) -> list[str]:
    """Give the lines worth showing: all of a few, the first and the last of many."""
    text = record_words.telling(record)
    if not text:
        return [record_words.what(record) or "(no text)"]
    if len(text) <= _HEAD + _TAIL + 1:
        return text
    left = len(text) - _HEAD - _TAIL
    return [*text[:_HEAD], f"… {left} lines …", *text[-_TAIL:]]


def _times(record: Values, day: date | None) -> str:
    if record["ts"] is None:
        return "without a time"
    text = f"{wording.moment(record['ts'], day)} {record_words.error(record)}"
    if record["ts"] != record["ts_raw"]:
        text += f" (logged {wording.moment(record['ts_raw'], day)})"
    return text


def _clock(values: Values, verdict: Values, width: int) -> Iterator[Line]:
    records = {record["event_id"]: record for record in values["records"]}
    cited = (*(verdict["evidence"] or ()), *(verdict["condition_evidence"] or ()))
    clocks: dict[str, str] = {}
    for number in cited:
        record: dict[str, Any] = records.get(number, {})
        if record.get("clock_id") and record.get("ts") is not None:
            clocks.setdefault(record["clock_id"], wording.error(record["ts_error_us"]))
    if verdict["clock_sensitive"]:
        text = "would change within the uncertainty of the clocks"
    elif len(clocks) > 1:
        text = "the same everywhere within the uncertainty of the clocks"
    else:
        text = "rests on one clock" if clocks else "rests on no clock"
    named = ", ".join(f"{name} {error}" for name, error in clocks.items())
    yield from _labelled("clocks", f"{text}: {named}" if named else text, width)
    for turn in values["turns"]:
        if turn["clock_id"] in clocks and turn["valid_from"] is not None:
            word = ", the reference" if turn["status"] == "reference" else ""
            when = wording.moment(turn["valid_from"], _day(values))
            note = f"{turn['clock_id']}{word}, was set or changed its pace at {when}"
            yield from _labelled("", note, width)


def _values(values: Values, attempt_id: int, width: int) -> Iterator[Line]:
    """Name the limits and thresholds that the findings of an attempt rest on."""
    rules = {
        row["rule"] for row in values["findings"] if row["attempt_id"] == attempt_id
    }
    parts = [
        f"{one['name']} {one['shown']} ({one['source']})"
        for one in values["values"]
        if rules.intersection(one["rules"])
    ]
    if parts:
        yield from labelled("values", parts, width, " · ")


def _labelled(label: str, text: str, width: int) -> list[Line]:
    return labelled(label, text.split(" "), width, " ")
