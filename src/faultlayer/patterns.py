"""Reads the patterns of a format file; what they compile to is made when it is needed."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import polars as pl

from faultlayer import format_keys, regex_faults, schema
from faultlayer.compile import (
    GROUP,
    JsonShape,
    PatternError,
    Plan,
    json_plan,
    regex_plan,
)
from faultlayer.definitions import Reader, path_of
from faultlayer.dialects import apache, envoy, haproxy, nginx, python_logging
from faultlayer.dialects.template import Layout
from faultlayer.literals import Hint, hint, pieces
from faultlayer.quoted import log_regex, quote_plan, tokens
from faultlayer.shape import Extract, Pattern

COLUMNS: Final = {column.name: column.type for column in schema.EVENTS_RAW}
_ONE_OF: Final = ", ".join(format_keys.SHAPES)


@dataclass(frozen=True, slots=True)
class Read:
    """A pattern, and what its template says of the fields, when it has a template."""

    pattern: Pattern
    layout: Layout | None


def patterns(
    reader: Reader,
    top: Mapping[str, Any],
    kind: str | None,
    drop: frozenset[str],
    *,
    trusted: bool,
) -> Iterator[Read]:
    """Read `[[pattern]]`; what is not `trusted` is compiled at once."""
    tables = reader.tables_of(top, "pattern", format_keys.names(format_keys.PATTERN))
    if not tables:
        reader.wrong("no [[pattern]]")
    for nth, table in enumerate(tables):
        shapes = [key for key in format_keys.SHAPES if key in table]
        if len(shapes) != 1:
            reader.wrong(
                f"a pattern has one of {_ONE_OF}",
                "[[pattern]]",
                nth=nth,
                at=path_of(table),
            )
            continue
        shape = shapes[0]
        try:
            said = _said(reader, table, shape, drop)
            make = said.make if trusted else partial(untrusted, said.make())
        except PatternError as error:
            _tell(reader, error, table, shape, nth)
            continue
        yield Read(
            Pattern(
                name=reader.text_of(table, "name", str(nth + 1)),
                names=said.names,
                make=make,
                hinted=said.hinted,
                pieces=said.pieces,
                json=said.json,
                kind=reader.text_of(table, "kind") or kind,
                fixed=reader.table(table.get("set", {}), "set", tuple(COLUMNS)),
                weak=reader.flag_of(table, "weak"),
                single=reader.flag_of(table, "single"),
                shared=reader.flag_of(table, "shared"),
                more=reader.flag_of(table, "more"),
                programs=reader.texts_of(table, "programs"),
                rest=reader.flag_of(table, "rest"),
                until=_until(reader, table, nth),
            ),
            said.layout,
        )


def _until(reader: Reader, table: Mapping[str, Any], nth: int) -> str:
    """Read the regex of a closing line; one that is wrong is a problem, and none."""
    until = reader.text_of(table, "until")
    try:
        re.compile(until)
        pl.Series([""]).str.contains(until)
    except (re.error, pl.exceptions.ComputeError) as error:
        why = str(error).splitlines()[-1]
        reader.wrong(f"until: {why}", "until", nth=nth)
        return ""
    return until


def untrusted(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """Leave lines to polars alone: its regexes take linear time, those of Python may not.

    Raises PatternError for a regex that Python refuses: the rest of the world knows it.
    """
    for plan in plans:
        plan.may_take("")
    return tuple(replace(plan, may_take=_always) for plan in plans)


def _always(_: str) -> bool:
    return True


def _tell(
    reader: Reader, error: PatternError, table: Mapping[str, Any], key: str, nth: int
) -> None:
    message, index, hint = str(error), getattr(error, "index", 0), ""
    if key == "regex":
        regex = "".join(reader.texts_of(table, key))
        found = regex_faults.fault(regex, message)
        message, index, hint = found.message, found.index, found.hint
    at = path_of(table, key)
    reader.wrong(message, "[[pattern]]", nth=nth, at=at, index=index, hint=hint)


@dataclass(frozen=True, slots=True)
class Said:
    """What a pattern says: its fields, what makes its plans and its hint, its pieces."""

    names: tuple[str, ...]
    make: Callable[[], tuple[Plan, ...]]
    hinted: Callable[[], Hint]
    pieces: Callable[[], Sequence[tuple[str, str]]] = tuple
    json: JsonShape | None = None
    layout: Layout | None = None


def _said(
    reader: Reader, table: Mapping[str, Any], shape: str, drop: frozenset[str]
) -> Said:
    if shape == "json":
        return _of_json(json_shape(reader, table))
    if shape == "regex":
        regex = "".join(reader.texts_of(table, "regex"))
        return Said(
            names=tuple(dict.fromkeys(GROUP.findall(regex))),
            make=partial(_regex_plans, (regex,)),
            hinted=partial(hint, regex),
            pieces=lambda: [(piece, piece) for piece in pieces(regex)],
        )
    if shape == "log_format":
        text = "".join(reader.texts_of(table, "log_format"))
        return of_log_format(text, reader.text_of(table, "escape", "default"), drop)
    return of_layout(_layout(reader, table, shape))


def _layout(reader: Reader, table: Mapping[str, Any], shape: str) -> Layout:
    if shape == "envoy_format":
        value = table[shape]
        if isinstance(value, list):
            value = "".join(reader.texts_of(table, shape))
        return envoy.layout(value)
    text = "".join(reader.texts_of(table, shape))
    if shape == "haproxy_format":
        return haproxy.layout(text)
    if shape == "apache_format":
        return apache.layout(text)
    return python_logging.layout(text, reader.text_of(table, "datefmt"))


def of_log_format(text: str, escape: str, drop: frozenset[str] = frozenset()) -> Said:
    """Give what a `log_format` says; raises `PatternError` when it cannot be read."""
    layout = nginx.layout(text, escape)
    if layout.json is not None or escape != "default":
        return of_layout(layout)
    # The strict reading: it splits at quotes, so every variable is found for certain.
    found = [token.name for token in tokens(text) if token.name]
    return Said(
        names=tuple(name for name in found if name not in drop),
        make=partial(_quote_plans, text, drop),
        hinted=lambda: hint(log_regex(text)),
        pieces=lambda: [(part.source, part.regex) for part in layout.parts],
        layout=layout,
    )


def of_layout(layout: Layout) -> Said:
    """Give what a template's layout says."""
    if layout.json is not None:
        return _of_json(layout.json, layout)
    return Said(
        names=layout.names,
        make=partial(_regex_plans, layout.regexes),
        hinted=partial(hint, layout.regexes[-1]),
        pieces=lambda: [(part.source, part.regex) for part in layout.parts],
        layout=layout,
    )


