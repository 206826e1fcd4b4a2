"""Loads the format files of `parsers/`: what a line of each program looks like."""

import re
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import Any, Final

from faultlayer import definitions, schema
from faultlayer.compile import (
    JsonShape,
    PatternError,
    Plan,
    json_plan,
    log_regex,
    quote_plan,
    regex_plan,
)
from faultlayer.definitions import Reader
from faultlayer.errors import DefinitionError, Location
from faultlayer.shape import (
    Extract,
    Field,
    Format,
    Pattern,
    Sample,
    Stamp,
    Upstream,
)
from faultlayer.tables import SPLITS, Table

__all__ = ["Field", "Format", "Pattern", "Sample", "load", "names_in", "read"]

LAYERS: Final = ("model", "harness", "quota")
FOLDERS: Final = ("harness", "model", "quota", "host")
FRAMINGS: Final = ("line", "traceback", "prefix")
COLUMNS: Final = {column.name: column.type for column in schema.EVENTS_RAW}
# Set by the parser from where the record stands, never by a format.
_PLACES: Final = frozenset(
    [
        "event_id",
        "source_id",
        "line",
        "lines",
        "byte_offset",
        "byte_length",
        "ts_raw",
        "ts_precision_us",
        "borrowed",
        "kinds",
        "raw_request_id",
        "attrs",
        "upstream_hops",
        "forwarded",
    ]
)
# Names that fields may have besides event columns: they steer framing and signatures.
_SPECIAL: Final = frozenset({"level", "process", "header", "trace"})
KINDS: Final = ("", "number", "ratio", "time", "duration")
EPOCHS: Final = ("epoch_s", "epoch_ms", "epoch_us", "uptime_s")


_TOP: Final = [
    "format",
    "table",
    "time",
    "pattern",
    "fields",
    "attrs",
    "upstream",
    "reason",
    "extract",
    "sample",
    "reject",
]
_HEAD: Final = [
    "name",
    "layer",
    "component",
    "title",
    "url",
    "misses",
    "framing",
    "kind",
    "weak",
    "shares",
    "pairs",
    "engine_ids",
    "escapes",
    "raw_json",
    "drop",
]
_PATTERN: Final = [
    "name",
    "log_format",
    "regex",
    "json",
    "kind",
    "set",
    "weak",
    "single",
    "shared",
    "more",
]
_UPSTREAM: Final = ["connect", "header", "response", "peer", "scale"]
_FIELD: Final = ["from", "scale", "as", "values", "join"]
_MARKS: Final = ("", "start", "end")
_JSON: Final = ["require", "one_of", "forbid", "keys", "values", "list_key"]


def load(root: Traversable) -> list[Format]:
    """Load all format files below a folder, by name.

    Raises `DefinitionError` for one problem, an `ExceptionGroup` of them for several.
    """
    formats: list[Format] = []
    problems: list[DefinitionError] = []
    for folder, file in _files(root):
        reader = Reader(f"parsers/{folder}/{file.name}", file.read_text("utf-8"))
        loaded = read(reader.path, reader.text, folder, reader=reader)
        problems += reader.problems
        if loaded:
            formats.append(loaded)
    names = [one.name for one in formats]
    for one in formats:
        if names.count(one.name) > 1:
            at = Location(one.path, 1)
            problems.append(DefinitionError(f"two formats are {one.name}", at=at))
        problems += [
            DefinitionError(
                f"shares names an unknown format {name}", at=Location(one.path)
            )
            for name in one.shares
            if name not in names
        ]
    definitions.raise_all(problems, "definitions are wrong")
    return sorted(formats, key=lambda one: one.name)


def _files(root: Traversable) -> Iterator[tuple[str, Traversable]]:
    for folder in FOLDERS:
        here = root / folder
        if here.is_dir():
            for file in sorted(here.iterdir(), key=lambda one: one.name):
                if file.name.endswith(".toml"):
                    yield folder, file


def read(
    path: str, text: str, folder: str, *, reader: Reader | None = None
) -> Format | None:
    """Read one format file; without a `reader`, raise `DefinitionError` on problems."""
    own = reader or Reader(path, text)
    top = own.parsed()
    loaded = _format(own, top, folder) if top is not None else None
    if reader is None:
        definitions.raise_all(own.problems, "problems")
    return None if own.problems else loaded


