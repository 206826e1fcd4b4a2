"""Screens fit their width, say what the case holds, and take no text for markup."""

import io
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from rich.cells import cell_len
from tests.unit import conftest

from faultlayer import (
    database,
    dossier,
    dossier_screen,
    record_words,
    render,
    summary,
    summary_screen,
)
from faultlayer.case import Case
from faultlayer.render import Table

Build = Callable[..., Case]
START = datetime(2026, 11, 30, 14, 20)  # noqa: DTZ001 - cases hold UTC without a zone


def text_of(lines: Iterable[render.Line]) -> list[str]:
    """Give the lines as a pipe would get them."""
    file = io.StringIO()
    render.put(render.console(file), lines)
    return file.getvalue().splitlines()


def gathered(case: Case, text: str) -> dict[str, Any]:
    """Read a request of a case."""
    con = database.connect()
    database.attach_views(con, case.path)
    values = dossier.gather(con, text)
    assert values is not None
    return values


def test_a_table_is_aligned() -> None:
    """Numbers to the right, text to the left, wide characters counted as two."""
    table = Table(["name", "n"], [("日本", "7"), ("a", "1,000")], right=frozenset({1}))
    assert text_of(render.tabulated(table, None)) == [
        "name      n",
        "日本      7",
        "a     1,000",
    ]


def test_a_table_is_cut_to_its_width() -> None:
    """What is lost is marked."""
    table = Table(["a", "text"], [("1", "x" * 50)], grow=1)
    lines = text_of(render.tabulated(table, 20))
    assert lines[1] == "1  " + "x" * 16 + "…"


def test_a_wide_row_is_stacked() -> None:
    """A line a column; what is NULL is named at the end."""
    table = Table(["a", "long", "b"], [("1", render.NULL, "x" * 30)])
    assert not render.fits(table, 20)
    assert text_of(render.stacked(table, 20)) == [
        "row 1",
        "  a     1",
        "  b     " + "x" * 11 + "…",
        "  NULL: long",
    ]


def test_markup_is_text() -> None:
    """A log line that looks like markup or an emoji is printed as it stands."""
    text = "[red]x[/red] :smile: [link=http://x]y[/link]"
    assert text_of([render.line(text)]) == [text]


def test_a_pipe_gets_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where an environment asks for it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert text_of([render.line(render.Cell("x", "bold red"))]) == ["x"]