def _of_json(shape: JsonShape, layout: Layout | None = None) -> Said:
    groups: list[tuple[str, ...]] = []
    if not shape.list_key:
        groups += [(key,) for key in (*shape.require, *shape.values)]
        groups += [group for group in (*shape.any_of, shape.one_of) if group]
    # In quotes, as objects have them.
    spelled = tuple(tuple(f'"{key}"' for key in group) for group in groups)
    seen = Hint("", r"[\s\[{]", r"[\s\[{]", spelled)
    return Said(
        names=_json_names(shape),
        make=partial(_json_plans, shape),
        hinted=lambda: seen,
        json=shape,
        layout=layout,
    )


def _regex_plans(regexes: tuple[str, ...]) -> tuple[Plan, ...]:
    return tuple(regex_plan(regex) for regex in regexes)


def _quote_plans(log_format: str, drop: frozenset[str]) -> tuple[Plan, ...]:
    return (quote_plan(log_format, drop), regex_plan(log_regex(log_format)))


def _json_plans(shape: JsonShape) -> tuple[Plan, ...]:
    return (json_plan(shape),)


def _json_names(shape: JsonShape) -> tuple[str, ...]:
    found = (
        *(*shape.keys, *shape.require, *shape.one_of, *shape.forbid),
        *(key for group in shape.any_of for key in group),
        *shape.values,
    )
    names = dict.fromkeys(found)
    if shape.list_key:
        names[shape.list_key] = None
    if not names:
        msg = "json names no key"
        raise PatternError(msg)
    return tuple(names)


def json_shape(reader: Reader, table: Mapping[str, Any]) -> JsonShape:
    """Read `json` of a pattern."""
    json = reader.table(table["json"], "json", format_keys.names(format_keys.JSON))
    values = json.get("values", {})
    return JsonShape(
        require=reader.texts_of(json, "require"),
        one_of=reader.texts_of(json, "one_of"),
        any_of=reader.groups_of(json, "any_of"),
        forbid=reader.texts_of(json, "forbid"),
        keys=reader.texts_of(json, "keys"),
        values={key: reader.texts_of(values, key) for key in values},
        list_key=reader.text_of(json, "list_key"),
    )


def extracts(
    reader: Reader, top: Mapping[str, Any], *, trusted: bool
) -> Iterator[Extract]:
    """Read `[[extract]]`."""
    tables = reader.tables_of(top, "extract", format_keys.names(format_keys.EXTRACT))
    for nth, table in enumerate(tables):
        regex = "".join(reader.texts_of(table, "regex"))
        names = tuple(dict.fromkeys(GROUP.findall(regex)))
        one = Extract(
            reader.text_of(table, "from", "message"), names, partial(regex_plan, regex)
        )
        try:
            if not trusted:
                _ = one.plan
        except PatternError as error:
            _tell(reader, error, table, "regex", nth)
            continue
        yield one
