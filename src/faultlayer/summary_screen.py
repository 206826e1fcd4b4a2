"""Sets the summary of a case for a reader who has had a bad night."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date

from faultlayer import incident_words, no_logs, wording
from faultlayer.clock_picture import picture
from faultlayer.clock_words import clock_words, is_untied, reference_steps
from faultlayer.render import (
    Cell,
    Line,
    Table,
    cell_len,
    cut,
    labelled,
    line,
    tabulated,
    wrapped,
)
from faultlayer.summary import Values

_POD_UID = re.compile(r"_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CLOCKS = 8
_CAUSES = 14
_SCOPE = 40
_STYLES = {
    "model": "red",
    "harness": "yellow",
    "quota": "magenta",
    "client": "cyan",
    "undetermined": "dim",
}


def screen(
    values: Values, width: int, *, seconds: float | None = None, full: bool = False
) -> Iterator[Line]:
    """Give the lines of the summary; with `full` nothing is left out for brevity."""
    yield from _what_was_read(values, width, seconds)
    yield from _clocks(values, width, full=full)
    for assumed in values["assumed"]:
        yield from labelled("assumed", assumed.split(" "), width, " ")
    for label, parts in (("default", defaults(values)), ("told", told(values))):
        if parts:
            yield from labelled(label, parts, width, " · ")
    if full:
        yield from _pictures(values, width)
    yield line()
    yield from _how_many(values, width)
    if values["causes"]:
        yield line()
        yield from _causes(values, width, full=full)
    if values["incidents"]:
        yield line()
        yield from incident_words.chains(values, width, _day(values), full=full)
    yield from _others(values, width, full=full)
    yield line()
    yield from _next(values, width)


def defaults(values: Values) -> list[str]:
    """Name the defaults that had a part in a verdict: `slow_s 10 s`."""
    return [
        f"{one['name']} {one['shown']}"
        for one in values["values"]
        if one["source"] == "default"
    ]


def told(values: Values) -> list[str]:
    """Name what a configuration file of ours says, with file and line."""
    given = [
        f"{'target of ' if one['section'] == 'targets' else ''}{one['name']}"
        f" {one['shown']} ({one['source']})"
        for one in values["values"]
        if one["told"]
    ]
    layers = [
        f"{glob} is of {layer} ({place})"
        for glob, (layer, place) in values["layers"].items()
    ]
    replaced = [f"rule {name} is replaced" for name in values["replaced"]]
    return given + layers + replaced


def _day(values: Values) -> date | None:
    start = values["attempts"]["ts_start"]
    return start.date() if start else None


def _what_was_read(values: Values, width: int, seconds: float | None) -> Iterator[Line]:
    sources = values["sources"]
    account = values["conservation"]
    read = [
        wording.count(len(sources), "file"),
        wording.size(sum(source["bytes"] or 0 for source in sources)),
        wording.count(account.get("lines", 0), "line"),
    ]
    took = f" in {seconds:.1f} s" if seconds is not None else ""
    if seconds is not None and values["taken_over"]:
        took += f", {wording.count(values['taken_over'], 'file')} as read before"
    yield from labelled(
        "case", [values["case"] + "  ", ", ".join(read) + took], width, " "
    )
    known = [source for source in sources if source["events"]]
    formats = Counter(source["format"] or "?" for source in known)
    parts = [
        f"{name} {number}"
        for name, number in sorted(
            formats.items(), key=lambda item: (-item[1], item[0])
        )
    ]
    strange = [s["path"] for s in sources if wording.is_strange(s)]
    if strange:
        parts.append(f"not recognised {len(strange)}: {wording.listed(strange, 3)}")
    others = [s["path"] for s in sources if no_logs.is_one(s["reason"])]
    if others:
        parts.append(f"no logs {len(others)}: {wording.listed(others, 3)}")
    empty = [s for s in sources if not s["events"] and not s["rejects"]]
    if empty:
        parts.append(f"empty {len(empty)}")
    yield from labelled("read", parts, width, " · ")
    doubtful = [
        f"{source['path']}: "
        + wording.percent(source["rejects"], source["events"] + source["rejects"])
        + " not understood"
        for source in known
        if wording.is_doubtful(source)
    ]
    damaged = [
        f"{source['path']}: {problem}"
        for source in sources
        for problem in wording.damage(source["problems"])
    ]
    lost = [f"{item['path']}: {item['reason']}" for item in values["lost"]]
    skipped = [f"{item['path']}: {item['reason']}" for item in values["skipped"]]
    for label, texts in (("trouble", lost + doubtful + damaged), ("skipped", skipped)):
        for text in texts[:6]:
            yield from labelled(label, text.split(" "), width, " ")
        if len(texts) > 6:  # noqa: PLR2004
            yield line(f"        and {len(texts) - 6} more")
    copies = [s["path"] for s in sources if wording.is_copy(s["problems"])]
    if copies:
        what = f"counted once, {len(copies)}: {wording.listed(copies, 3)}"
        yield from labelled("twice", what.split(" "), width, " ")
    yield from labelled("lines", [books(account)], width, " ")
    for off in account.get("off", []):
        text = off.get("problem") or (
            f"{off['path']}: {off['lines']} lines, {off['booked_lines']} accounted for;"
            f" {off['bytes']} bytes, {off['booked_bytes']} accounted for"
        )
        yield line(Cell("books   ", "bold red"), Cell(text, "red"))


def books(account: Values) -> str:
    """Give the sum of the lines: `12 = 9 in events + ...`."""
    further = account.get("continuation_lines", 0)
    # Elements of an array may all stand on one line.
    rest = f" + {wording.count(further)} continuations"
    if further < 0:
        rest = f" - {wording.count(-further)} that share a line"
    return (
        f"{wording.count(account.get('lines', 0))} ="
        f" {wording.count(account.get('event_records', 0))} in events"
        f"{rest}"
        f" + {wording.count(account.get('reject_lines', 0))} rejected"
        f" + {wording.count(account.get('blank_lines', 0))} blank"
    )


def _clocks(values: Values, width: int, *, full: bool) -> Iterator[Line]:
    """Name the clocks of stamped sources, the untied ones together at the end."""
    by_clock = _by_clock(values)
    words = []
    untied = []
    for short, segments in by_clock:
        if is_untied(segments):
            untied.append(short)
        else:
            words.append(clock_words(segments, _day(values), short))
    if len(words) > _CLOCKS and not full:
        words = [*words[:_CLOCKS], f"{len(words) - _CLOCKS} more"]
    words += reference_steps([segments for _, segments in by_clock], _day(values))
    if untied:
        limit = len(untied) if full else _CLOCKS
        words.append(f"untied: {wording.listed(untied, limit)}")
    if words:
        yield from labelled("clocks", words, width, " · ")


def _by_clock(values: Values) -> list[tuple[str, list[Values]]]:
    """Give the clocks of stamped sources: a short name, and the segments."""
    found: dict[str, list[Values]] = {}
    for segment in values["clocks"]:
        if segment["sources"]:
            found.setdefault(segment["clock_id"], []).append(segment)
    heads = {name.partition("/")[0] for name in found}
    shared = f"{heads.pop()}/" if len(heads) == 1 else ""
    return [
        (_POD_UID.sub("", name.removeprefix(shared)) or name, segments)
        for name, segments in found.items()
    ]


def _pictures(values: Values, width: int) -> Iterator[Line]:
    """Draw the clocks that requests tie, those with most requests first."""
    tied = [item for item in _by_clock(values) if item[1][0]["pairs"]]
    tied.sort(key=lambda item: -sum(one["pairs"] for one in item[1]))
    for name, segments in tied[:_CLOCKS]:
        drawn = picture(segments, width - 8)
        if drawn:
            yield line()
            yield line(Cell(cut(f"{name} {drawn[0]}", width), "bold"))
            yield from (line(" " * 8 + row) for row in drawn[1:])


def _how_many(values: Values, width: int) -> Iterator[Line]:
    counts = values["attempts"]
    if not counts["attempts"]:
        text = "no attempt found: no access log among the files that were understood"
        for item in wrapped(text, width):
            yield line(Cell(item, "bold"))
        return
    failed = counts["failed"]
    share = wording.percent(failed, counts["attempts"])
    when = wording.span(counts["ts_start"], counts["ts_end"])
    text = f"{wording.count(counts['attempts'], 'attempt')} {when} UTC, "
    text += f"{wording.count(failed)} failed ({share})" if failed else "none failed"
    if failed:
        day = _day(values)
        text += f" {wording.span(counts['failed_start'], counts['failed_end'], day)}"
    if cell_len(text) > width:
        text = text.replace("UTC, ", "UTC,\n")
    for item in text.split("\n"):
        yield line(Cell(item, "bold"))


def how_sure(row: Values) -> str:
    """Give the strengths of a group: `28 proven, 612 corroborated`."""
    kinds = ("proven", "corroborated", "inferred", "undetermined")
    there = [kind for kind in kinds if row[kind]]
    if there == ["undetermined"]:
        return ""
    if len(there) == 1:
        return there[0]
    return ", ".join(f"{wording.count(row[kind])} {kind}" for kind in there)


def whom(row: Values) -> str:
    """Give who was hit: `41 users, demo-7b`."""
    parts = []
    users = [user for user in row["some_users"] or () if user]
    if row["users"] > 2:  # noqa: PLR2004
        parts.append(wording.count(row["users"], "user"))
    elif users:
        parts.append(", ".join(users))
    served = [name for name in row["some_models"] or () if name]
    if row["models"] > 2:  # noqa: PLR2004
        parts.append(f"{row['models']} models")
    elif served:
        parts.append(", ".join(served))
    return ", ".join(parts)


def _causes(values: Values, width: int, *, full: bool) -> Iterator[Line]:
    causes = values["causes"]
    given = causes if full else causes[:_CAUSES]
    rows = list(_cause_rows(causes, given, _day(values)))
    wide = Table(
        ["layer", "failed", "cause", "n", "when", "how sure", "whom"],
        rows,
        right=frozenset({1, 3}),
    )
    lines = tabulated(wide, None)
    if max(cell_len(item.plain.rstrip()) for item in lines) <= width:
        yield from lines
    else:
        narrow = Table(wide.headers[:5], [row[:5] for row in rows], wide.right, grow=2)
        head, *lines = tabulated(narrow, width)
        indent = head.plain.index(wide.headers[2])
        yield head
        for first, row in zip(lines, rows, strict=True):
            yield first
            note = ", ".join(cell.text for cell in row[5:] if cell.text)
            if note:
                yield line(Cell(" " * indent + cut(note, width - indent), "dim"))
    for text in _missing(values):
        yield from map(line, wrapped(text, width, " " * 8))
    if len(causes) > len(given):
        yield line(f"and {len(causes) - len(given)} more: faultlayer report")


def _cause_rows(
    causes: list[Values], given: list[Values], day: date | None
) -> Iterator[list[Cell]]:
    totals: Counter[str] = Counter()
    for row in causes:
        totals[row["layer"]] += row["attempts"]
    layer = ""
    for row in given:
        name = row["cause"].removeprefix(f"{row['layer']}.")
        if row["scope"]:
            name += f"  {cut(row['scope'], _SCOPE)}"
        if row["layer"] == "undetermined":
            name = "the logs do not settle it"
        first = row["layer"] != layer
        layer = row["layer"]
        yield [
            Cell(layer if first else "", _STYLES.get(layer, "")),
            Cell(wording.count(totals[layer]) if first else ""),
            Cell(name),
            Cell(wording.count(row["attempts"])),
            Cell(wording.span(row["ts_start"], row["ts_end"], day).replace(" - ", "-")),
            Cell(how_sure(row)),
            Cell(whom(row)),
        ]


def _missing(values: Values) -> list[str]:
    items = [
        f"{row['missing']} ({wording.count(row['attempts'])})"
        for row in values["missing"]
    ]
    return [f"missing: {wording.listed(items, 3)}"] if items else []


def _others(values: Values, width: int, *, full: bool) -> Iterator[Line]:
    quiet = values["conditions"]
    limit = len(quiet) if full else 3
    day = _day(values)
    texts = [
        f"{row['cause']}{' on ' + row['scope'] if row['scope'] else ''}"
        f"{' (' + row['place'] + ')' if row['place'] else ''},"
        f" {wording.span(row['ts_start'], row['ts_end'], day)}:"
        " no failed attempt was put down to it"
        + (" (its clock is untied)" if row["clock_status"] == "untied" else "")
        for row in quiet[:limit]
    ]
    if len(quiet) > limit:
        texts.append(f"{len(quiet) - limit} more such conditions: faultlayer report")
    texts += [
        f"{row['cause']}, {wording.count(row['attempts'], 'attempt')}: {row['because']}"
        for row in values["findings"]
    ]
    if texts:
        yield line()
    for text in texts:
        yield from labelled("also", text.split(" "), width, " ")


def _next(values: Values, width: int) -> Iterator[Line]:
    case = wording.quoted(values["case"])
    given = [f"faultlayer explain {case} {name}" for name in values["example"]]
    # Logs that nobody understood may be the very ones that are missing.
    if any(wording.is_strange(one) for one in values["sources"]):
        given.append(f"faultlayer query {case} rejects")
        if not values["attempts"]["attempts"]:
            given.append("faultlayer formats new --from FILE")
    given += [f"faultlayer report {case}", f"faultlayer sql {case}"]
    for item in labelled("next", given, width, "    "):
        yield line(Cell(cut(item.plain, max(width, 200)), "green"))