def test_summary(build_case: Build) -> None:
    """The screen of the small case, word for word."""
    values = summary.gather(build_case()) | {"case": "./case"}
    assert text_of(summary_screen.screen(values, 120, seconds=6.1)) == [
        "case    ./case   2 files, 401 bytes, 5 lines in 6.1 s",
        "read    nginx 1 · vllm 1",
        "lines   5 = 4 in events + 0 continuations + 0 rejected + 1 blank",
        "clocks  clock-1 is the reference · clock-2 -1.5 s ±4 ms",
        "",
        "2 attempts 2026-11-30 14:20:03 - 14:20:06 UTC, 1 failed (50 %)"
        " 14:20:03 - 14:20:05",
        "",
        "layer  failed  cause             n  when               how sure      whom",
        "model       1  engine_dead  e-0  1  14:20:03-14:20:05  corroborated"
        "  u-7, demo-7b",
        "",
        "1   14:20:05.5  model.engine_dead on e-0 (engine.log:2) -> the engine reports"
        " its own death -> 1 failed, 1 user, demo-7b",
        "    -> no end in the logs",
        "",
        "next    faultlayer explain ./case 7f26411e    faultlayer report ./case"
        "    faultlayer sql ./case",
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_screens_fit(build_case: Build, width: int) -> None:
    """No line of any screen is longer than the terminal is wide."""
    case = build_case()
    values = summary.gather(case) | {"case": "./case"}
    request = gathered(case, "7f26411e")
    for lines in (
        summary_screen.screen(values, width),
        dossier_screen.trace(request, width),
        dossier_screen.explain(request, width),
    ):
        too_long = [text for text in text_of(lines) if cell_len(text) > width]
        assert [text for text in too_long if "7f26411e-1f0a" not in text] == []


class Gone(io.StringIO):
    """What is left of a pipe when its reader has gone."""

    def write(self, text: str) -> int:
        """Take nothing."""
        raise BrokenPipeError(text)


def test_a_reader_that_goes_is_no_fault() -> None:
    """It is told as the system tells it, for the command line to end quietly."""
    with pytest.raises(BrokenPipeError):
        render.put(render.console(Gone()), ["a", "b"])


def test_an_empty_case_says_so(build_case: Build) -> None:
    """Nothing understood is told as that, and nothing is divided by zero."""
    empty: dict[str, list[Any]] = {name: [] for name in summary_tables()}
    values = summary.gather(build_case(events=[], **empty))
    lines = text_of(summary_screen.screen(values, 80))
    assert (
        "no attempt found: no access log among the files that were understood" in lines
    )
    assert not any("formats new" in line for line in lines)  # no file, no format


def test_what_nobody_understood_is_the_next_to_look_at(build_case: Build) -> None:
    """With attempts it is worth a look; without any, a format is to be written."""
    sources = conftest.default_sources()
    sources[0].update(events=0, rejects=9, format=None, reason=None)
    said = " ".join(_shown(build_case(sources=sources)))
    assert "faultlayer query ./case rejects" in said
    assert "formats new" not in said
    nothing: dict[str, list[Any]] = {name: [] for name in summary_tables()}
    nothing["sources"] = sources
    said = " ".join(_shown(build_case(events=[], **nothing)))
    assert "faultlayer formats new --from FILE" in said


def _shown(case: Case) -> list[str]:
    values = summary.gather(case) | {"case": "./case"}
    return text_of(summary_screen.screen(values, 200))


def summary_tables() -> list[str]:
    """Give the tables that the small case fills."""
    return [
        "sources",
        "clocks",
        "aliases",
        "attempts",
        "conditions",
        "findings",
        "verdicts",
        "incidents",
    ]


def test_files_that_are_not_understood_are_named(build_case: Build) -> None:
    """By name, as is what was wrong with a file."""
    sources = [
        {"source_id": 1, "path": "logs/notes.txt", "bytes": 9, "lines": 1, "events": 0,
         "rejects": 1, "blank_lines": 0, "blank_bytes": 0},
        {"source_id": 2, "path": "logs/a.gz", "bytes": 0, "lines": 0, "events": 0,
         "rejects": 0, "problems": ["gzip stream truncated"]},
    ]  # fmt: skip
    lines = text_of(
        summary_screen.screen(
            summary.gather(build_case(events=[], sources=sources)), 80
        )
    )
    assert "read    not recognised 1: logs/notes.txt · empty 1" in lines
    assert "trouble logs/a.gz: gzip stream truncated" in lines


def test_trace(build_case: Build) -> None:
    """Every record in corrected time, those of the condition marked."""
    lines = text_of(dossier_screen.trace(gathered(build_case(), "7f26411e"), 120))
    assert [line.split("  ")[0] for line in lines[3:6]] == [
        "14:20:03.500",
        "14:20:05.500",
        "14:20:05.500",
    ]
    assert lines[5].split() == [
        "14:20:05.500", "±5", "ms", "model*", "engine_dead", "record", "2", "of",
        "engine.log", "engine.log:2",
    ]  # fmt: skip
    assert lines[-2] == "attempt 1  502  model.engine_dead, corroborated"


def test_explain(build_case: Build) -> None:
    """What won, what lost and why, the evidence with its place, what is missing."""
    lines = text_of(dossier_screen.explain(gathered(build_case(), "7f26411e"), 120))
    assert lines[4:] == [
        "verdict model.engine_dead, corroborated",
        "        engine e-0 was dead from 14:20:05.500",
        "        condition 1 (engine e-0): 14:20:05.500 ±? with no end in the logs",
        "        incident 1, from 14:20:05.500",
        "        contributing: harness.upstream_closed",
        "rules   won  engine_dead: model.engine_dead, root, corroborated",
        "        lost bad_gateway: harness.upstream_closed, symptom, inferred"
        " - a symptom gives way to a root (contributing)",
        "             502 after the upstream was reached",
        "because engine.log:2  byte 100  14:20:05.500 ±5 ms (logged 14:20:04.000)",
        "          record 2 of engine.log",
        "        harness_access.log:1  byte 0  14:20:05.500 ±1 ms",
        "          record 1 of harness_access.log",
        "cleared quota: balance 0.12 stamped 40 s before",
        "missing harness: no application log covers 14:20",
        "clocks  the same everywhere within the uncertainty of the clocks:"
        " clock-2 ±5 ms, clock-1 ±1 ms",
    ]


def test_no_secret_and_no_escape_reaches_a_screen(build_case: Build) -> None:
    """A hostile message is masked and disarmed in trace and explain."""
    hostile = "\x1b[2Jkey sk-abcdefgh12345678 prompt: 'my plan' \u202eevil"
    case = build_case()
    con = database.connect()
    database.attach_views(con, case.path)
    names = [column.name for column in database.VIEWS["events_raw"]]
    found = con.execute("SELECT * FROM events_raw ORDER BY event_id").fetchall()
    events = [
        dict(zip(names, row, strict=True)) | {"message": hostile} for row in found
    ]
    values = gathered(build_case(events=events), "7f26411e")
    for screen in (dossier_screen.trace, dossier_screen.explain):
        whole = "\n".join(text_of(screen(values, 120)))
        assert "key sk-*** prompt: [9 chars] evil" in whole
        assert "\x1b" not in whole
        assert "abcdefgh" not in whole


def test_places_are_as_short_as_they_can_be() -> None:
    """Two files of one name are told apart by their folders."""
    records = [
        {"path": path, "member": None}
        for path in ("logs/a/h.log", "logs/b/h.log", "logs/b/x.log", "h.log")
    ]
    assert record_words.short_places(records) == {
        "logs/a/h.log": "a/h.log",
        "logs/b/h.log": "b/h.log",
        "logs/b/x.log": "x.log",
        "h.log": "h.log",
    }


def test_the_end_of_an_incident_is_told_in_words(build_case: Build) -> None:
    """An end in the logs gives the length of the trouble, and what the target was."""
    case = build_case()
    con = database.connect()
    database.attach_views(con, case.path)
    names = [column.name for column in database.VIEWS["incidents"]]
    [row] = con.execute("SELECT * FROM incidents").fetchall()
    ended = dict(zip(names, row, strict=True)) | {
        "ts_recovered": START + timedelta(minutes=4, seconds=9.5),
        "recover_s": 244.0,
        "target_met": True,
        "ts_noticed": START + timedelta(seconds=6.5),
        "noticed_by": 10**10 + 2,
        "detect_s": 1.0,
        "retries": 3,
        "root_incident_id": 1,
        "follows": "3 of its 4 had failed there before",
    }
    values = summary.gather(build_case(incidents=[ended]))
    whole = " ".join(text_of(summary_screen.screen(values, 400)))
    assert (
        " -> follows from 1: 3 of its 4 had failed there before -> 1 failed, 1 user,"
        " demo-7b -> 3 of them retries -> noticed after 1 s (harness_access.log:2)"
        " -> over at 14:24:09.5 after 4 min 4 s (target 5 min: kept)" in whole
    )


def test_times_are_not_cut() -> None:
    """Where a table does not fit, texts give way, and numbers and times do not."""
    table = render.Table(
        ["ts", "n", "text"],
        [["2026-11-30 14:20:05.5", "12345", "x" * 40]],
        right=frozenset({1}),
        whole=frozenset({0}),
    )
    assert render.fits(table, 42)
    assert not render.fits(table, 41)
    assert render.tabulated(table, 45)[1].plain == (
        "2026-11-30 14:20:05.5  12345  xxxxxxxxxxxxxx…"
    )
