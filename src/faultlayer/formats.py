"""Loads the format files of `parsers/`: what a line of each program looks like."""

import re
from collections.abc import Collection, Iterator, Mapping
from importlib.resources.abc import Traversable
from typing import Any, Final

from faultlayer import definitions, format_keys, patterns
from faultlayer.definitions import Reader, path_of
from faultlayer.dialects import joined
from faultlayer.errors import DefinitionError, Location
from faultlayer.format_keys import EPOCHS, FRAMINGS, KINDS, LAYERS, MARKS, SPLITS
from faultlayer.patterns import COLUMNS
from faultlayer.shape import Field, Format, Pattern, Sample, Stamp, Upstream
from faultlayer.tables import Table

__all__ = ["Field", "Format", "Pattern", "Sample", "load", "names_in", "read"]

FOLDERS: Final = ("harness", "model", "quota", "host", "app")
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
        "ts_outer",
        "host",
        "origin",
        "output",
        "kinds",
        "raw_request_id",
        "attrs",
        "upstream_hops",
        "forwarded",
    ]
)
# Names that fields may have besides event columns: they steer framing and signatures.
_SPECIAL: Final = frozenset({"level", "process", "header", "trace"})


def load(root: Traversable, *, trusted: bool = True) -> list[Format]:
    """Load all format files below a folder, by name.

    What is `trusted` was proved before it was shipped: its patterns are compiled when
    they are needed. Raises `DefinitionError` for one problem, an `ExceptionGroup` of them for several.
    """
    formats: list[Format] = []
    problems: list[DefinitionError] = []
    for folder, file in _files(root):
        reader = Reader(f"parsers/{folder}/{file.name}", file.read_text("utf-8"))
        top = reader.parsed()
        loaded = None
        if top is not None:
            loaded = _format(reader, top, folder, trusted=trusted)
        problems += reader.problems
        if loaded and not reader.problems:
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


def read(path: str, text: str, folder: str) -> Format | None:
    """Read one format file and compile it; raises `DefinitionError` for its problems."""
    reader = Reader(path, text)
    loaded, problems = read_all(reader, folder)
    definitions.raise_all(problems, "problems")
    return loaded


def read_all(
    reader: Reader, folder: str
) -> tuple[Format | None, list[DefinitionError]]:
    """Read one format file and compile it; gives it, if it is whole, and its problems."""
    top = reader.parsed()
    loaded = None if top is None else _format(reader, top, folder, trusted=False)
    return None if reader.problems else loaded, reader.problems


