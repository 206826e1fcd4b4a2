"""Turns what a pattern captured into event columns, a block at a time."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from faultlayer import durations, normalise, stamps, structured, upstreams
from faultlayer.formats import Field, Format, Pattern, names_in
from faultlayer.shape import RECORD
from faultlayer.structured import TYPES

# Filled by name when a field is called like the column.
_OWN: Final = frozenset(TYPES) - {
    "event_id",
    "source_id",
    "line",
    "lines",
    "byte_offset",
    "byte_length",
    "ts_precision_us",
    "ts_outer",
    "host",
    "origin",
    "output",
    "layer",
    "component",
    "raw_request_id",
    "attrs",
    "upstream_connect_ms",
    "upstream_header_ms",
    "upstream_response_ms",
    "upstream_hops",
}
TRACE: Final = "_trace"  # a traceback that a record has in a field of its own
REASON: Final = "_reason"  # what an access record itself says of its end
_STEERING: Final = frozenset({"level", "process", "header", "trace", "message", RECORD})


def build(format_: Format, pattern: Pattern, fields: pl.DataFrame) -> pl.DataFrame:
    """Give event columns, and ts, precision, zoned, yearless, for captured fields.

    Columns that the format does not have are absent.
    """
    fields = _with_extracts(format_, fields)
    named = {
        name
        for source in _sources(format_)
        for name in names_in(source, fields.columns)
    }
    taken = (named | format_.drop) - format_.raw_json
    columns = _columns(format_, fields)
    out = _at_end(format_, fields, columns).hstack(columns)
    taken |= {name for name in fields.columns if name in _OWN} | _STEERING
    if format_.upstream:
        up = format_.upstream
        parts = {
            "connect": up.connect,
            "header": up.header,
            "response": up.response,
            "peer": up.peer,
            "answered": up.answered,
        }
        lists = {part: _first(fields, sources) for part, sources in parts.items()}
        taken |= {*up.connect, *up.header, *up.response}
        present = {part: column for part, column in lists.items() if column is not None}
        if present:
            out = out.hstack(upstreams.read(present, up.scale))
    logged = [name for name in ("uct", "uht", "urt") if name in out.columns]
    rest = out.get_columns()[len(out.columns) - len(logged) :]
    out = out.drop(logged)
    said = next(
        (
            one.get_column(format_.pairs)
            for one in (fields, out)
            if format_.pairs in one.columns
        ),
        None,
    )
    if format_.structured:
        known = named | format_.drop | _STEERING
        beside = [name for name in fields.columns if name not in known]
        out, said = structured.read(out, fields, beside)
        taken |= structured.columns(beside)
    rest += [
        _plain(fields.get_column(name)) for name in fields.columns if name not in taken
    ]
    given = _attrs(format_, fields)
    names = {column.name for column in given}
    rest = [column for column in rest if column.name not in names] + given
    attrs = normalise.attributes(rest, len(out), tuple(format_.raw_json))
    if said is not None:
        out, attrs = structured.with_pairs(out, attrs, said)
    out = out.with_columns(attrs.alias("attrs"))
    out = _with_ids(format_, out)
    trace = _trace(format_, fields)
    if trace is not None:
        out = out.with_columns(trace.alias(TRACE))
    reason = _reason(format_, fields)
    if reason is not None:
        out = out.with_columns(reason.alias(REASON))
    return _fixed(format_, pattern, out)


def _trace(format_: Format, fields: pl.DataFrame) -> pl.Series | None:
    """Give the traceback that a record holds in a field of its own."""
    value = _value(format_.fields.get("trace", Field(("trace",))), fields)
    if value is None:
        return None
    found = fields.select(value.alias("trace")).to_series()
    if found.dtype != pl.String or found.null_count() == len(found):
        return None
    # Pairs write a line end as two characters.
    flat = ~pl.col("trace").str.contains("\n", literal=True)
    lines = pl.col("trace").str.replace_many(["\\n", "\\t", '\\"'], ["\n", "\t", '"'])
    whole = pl.when(flat).then(lines).otherwise("trace")
    return found.to_frame().select(whole).to_series()


def _reason(format_: Format, fields: pl.DataFrame) -> pl.Expr | None:
    """Give what an access record itself says of its end, as `name=value`, else null."""
    parts: list[pl.Expr] = []
    telling: list[pl.Expr] = []
    for name, field in format_.reason.items():
        value = _value(field, fields)
        if value is not None:
            said = pl.concat_str(pl.lit(f"{name}="), normalise.text(value))
            column = fields.select(said.alias(name)).to_series()
            parts.append(pl.lit(column))
            if not field.along:
                telling.append(pl.lit(column.is_not_null()))
    if not telling:
        return None
    joined = pl.concat_str(parts, separator=" ", ignore_nulls=True)
    return pl.when(pl.any_horizontal(telling)).then(joined)


def _at_end(
    format_: Format, fields: pl.DataFrame, columns: pl.DataFrame
) -> pl.DataFrame:
    """Give the stamps; those of a start are moved to the end of the exchange."""
    found = _stamps(format_, fields)
    if "duration_ms" in columns.columns and found.get_column("start").any():
        took = pl.duration(microseconds=(pl.col("duration_ms") * 1000).round())
        moved = pl.when("start").then(pl.col("ts") + took)
        timed = found.with_columns(columns.get_column("duration_ms"))
        found = timed.with_columns(pl.coalesce(moved, "ts").alias("ts"))
        found = found.drop("duration_ms")
    return found.drop("start")


def _first(fields: pl.DataFrame, names: Sequence[str]) -> pl.Series | None:
    """Give the first of these fields that is there, of several the first not null."""
    if len(names) == 1 and names[0] in fields.columns:
        return fields.get_column(names[0])
    exprs = []
    for source in names:
        name, _, path = source.partition(".")
        if name in fields.columns:
            column = pl.col(name)
            exprs.append(column.str.json_path_match(f"$.{path}") if path else column)
    return fields.select(pl.coalesce(exprs)).to_series() if exprs else None


def _plain(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column
    return column.to_frame().select(normalise.text(pl.col(column.name))).to_series()


def _sources(format_: Format) -> set[str]:
    named = {
        source
        for field in (*format_.fields.values(), *format_.attrs.values())
        for source in field.sources
    }
    return named | {stamp.field for stamp in format_.stamps}


def _with_extracts(format_: Format, fields: pl.DataFrame) -> pl.DataFrame:
    for extract in format_.extracts:
        if extract.source not in fields.columns:
            continue
        text = fields.get_column(extract.source)
        free = _open(extract.names, fields)
        match = extract.plan.match(text if free is None else text[free])
        rows = match.rows
        if not len(match.fields):
            continue
        if free is not None:
            rows = free if rows is None else free[rows]
        found = match.fields
        for name in found.columns:
            column = found.get_column(name)
            if rows is not None:
                empty = pl.Series([None], dtype=column.dtype).new_from_index(
                    0, len(fields)
                )
                column = empty.clone().scatter(rows, column)
            if name in fields.columns:
                column = fields.select(pl.coalesce(name, column)).to_series()
            fields = fields.with_columns(column.alias(name))
    return fields


def _open(names: Sequence[str], fields: pl.DataFrame) -> pl.Series | None:
    """Give the rows where one of these is still null, None where that is any row."""
    if not set(names) <= set(fields.columns):
        return None
    null = fields.select(
        pl.any_horizontal(pl.col(name).is_null() for name in names)
    ).to_series()
    return None if null.all() else null.arg_true()


def stamps_of(format_: Format, fields: pl.DataFrame) -> pl.DataFrame:
    """Give ts, precision, zoned, yearless of captured fields, as logged."""
    return _stamps(format_, fields).drop("start")


def _stamps(format_: Format, fields: pl.DataFrame) -> pl.DataFrame:
    """Give the stamps, and whether each is that of a start."""
    result: pl.DataFrame | None = None
    for stamp in format_.stamps:
        names = names_in(stamp.field)
        if not set(names) <= set(fields.columns):
            continue
        path = "" if len(names) > 1 else stamp.field.partition(".")[2]
        column = fields.get_column(names[0])
        if len(names) > 1:  # date and time apart
            column = fields.select(pl.concat_str(names, separator=" ")).to_series()
        elif path:
            column = column.str.json_path_match(f"$.{path}")
        found = stamps.read(column, stamp.formats)
        found = found.with_columns(
            pl.col("zoned") | pl.lit(stamp.utc), pl.lit(stamp.start).alias("start")
        )
        if result is None:
            result = found
        else:
            empty = result.get_column("ts").is_null()
            result = result.with_columns(
                pl.when(empty).then(found.get_column(one)).otherwise(one).alias(one)
                for one in result.columns
            )
        if not result.get_column("ts").null_count():
            break
    if result is None:
        nothing = stamps.nothing(len(fields))
        return nothing.with_columns(pl.lit(value=False).alias("start"))
    return result


def _value(field: Field, fields: pl.DataFrame) -> pl.Expr | None:
    """Give the first of a field's sources that says something, as text or number."""
    several = len(field.sources) > 1
    exprs = [
        _part(source, fields, several=several)
        for source in field.sources
        if set(names_in(source, fields.columns)) <= set(fields.columns)
    ]
    if not exprs:
        return None
    if field.kind == "span" and len(exprs) == 2:  # noqa: PLR2004
        both = fields.select(begin=exprs[0], end=exprs[1])
        return pl.lit(stamps.span_ms(both["begin"], both["end"]))
    if field.join is not None:
        value = pl.concat_str(exprs, separator=field.join)
    else:
        value = exprs[0] if len(exprs) == 1 else pl.coalesce(exprs)
    if field.chars:
        value = value.str.head(field.chars)
    if field.values:
        value = value.replace_strict(dict(field.values), default=value)
    if field.kind == "duration":
        value = durations.milliseconds(value, field.bare_ms)
    return value