def _format(reader: Reader, raw: dict[str, Any], folder: str) -> Format:
    top = reader.table(raw, "the file", _TOP)
    head = reader.table(top.get("format", {}), "format", _HEAD)
    for key in ("name", "layer", "component", "title"):
        if key not in head:
            reader.wrong(f"[format] lacks {key}", "[format]")
    name = reader.text_of(head, "name")
    stem = reader.path.rpartition("/")[2].removesuffix(".toml")
    if name and name != stem:
        reader.wrong(f"name {name!r} is not that of the file", "name")
    layer = reader.text_of(head, "layer")
    if layer and (layer not in LAYERS or (folder in LAYERS and folder != layer)):
        hint = f"a file in {folder}/ has layer {folder!r}" if folder in LAYERS else ""
        reader.wrong(f"layer {layer!r} does not fit", "layer", hint=hint)
    framing = reader.text_of(head, "framing", "line")
    if framing not in FRAMINGS:
        reader.wrong(f"framing must be one of {', '.join(FRAMINGS)}", "framing")
    kind = reader.text_of(head, "kind") or None
    drop = frozenset(reader.texts_of(head, "drop"))
    patterns = tuple(_patterns(reader, top, kind, drop))
    upstream = reader.table(top.get("upstream", {}), "upstream", _UPSTREAM)
    groups = {group for pattern in patterns for group in pattern.plans[0].fields}
    extracts = tuple(_extracts(reader, top))
    groups |= {group for extract in extracts for group in extract.plan.fields}
    fields = dict(_fields(reader, top, "fields", groups))
    for column in fields:
        if column in _PLACES or column not in {*COLUMNS, *_SPECIAL}:
            reader.wrong(f"fields has no event column {column!r}", column)
    loaded = Format(
        name=name,
        layer=layer,
        component=reader.text_of(head, "component"),
        title=reader.text_of(head, "title"),
        misses=reader.text_of(head, "misses"),
        framing=framing,
        weak=reader.flag_of(head, "weak"),
        shares=reader.texts_of(head, "shares"),
        patterns=patterns,
        stamps=tuple(_stamps(reader, top, groups)),
        fields=fields,
        attrs=dict(_fields(reader, top, "attrs", groups)),
        raw_json=frozenset(reader.texts_of(head, "raw_json")),
        drop=drop,
        upstream=_upstream(reader, upstream) if upstream else None,
        reason=dict(_fields(reader, top, "reason", groups)),
        extracts=extracts,
        pairs=reader.text_of(head, "pairs") or None,
        engine_ids=reader.flag_of(head, "engine_ids"),
        escapes=reader.flag_of(head, "escapes"),
        samples=tuple(_samples(reader, top, "sample")),
        rejects=tuple(_samples(reader, top, "reject")),
        path=reader.path,
        text=reader.text,
        table=_table(reader, top),
    )
    if not loaded.samples:
        reader.wrong("no [[sample]]", hint="give each pattern a line that it takes")
    return loaded


def _table(reader: Reader, top: Mapping[str, Any]) -> Table | None:
    if "table" not in top:
        return None
    raw = reader.table(top["table"], "table", ("header", "split", "field", "units"))
    given = {key: "".join(reader.texts_of(raw, key)) for key in raw}
    if "header" not in given:
        reader.wrong("[table] lacks header", "[table]")
    if given.get("split", SPLITS[0]) not in SPLITS:
        reader.wrong(f"split must be one of {', '.join(SPLITS)}", "split")
    for key in {"header", "field", "units"} & set(given):
        try:
            re.compile(given[key])
        except re.error as error:
            reader.wrong(str(error), key)
    return None if reader.problems else Table(**given)


def _patterns(
    reader: Reader, top: Mapping[str, Any], kind: str | None, drop: frozenset[str]
) -> Iterator[Pattern]:
    tables = reader.tables_of(top, "pattern", _PATTERN)
    if not tables:
        reader.wrong("no [[pattern]]")
    for nth, table in enumerate(tables):
        shapes = [key for key in ("log_format", "regex", "json") if key in table]
        if len(shapes) != 1:
            reader.wrong(
                "a pattern has one of log_format, regex, json", "[[pattern]]", nth=nth
            )
            continue
        try:
            plans = _plans(reader, table, shapes[0], drop)
        except PatternError as error:
            reader.wrong(str(error), "[[pattern]]", nth=nth)
            continue
        yield Pattern(
            name=reader.text_of(table, "name", str(nth + 1)),
            plans=plans,
            kind=reader.text_of(table, "kind") or kind,
            fixed=reader.table(table.get("set", {}), "set", tuple(COLUMNS)),
            weak=reader.flag_of(table, "weak"),
            single=reader.flag_of(table, "single"),
            shared=reader.flag_of(table, "shared"),
            more=reader.flag_of(table, "more"),
        )