def _format(
    reader: Reader, raw: dict[str, Any], folder: str, *, trusted: bool
) -> Format:
    top = reader.table(raw, "the file", format_keys.names(format_keys.TOP))
    head = reader.table(
        top.get("format", {}), "format", format_keys.names(format_keys.FORMAT)
    )
    for key in format_keys.FORMAT:
        if key.required and key.name not in head:
            reader.wrong(f"[format] lacks {key.name}", "[format]", at=("format",))
    name = reader.text_of(head, "name")
    stem = reader.path.rpartition("/")[2].removesuffix(".toml")
    if name and name != stem:
        reader.wrong(
            f"name {name!r} is not that of the file",
            "name",
            at=path_of(head, "name"),
            index=0,
        )
    layer = reader.text_of(head, "layer")
    if layer and (
        layer not in LAYERS or (folder in LAYERS and folder not in {layer, "host"})
    ):
        hint = f"a file in {folder}/ has layer {folder!r}" if folder in LAYERS else ""
        reader.wrong(
            f"layer {layer!r} does not fit",
            "layer",
            hint=hint,
            at=path_of(head, "layer"),
            index=0,
        )
    framing = reader.text_of(head, "framing", "line")
    if framing not in FRAMINGS:
        reader.wrong(
            f"framing must be one of {', '.join(FRAMINGS)}",
            "framing",
            at=path_of(head, "framing"),
            index=0,
        )
    kind = reader.text_of(head, "kind") or None
    drop = frozenset(reader.texts_of(head, "drop"))
    read = list(patterns.patterns(reader, top, kind, drop, trusted=trusted))
    layouts = [one.layout for one in read if one.layout is not None]
    extracts = tuple(patterns.extracts(reader, top, trusted=trusted))
    groups = {name for one in read for name in one.pattern.names}
    groups |= {name for extract in extracts for name in extract.names}
    # Of a pattern that cannot be read nobody knows the fields.
    sure = len(read) == len(top.get("pattern", ()))
    fields = dict(_fields(reader, top, "fields", groups, sure=sure))
    for column in fields:
        if column in _PLACES or column not in {*COLUMNS, *_SPECIAL}:
            reader.wrong(
                f"fields has no event column {column!r}",
                column,
                at=("fields", column),
                hint=_near(column, {*COLUMNS, *_SPECIAL} - _PLACES),
            )
    upstream = reader.table(
        top.get("upstream", {}), "upstream", format_keys.names(format_keys.UPSTREAM)
    )
    loaded = Format(
        name=name,
        layer=layer,
        component=reader.text_of(head, "component"),
        title=reader.text_of(head, "title"),
        misses=reader.text_of(head, "misses"),
        framing=framing,
        weak=reader.flag_of(head, "weak"),
        shares=reader.texts_of(head, "shares"),
        patterns=tuple(one.pattern for one in read),
        stamps=tuple(_stamps(reader, top, groups, sure=sure)) or joined.stamps(layouts),
        fields={**joined.fields(layouts, reader, fields), **fields},
        attrs=dict(_fields(reader, top, "attrs", groups, sure=sure)),
        raw_json=frozenset(reader.texts_of(head, "raw_json")),
        drop=drop,
        upstream=_upstream(reader, upstream) if upstream else joined.upstream(layouts),
        reason=dict(_fields(reader, top, "reason", groups, sure=sure))
        or joined.reasons(layouts),
        extracts=extracts,
        pairs=reader.text_of(head, "pairs") or None,
        engine_ids=reader.flag_of(head, "engine_ids"),
        escapes=reader.flag_of(head, "escapes"),
        samples=tuple(_samples(reader, top, "sample")),
        rejects=tuple(_samples(reader, top, "reject")),
        path=reader.path,
        text=reader.text,
        table=_table(reader, top),
        structured=reader.flag_of(head, "structured"),
        general=_general(reader, head),
        companion=reader.flag_of(head, "companion"),
    )
    if not loaded.samples:
        reader.wrong("no [[sample]]", hint="give each pattern a line that it takes")
    return loaded


def _general(reader: Reader, head: Mapping[str, Any]) -> int:
    if head.get("general") == "last":
        return 2
    return int(reader.flag_of(head, "general"))


def _table(reader: Reader, top: Mapping[str, Any]) -> Table | None:
    if "table" not in top:
        return None
    raw = reader.table(top["table"], "table", format_keys.names(format_keys.TABLE))
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


def _fields(
    reader: Reader, top: Mapping[str, Any], what: str, groups: set[str], *, sure: bool
) -> Iterator[tuple[str, Field]]:
    raw = top.get(what, {})
    if not isinstance(raw, dict):
        reader.wrong(f"{what} must be a table", f"[{what}")
        return
    for column, value in raw.items():
        table = value if isinstance(value, dict) else {"from": value}
        keys = format_keys.REASON if what == "reason" else format_keys.FIELD
        table = reader.table(table, column, format_keys.names(keys))
        sources = reader.texts_of(table, "from")
        for source in sources:
            for name in names_in(source, groups):
                if sure and name not in groups:
                    reader.wrong(
                        f"no pattern has the field {name!r}",
                        column,
                        at=(what, column),
                        index=0,
                        hint=_near(name, groups),
                    )
        scale = _scale(reader, table, 1, column)
        kind = reader.text_of(table, "as")
        if kind not in KINDS:
            reader.wrong(
                "as must be number, ratio, time, duration or span",
                column,
                at=(what, column, "as"),
                index=0,
            )
        if kind == "span" and len(sources) != 2:  # noqa: PLR2004
            reader.wrong("a span has two times", column, at=(what, column), index=0)
        values, join = table.get("values"), table.get("join")
        along = reader.flag_of(table, "along")
        yield column, Field(sources, scale, kind, values, join, along)


