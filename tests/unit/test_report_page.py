"""The HTML report keeps hostile logs out, and says what is absent, in both languages."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from tests.unit import conftest

from faultlayer import report
from faultlayer.case import Case
from faultlayer.cli import run
from faultlayer.errors import AssetError
from faultlayer.report_page import asked, catalogue, page

Rows = list[dict[str, Any]]
Build = Callable[..., Case]

SCRIPT = "<script>alert(1)</script>"
QUOTED = "\"'><svg onload=alert(2)>"
STEERING = "\x1b[31mred\x07 \u202eabc\x00"
HIDDEN = "api_key=abcdef0123456789"


def html(case: Case, lang: str = "en", name: str = "case") -> str:
    """Give the page of a case."""
    return page.html(asked.ask(case), name, lang)


def test_hostile_logs_are_text(build_case: Build) -> None:
    """Markup, quotes, escapes and secrets in every place that a log can fill."""
    evil = f"{SCRIPT}{QUOTED}{STEERING}{HIDDEN}"
    events = conftest.default_events()
    tables = conftest.default_tables()
    sources = conftest.default_sources()
    for event in events:
        event.update(message=evil, user_agent=evil, kind=event["kind"])
    for source in sources:
        source.update(path=f"logs/{evil}", problems=[evil], clock_id=evil)
    for clock in tables["clocks"]:
        clock.update(clock_id=evil + clock["clock_id"], method=evil)
    attempt = tables["attempts"][0]
    attempt.update(user_id=evil, model=evil, engine=evil, request_id=evil)
    tables["verdicts"][0].update(
        because=evil,
        request_id=evil,
        contributing=[evil],
        cleared=[f"quota: {evil}"],
        missing=[evil],
    )
    tables["conditions"][0].update(scope=evil, because=evil)
    tables["incidents"][0].update(scope=evil, some_users=[evil], routes=[evil])
    rejects = [
        {"source_id": 1, "line": 9, "byte_offset": 0, "byte_length": 1, "reason": evil}
    ]
    case = build_case(events=events, sources=sources, rejects=rejects, **tables)
    text = html(case, name=evil)
    assert "alert(1)" in text
    assert "<script" not in text
    assert "<svg onload" not in text
    assert not re.search(r"<[^>]*\son\w+\s*=", re.sub(r'"[^"]*"', '""', text))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert "abcdef0123456789" not in text
    written = report.markdown(asked.ask(case))
    assert "&lt;script" in written
    assert not re.search("<|[\x00-\x08\x0b-\x1f\x7f\u202e]", written)
    assert "abcdef0123456789" not in written


@pytest.mark.parametrize("lang", catalogue.LANGUAGES)
def test_a_case_without_anything(build_case: Build, lang: str) -> None:
    """Without attempts, verdicts and clocks the page says so, and has no chart."""
    nothing: dict[str, Rows] = {
        name: []
        for name in (
            *("events", "sources", "clocks", "aliases", "attempts"),
            *("conditions", "findings", "verdicts", "incidents"),
        )
    }
    text = html(build_case(**nothing), lang)
    assert catalogue.say(lang, "sentence.nothing") in text
    assert "<svg" not in text


def test_stamps_of_all_times(build_case: Build) -> None:
    """From 1970 to 9999: the charts are useless then, but they are drawn."""
    attempts = conftest.default_tables()["attempts"]
    attempts[0].update(ts_start=datetime(1970, 1, 1), ts_end=datetime(1970, 1, 1))  # noqa: DTZ001
    attempts[1].update(ts_end=datetime(9999, 12, 31, 23, 59))  # noqa: DTZ001
    text = html(build_case(attempts=attempts))
    assert text.count('role="img"') >= 3


def test_every_query_of_the_page_is_sound() -> None:
    """A title in words, an order before each limit, a first-of with an order."""
    for query in asked.statements():
        text = re.sub("--.*", "", query.statement)
        assert not query.title[0].islower()
        assert not query.title.endswith(".")
        assert re.search("[\u4e00-\u9fff]", query.header["title zh"])
        assert not re.search(r"\b(first|last|arbitrary)\s*\(|\$\w", text), query.name
        for match in re.finditer(r"\bLIMIT\b", text):
            assert "ORDER BY" in text[: match.start()].rpartition("SELECT")[2]


def test_the_small_case(build_case: Build) -> None:
    """One failed attempt of two: its incident, its evidence, what is missing."""
    text = html(build_case())
    assert "engine_dead" in text
    assert "record 2 of engine.log" in text
    assert "balance 0.12 stamped 40 s before" in text
    assert "harness.upstream_closed" in text


def test_the_markdown_has_an_outlook(build_case: Build) -> None:
    """Pools that will be full, and the limit against what can run, where it is known."""
    found = asked.ask(build_case())
    assert "## Outlook" not in report.markdown(found)
    pool = {
        "level": "user",
        "pool": "u-1",
        "used_ratio": 0.675,
        "crossing_ts": None,
        "crossing_earliest_ts": conftest.START,
    }
    bound = {
        "bound": "worker threads",
        "at_once": 2,
        "least": True,
        "configured": 200,
        "how": "worker_threads = 2",
    }
    for name, row in (("quota_forecast", pool), ("real_concurrency", bound)):
        found.answers[name] = replace(found.answers[name], rows=[row])
    text = report.markdown(found)
    assert "| user u-1 | 67.5% | not within reach | 2026-11-30 14:20:00 |" in text
    assert (
        "at once: 2 by worker threads (worker\\_threads = 2); configured limit: 200"
        in text
    )


def test_the_markdown_has_the_same_sections(build_case: Build) -> None:
    """Impact, evidence, what is ruled out and open, and room for people."""
    text = report.markdown(asked.ask(build_case()))
    heads = re.findall("(?m)^## (.*)$", text)
    assert heads[:4] == ["Impact", "Causes", "Incidents", "Evidence"]
    assert {"Ruled out", "Not known", "Retries and quota", "Trigger"} < set(heads)
    assert "| attempts | 1 | 2 |" in text
    assert "- Failed attempts that the logs do not explain: 0" in text
    assert "| model.engine\\_dead | logs/engine.log:2 |" in text


def test_users_that_no_log_names_are_not_known(build_case: Build) -> None:
    """Nobody hit, and nobody named, are two things."""
    attempts = conftest.default_tables()["attempts"]
    for attempt in attempts:
        attempt.update(user_id=None)
    case = build_case(attempts=attempts)
    said = "No log names users: their 0 means not known."
    assert said in html(case)
    assert said in report.markdown(asked.ask(case))
    assert "No log names models" not in html(case)


def test_every_text_is_in_every_language() -> None:
    """No language lacks a text, and the parts to be filled in are the same."""
    for key, spoken in catalogue.texts().items():
        assert list(spoken) == list(catalogue.LANGUAGES), key
        parts = [
            sorted(name for _, name, _, _ in Formatter().parse(text) if name)
            for text in spoken.values()
        ]
        assert parts[0] == parts[1], key
        assert all(text.strip() for text in spoken.values()), key


def test_an_unknown_text_is_an_error_of_ours() -> None:
    """A template cannot ask for what is not there and print nothing."""
    with pytest.raises(AssetError, match=r"no text page\.nonsense in zh"):
        catalogue.say("zh", "page.nonsense")


def test_the_command_writes_it(
    build_case: Build, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """By the name of the file; --lang is for the page alone."""
    case = str(build_case().path)
    target = tmp_path / "r.html"
    assert run(["report", case, "-o", str(target), "--lang", "zh"]) == 0
    assert 'lang="zh-Hans"' in target.read_text("utf-8")
    assert run(["report", case, "--lang", "zh"]) == 2
    assert "add -o FILE.html" in capfd.readouterr().err
