"""The report of a case as Markdown, for the page that is written after an incident."""

from collections.abc import Iterator, Sequence

from faultlayer import incident_words, postmortem, wording
from faultlayer.clock_picture import picture
from faultlayer.clock_words import clock_words, doubt, is_untied, reference_steps
from faultlayer.marked import query, table, text
from faultlayer.report_page.asked import Asked
from faultlayer.summary import Values
from faultlayer.summary_screen import books, how_sure, whom

#: Incidents that are told one by one.
_CHAINS = 20

#: Cells of a picture.
_WIDTH = 72


def markdown(asked: Asked) -> str:
    """Give the whole report; every table names the query that gives its numbers."""
    return "\n".join(_lines(asked)) + "\n"


def _lines(asked: Asked) -> Iterator[str]:
    values, answers = asked.values, asked.answers
    counts = values["attempts"]
    share = wording.percent(counts["failed"], counts["attempts"])
    yield "# Incident report"
    yield ""
    yield (
        f"{wording.count(counts['attempts'], 'attempt')}, "
        f"{wording.count(counts['failed'])} failed ({share})."
    )
    if counts["failed"]:
        when = wording.span(counts["failed_start"], counts["failed_end"])
        yield f"Failures: {when} UTC."
        yield from postmortem.impact(answers)
    yield from _causes(values)
    yield from _incidents(values)
    yield from _quiet(values)
    yield from postmortem.evidence(answers)
    yield from postmortem.ruled_out(answers)
    yield from postmortem.unknown(answers)
    yield from postmortem.retries(answers)
    yield from postmortem.outlook(answers)
    yield from _evidence(values)
    yield from postmortem.people()


def _causes(values: Values) -> Iterator[str]:
    if not values["causes"]:
        return
    yield from ("", "## Causes", "")
    yield from table(
        ("layer", "cause", "where", "attempts", "how sure", "when (UTC)", "whom"),
        [
            (
                row["layer"],
                row["cause"],
                row["scope"] or "",
                wording.count(row["attempts"]),
                how_sure(row),
                wording.span(row["ts_start"], row["ts_end"]),
                whom(row),
            )
            for row in values["causes"]
        ],
    )
    yield from query(
        "SELECT layer, cause, strength, count(*) FROM verdicts GROUP BY ALL"
    )
    missing = [
        f"{row['missing']} ({wording.count(row['attempts'], 'attempt')})"
        for row in values["missing"]
    ]
    if missing:
        yield from ("", "What would settle the undetermined ones:", "")
        yield from (f"- {text(item)}" for item in missing)


def _incidents(values: Values) -> Iterator[str]:
    if not values["incidents"]:
        return
    yield from ("", "## Incidents", "")
    yield from table(
        (
            "",
            "cause",
            "where",
            "failed",
            "share",
            "users",
            "onset (UTC)",
            "over",
            "target",
        ),
        [
            (
                str(number),
                row["cause"],
                row["scope"] or "",
                wording.count(row["attempts"]),
                "" if row["share"] is None else incident_words.part(row["share"]),
                wording.count(row["users"]),
                wording.moment(row["ts_onset"], None, 1),
                _lasting(row),
                _target(row),
            )
            for number, row in enumerate(values["incidents"], 1)
        ],
    )
    yield from (
        "",
        "Share: of the attempts that ended meanwhile at the same engine, or at all. Onset"
        " and end: the stretch in which the share of failures is above half of its mean.",
    )
    yield from query("SELECT * FROM incidents ORDER BY attempts DESC")
    numbers = {row["incident_id"]: n for n, row in enumerate(values["incidents"], 1)}
    for number, row in enumerate(values["incidents"][:_CHAINS], 1):
        yield from _incident(values, number, row, numbers)


def _lasting(row: Values) -> str:
    if row["ts_recovered"] is None:
        return "no end in the logs"
    return f"after {incident_words.seconds(row['recover_s'])}"


def _target(row: Values) -> str:
    if row["target_s"] is None:
        return ""
    words = {True: ": kept", False: ": missed", None: ""}[row["target_met"]]
    return incident_words.seconds(row["target_s"]) + words


def _incident(
    values: Values, number: int, row: Values, numbers: dict[int, int]
) -> Iterator[str]:
    """Tell one incident: whom it hit, and its chain in corrected time."""
    where = f" on {row['scope']}" if row["scope"] else ""
    yield from ("", f"### {number}. {text(row['cause'] + where)}", "")
    if row["because"]:
        yield f"{text(row['because'])}{text(_at(row['place']))}."
        yield ""
    for name, items in (
        ("users", row["some_users"]),
        ("models", row["models"]),
        ("routes", row["routes"]),
    ):
        if items:
            more = row["users"] - len(items) if name == "users" else 0
            rest = f" and {wording.count(more)} more" if more > 0 else ""
            yield f"- {name}: {text(', '.join(items))}{rest}"
    if row["retries"]:
        yield f"- {wording.count(row['retries'])} of its failures were retries"
    if row["named_s"] is not None:
        named = incident_words.after(row["named_s"])
        yield f"- first named {named}{text(_at(row['place']))}"
    if row["detect_s"] is not None:
        noticed = incident_words.after(row["detect_s"])
        yield f"- first noticed {noticed}{text(_at(row['noticed_place']))}"
    if row["root_incident_id"] in numbers:
        sure = "" if row["follows_certainly"] else "; the clocks leave the order open"
        root = numbers[row["root_incident_id"]]
        yield f"- follows from incident {root}: {text(row['follows'])}{sure}"
    yield ""
    yield from table(
        ("when (UTC)", "within", "step", "cause", "failed", "what", "at"),
        [
            (
                wording.moment(one["ts"], None, 3),
                wording.error(one["ts_error_us"]),
                one["kind"]
                + (", order open" if one["after_certainly"] is False else ""),
                one["cause"],
                "" if one["attempts"] is None else wording.count(one["attempts"]),
                one["because"] or "",
                one["place"] or "",
            )
            for one in values["cascades"]
            if one["incident_id"] == row["incident_id"]
        ],
    )