def _scale(
    reader: Reader, table: Mapping[str, Any], usual: float, needle: str
) -> float:
    scale = table.get("scale", usual)
    if isinstance(scale, bool) or not isinstance(scale, int | float):
        reader.wrong(
            "scale must be a number", needle, at=path_of(table, "scale"), index=0
        )
        return usual
    return float(scale)


def _upstream(reader: Reader, table: Mapping[str, Any]) -> Upstream:
    return Upstream(
        connect=reader.texts_of(table, "connect"),
        header=reader.texts_of(table, "header"),
        response=reader.texts_of(table, "response"),
        peer=reader.texts_of(table, "peer"),
        answered=reader.texts_of(table, "answered"),
        scale=_scale(reader, table, 1000, "[upstream]"),
    )


def names_in(source: str, known: Collection[str] = ()) -> list[str]:
    """Give the fields of a source: `a`, `a.key` of JSON, or `a b` joined by a space.

    A name with a dot that is `known` is a field of that name.
    """
    names = source.split(" ")
    return [one if one in known else one.partition(".")[0] for one in names]


def _stamps(
    reader: Reader, top: Mapping[str, Any], groups: set[str], *, sure: bool
) -> Iterator[Stamp]:
    keys = format_keys.names(format_keys.TIME)
    for nth, table in enumerate(reader.tables_of(top, "time", keys)):
        field = reader.text_of(table, "field")
        if sure and not set(names_in(field)) <= groups:
            reader.wrong(
                f"no pattern has the field {field!r}",
                "[[time]]",
                nth=nth,
                at=path_of(table, "field"),
                index=0,
                hint=_near(field, groups),
            )
        formats = reader.texts_of(table, "formats")
        for number, one in enumerate(formats):
            if not one.startswith("[") and "%" not in one and one not in EPOCHS:
                hint = f"a strptime format, or one of {', '.join(EPOCHS)}"
                reader.wrong(
                    f"no time format: {one!r}",
                    "[[time]]",
                    nth=nth,
                    hint=hint,
                    at=path_of(table, "formats", number),
                    index=0,
                )
        marks = reader.text_of(table, "marks")
        if marks not in MARKS:
            reader.wrong(
                "marks must be start or end",
                "[[time]]",
                nth=nth,
                at=path_of(table, "marks"),
                index=0,
            )
        utc = reader.flag_of(table, "utc")
        yield Stamp(field, formats, start=marks == "start", utc=utc)


def _samples(reader: Reader, top: Mapping[str, Any], what: str) -> Iterator[Sample]:
    keys = format_keys.SAMPLE if what == "sample" else format_keys.REJECT
    tables = reader.tables_of(top, what, format_keys.names(keys))
    heads = [
        reader.text.count("\n", 0, found.start()) + 1
        for found in re.finditer(rf"(?m)^[ \t]*\[\[{what}\]\]", reader.text)
    ]
    for nth, table in enumerate(tables):
        if "line" not in table:
            reader.wrong(
                f"[[{what}]] lacks line", f"[[{what}]]", nth=nth, at=path_of(table)
            )
            continue
        yield Sample(
            line=reader.text_of(table, "line"),
            expect=table.get("expect", {}),
            pattern=reader.text_of(table, "pattern") or None,
            at=heads[nth] if nth < len(heads) else 1,
            header=reader.text_of(table, "header"),
            number=nth,
        )


def _near(name: str, known: set[str]) -> str:
    import difflib  # noqa: PLC0415 - only where something is wrong

    near = difflib.get_close_matches(name, sorted(known), 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"known: {', '.join(sorted(known))}" if known else ""