def _part(source: str, fields: pl.DataFrame, *, several: bool) -> pl.Expr:
    """Give one source of a value; of several, one that says nothing is null."""
    if " " in source:
        parts = [_part(one, fields, several=False) for one in source.split(" ")]
        return pl.concat_str([normalise.text(one) for one in parts], separator=" ")
    if source not in fields.columns:
        name, _, path = source.partition(".")
        return pl.col(name).str.json_path_match(f"$.{path}")
    if several and fields.schema[source] == pl.String:
        return normalise.text(pl.col(source))
    return pl.col(source)


#: By format the fields of its last block, and the expressions of their columns.
_KNOWN: Final[dict[int, tuple[Format, pl.Schema, dict[str, pl.Expr]]]] = {}


def _columns(format_: Format, fields: pl.DataFrame) -> pl.DataFrame:
    # A span is worked out on the fields themselves; all else is the same for each block.
    if any(field.kind == "span" for field in format_.fields.values()):
        return fields.select(**_column_exprs(format_, fields))
    known = _KNOWN.get(id(format_))
    if known is None or known[0] is not format_ or known[1] != fields.schema:
        known = (format_, fields.schema, _column_exprs(format_, fields))
        _KNOWN[id(format_)] = known
    return fields.select(**known[2])


def _column_exprs(format_: Format, fields: pl.DataFrame) -> dict[str, pl.Expr]:
    exprs: dict[str, pl.Expr] = {}
    for column in TYPES:
        field = format_.fields.get(column)
        if field is None:
            if column not in fields.columns or column not in _OWN - format_.drop:
                continue
            field = Field((column,))
        value = _value(field, fields)
        if value is None:
            continue
        if TYPES[column] == pl.String:
            # A message may be empty, an id or an agent may not.
            exprs[column] = value if column == "message" else normalise.text(value)
        elif (
            len(field.sources) == 1
            and fields.schema.get(field.sources[0]) == TYPES[column]
            and TYPES[column] != pl.Float64
        ):
            exprs[column] = value
        else:
            exprs[column] = normalise.number(value, TYPES[column], field.factor)
    level = _value(format_.fields.get("level", Field(("level",))), fields)
    if level is not None:
        exprs["severity"] = normalise.severity(level)
    return exprs