def _at(place: str | None) -> str:
    return f" ({place})" if place else ""


def _quiet(values: Values) -> Iterator[str]:
    if not values["conditions"]:
        return
    yield from ("", "## Trouble that no failed attempt was put down to", "")
    yield from table(
        ("cause", "where", "when (UTC)", "shown by", "at"),
        [
            (
                row["cause"],
                row["scope"] or "",
                wording.span(row["ts_start"], row["ts_end"]),
                row["because"] or "",
                row["place"] or "",
            )
            for row in values["conditions"]
        ],
    )
    yield from query("SELECT * FROM conditions WHERE role = 'root'")


def _evidence(values: Values) -> Iterator[str]:
    yield from (
        "",
        "## What was read",
        "",
        f"{books(values['conservation'])} lines.",
        "",
    )
    yield from table(
        ("file", "format", "lines", "events", "rejected", "clock", "trouble"),
        [
            (
                row["path"],
                wording.format_of(row),
                wording.count(row["lines"] or 0),
                wording.count(row["events"] or 0),
                wording.count(row["rejects"] or 0),
                row["clock_id"] or "",
                "; ".join(row["problems"] or ()),
            )
            for row in values["sources"]
        ],
    )
    yield from query("SELECT * FROM sources")
    if values["lost"] or values["skipped"]:
        yield from ("", "## Not read", "")
        yield from (
            f"- {text(item['path'])}: {text(item['reason'])}"
            for item in (*values["lost"], *values["skipped"])
        )
    yield from _clocks(values)
    if values["assumed"]:
        yield from ("", "## Assumed", "")
        yield from (f"- {text(item)}" for item in values["assumed"])
    yield from _values(values)


def _values(values: Values) -> Iterator[str]:
    """List the numbers that verdicts rest on, and who says them."""
    if not values["values"] and not values["layers"]:
        return
    yield from ("", "## Limits, thresholds and targets", "")
    yield from table(
        ("what", "value", "said by", "meaning", "failed attempts"),
        [
            (
                f"{one['section']}.{one['name']}",
                one["shown"],
                one["source"],
                one["title"],
                wording.count(one["attempts"]),
            )
            for one in values["values"]
        ],
    )
    yield from (
        f"\n{text(glob)} counts to {layer}, says {place}."
        for glob, (layer, place) in values["layers"].items()
    )


def _clocks(values: Values) -> Iterator[str]:
    """Tell of each clock what it is off by, and what contradicts that."""
    by_clock: dict[str, list[Values]] = {}
    for segment in values["clocks"]:
        by_clock.setdefault(segment["clock_id"], []).append(segment)
    if not by_clock:
        return
    checks = {check["clock_id"]: check for check in values["clock_checks"]}
    yield from ("", "## Clocks", "")
    yield from (
        f"- {text(clock_words(segments, None))}" for segments in by_clock.values()
    )
    yield from (f"- {words}" for words in reference_steps([*by_clock.values()], None))
    for name, segments in by_clock.items():
        if name in checks or len(segments) > 1:
            yield from ("", f"### {text(name)}", "")
            yield from _clock(segments, checks.get(name))
    yield from query("SELECT * FROM clocks")


def _clock(segments: Sequence[Values], check: Values | None) -> Iterator[str]:
    if not is_untied(segments):
        yield from table(
            ("from (UTC)", "ahead by", "drift", "requests", "agree", "how"),
            [
                (
                    wording.moment(one["valid_from"], None, 1)
                    if one["valid_from"]
                    else "the start",
                    wording.offset(one["offset_us"], one["time_zone_us"] or 0)
                    + f" {wording.error(doubt(one))}",
                    f"{one['drift_ppm'] or 0:+.1f} ppm",
                    wording.count(one["pairs"] or 0),
                    "" if one["support"] is None else f"{one['support']:.1%}",
                    f"{one['status']}: {one['method']}",
                )
                for one in segments
            ],
        )
        drawn = picture(segments, _WIDTH)
        if drawn:
            yield from ("", "```", *drawn, "```")
    if check is not None and check["constraints"]:
        total = check["constraints"]
        logged = wording.percent(check["violated_as_logged"], total)
        words = f"Of {wording.count(total)} constraints of shared requests {logged}"
        words += " are violated by the stamps as logged"
        if not is_untied(segments):
            corrected = wording.percent(check["violated_corrected"], total)
            words += f", {corrected} after correction"
        yield from ("", f"{words}.")
