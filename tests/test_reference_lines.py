"""One line of each kind that programs write is recognised by itself and read rightly."""

import re
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from faultlayer import detect, find, lines, parse
from faultlayer.blocks import Block

TABLE = Path(__file__).with_name("reference_lines.toml")


@cache
def table() -> tuple[dict[str, Any], ...]:
    """Give the lines, each with the event that it must become."""
    return tuple(tomllib.loads(TABLE.read_text("utf-8"))["line"])


@cache
def definitions() -> parse.Definitions:
    """Give the built-in definitions."""
    return parse.load_definitions()


def read(texts: list[str], folder: Path) -> list[dict[str, Any]]:
    """Give the events of a file that has these lines; none may be lost."""
    file = folder / "any.log"
    file.write_text("\n".join(texts) + "\n", "utf-8")
    [source] = find.find([str(file)]).sources
    detection = parse.sniff(source, definitions())
    places = folder / "events.parquet", folder / "rejects.parquet"
    result = parse.parse_source(
        source, detection, definitions(), parse.ParseOptions(2026), *places
    )
    assert result.rejects == 0, pl.read_parquet(places[1]).to_dicts()
    events = pl.read_parquet(places[0]).to_dicts()
    return [
        {**event, "format": result.format, "wrapper": result.wrapper}
        for event in events
    ]


def differences(event: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Give what an event has otherwise than expected, by name."""
    given = dict(event)
    wanted = dict(expected)
    attrs = pl.Series([given.pop("attrs")], dtype=pl.String)
    for name, value in wanted.pop("attrs", {}).items():
        wanted[f"attrs.{name}"] = str(value)
        found = attrs.str.json_path_match(f"$.{name}")[0]
        number = isinstance(value, int | float) and found is not None
        given[f"attrs.{name}"] = str(type(value)(float(found))) if number else found
    return {
        name: (given.get(name), value)
        for name, value in wanted.items()
        if given.get(name) != value
    }


def recognised(text: str) -> tuple[str, str | None]:
    """Give the format and the wrapper that are found for a line."""
    [source] = [Block(f"{text}\n".encode(), 0, 1, last=True)]
    found = detect.choose(lines.lines_of(source), definitions())
    names = [choices[0][0] for choices in found.streams.values() if choices]
    return names[0] if names else "program", found.wrapper


@pytest.mark.deep
def test_each_line_by_itself_becomes_its_event(tmp_path: Path) -> None:
    """Nobody says what it is; format, time, kind and fields are right.

    Lines with a date are recognised one by one, and read with those like them.
    """
    groups: defaultdict[tuple[object, ...], list[dict[str, Any]]] = defaultdict(list)
    wrong: dict[str, object] = {}
    for number, one in enumerate(table()):
        expected = one["event"]
        known = expected["format"], expected.get("wrapper")
        day = re.search(r"2026|\d\d-\d\d (?=\d\d:\d\d:)", one["text"])
        if day is None or "ts_raw" not in expected or "document" in one:
            groups[number, *known].append(one)
            continue
        groups[day[0], *known].append(one)
        if recognised(one["text"]) != known:
            wrong[one["text"]] = recognised(one["text"])
    for group in groups.values():
        events = read([one["text"] for one in group], tmp_path)
        assert len(events) == len(group), group
        for one, event in zip(group, events, strict=True):
            if found := differences(event, one["event"]):
                wrong[one["text"]] = found
    assert wrong == {}


@pytest.mark.parametrize("name", ["status", "kind", "attrs.xid"])
def test_a_wrong_expectation_is_noticed(name: str) -> None:
    """The comparison would not pass everything."""
    event = {"status": 200, "kind": "access", "attrs": '{"xid":79}'}
    wanted: dict[str, Any] = {"status": 200, "kind": "access", "attrs": {"xid": 79}}
    assert differences(event, wanted) == {}
    if name == "attrs.xid":
        wanted["attrs"] = {"xid": 31}
    else:
        wanted[name] = 0
    assert list(differences(event, wanted)) == [name]