def _plans(
    reader: Reader, table: Mapping[str, Any], shape: str, drop: frozenset[str]
) -> tuple[Plan, ...]:
    if shape == "regex":
        return (regex_plan("".join(reader.texts_of(table, "regex"))),)
    if shape == "log_format":
        text = "".join(reader.texts_of(table, "log_format"))
        return (quote_plan(text, drop), regex_plan(log_regex(text)))
    json = reader.table(table["json"], "json", _JSON)
    values = json.get("values", {})
    return (
        json_plan(
            JsonShape(
                require=reader.texts_of(json, "require"),
                one_of=reader.texts_of(json, "one_of"),
                forbid=reader.texts_of(json, "forbid"),
                keys=reader.texts_of(json, "keys"),
                values={key: reader.texts_of(values, key) for key in values},
                list_key=reader.text_of(json, "list_key"),
            )
        ),
    )


def _extracts(reader: Reader, top: Mapping[str, Any]) -> Iterator[Extract]:
    tables = reader.tables_of(top, "extract", ("from", "regex"))
    for nth, table in enumerate(tables):
        try:
            plan = regex_plan("".join(reader.texts_of(table, "regex")))
        except PatternError as error:
            reader.wrong(str(error), "[[extract]]", nth=nth)
            continue
        yield Extract(reader.text_of(table, "from", "message"), plan)


def _fields(
    reader: Reader, top: Mapping[str, Any], what: str, groups: set[str]
) -> Iterator[tuple[str, Field]]:
    raw = top.get(what, {})
    if not isinstance(raw, dict):
        reader.wrong(f"{what} must be a table", f"[{what}")
        return
    for column, value in raw.items():
        table = value if isinstance(value, dict) else {"from": value}
        more = ("along",) if what == "reason" else ()
        table = reader.table(table, column, (*_FIELD, *more))
        sources = reader.texts_of(table, "from")
        for source in sources:
            for name in names_in(source):
                if name not in groups:
                    reader.wrong(f"no pattern has the field {name!r}", column)
        scale = _scale(reader, table, 1, column)
        kind = reader.text_of(table, "as")
        if kind not in KINDS:
            reader.wrong("as must be number, ratio, time or duration", column)
        values, join = table.get("values"), table.get("join")
        along = reader.flag_of(table, "along")
        yield column, Field(sources, scale, kind, values, join, along)


def _scale(
    reader: Reader, table: Mapping[str, Any], usual: float, needle: str
) -> float:
    scale = table.get("scale", usual)
    if isinstance(scale, bool) or not isinstance(scale, int | float):
        reader.wrong("scale must be a number", needle)
        return usual
    return float(scale)


def _upstream(reader: Reader, table: Mapping[str, Any]) -> Upstream:
    return Upstream(
        connect=reader.texts_of(table, "connect"),
        header=reader.texts_of(table, "header"),
        response=reader.texts_of(table, "response"),
        peer=reader.texts_of(table, "peer"),
        scale=_scale(reader, table, 1000, "[upstream]"),
    )


def names_in(source: str) -> list[str]:
    """Give the fields of a source: `a`, `a.key` of JSON, or `a b` joined by a space."""
    return [name.partition(".")[0] for name in source.split(" ")]


def _stamps(
    reader: Reader, top: Mapping[str, Any], groups: set[str]
) -> Iterator[Stamp]:
    for nth, table in enumerate(
        reader.tables_of(top, "time", ("field", "formats", "marks"))
    ):
        field = reader.text_of(table, "field")
        if not set(names_in(field)) <= groups:
            reader.wrong(f"no pattern has the field {field!r}", "[[time]]", nth=nth)
        formats = reader.texts_of(table, "formats")
        for one in formats:
            if not one.startswith("%") and one not in EPOCHS:
                hint = f"a strptime format, or one of {', '.join(EPOCHS)}"
                reader.wrong(f"no time format: {one!r}", "[[time]]", nth=nth, hint=hint)
        marks = reader.text_of(table, "marks")
        if marks not in _MARKS:
            reader.wrong("marks must be start or end", "[[time]]", nth=nth)
        yield Stamp(field, formats, start=marks == "start")


def _samples(reader: Reader, top: Mapping[str, Any], what: str) -> Iterator[Sample]:
    more = ("expect", "pattern") if what == "sample" else ()
    allowed = ("line", "header", *more)
    for nth, table in enumerate(reader.tables_of(top, what, allowed)):
        at = reader.line_of(f"[[{what}]]", nth) or 1
        if "line" not in table:
            reader.wrong(f"[[{what}]] lacks line", f"[[{what}]]", nth=nth)
            continue
        yield Sample(
            line=reader.text_of(table, "line"),
            expect=table.get("expect", {}),
            pattern=reader.text_of(table, "pattern") or None,
            at=at,
            header=reader.text_of(table, "header"),
        )