def _attrs(format_: Format, fields: pl.DataFrame) -> list[pl.Series]:
    columns = []
    for name, field in format_.attrs.items():
        value = _value(field, fields)
        if value is None:
            continue
        if field.kind == "ratio":
            value = normalise.ratio(value)
        elif field.kind == "number" or field.scale != 1:
            value = normalise.number(value, pl.Float64, field.scale)
        column = fields.select(value.alias(name)).to_series()
        if field.kind == "time":
            column = stamps.iso(column)
        columns.append(column)
    return columns


def _with_ids(format_: Format, out: pl.DataFrame) -> pl.DataFrame:
    if "request_id" not in out.columns:
        return out
    found = normalise.ids(out.get_column("request_id"), engine=format_.engine_ids)
    return out.with_columns(found.get_columns())


def _fixed(format_: Format, pattern: Pattern, out: pl.DataFrame) -> pl.DataFrame:
    constants = {
        "layer": format_.layer,
        "component": format_.component,
        **pattern.fixed,
    }
    if pattern.kind and "kind" not in out.columns:
        constants["kind"] = pattern.kind
    return out.with_columns(
        pl.lit(value, TYPES.get(name, pl.String)).alias(name)
        for name, value in constants.items()
    )


def severity_of(pattern: Pattern, fields: pl.DataFrame) -> pl.Expr:
    """Give the severity of captured fields, null where the record tells none."""
    if "severity" in pattern.fixed:
        return pl.lit(pattern.fixed["severity"], pl.String)
    if "level" in fields.columns:
        return normalise.severity(pl.col("level"))
    return pl.lit(None, pl.String)
