"""Reads pairs within a message, and fields beside it as in JSON logs, into columns."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl
import pyarrow as pa

from faultlayer import normalise, pairs, schema
from faultlayer.normalise import escaped

_TYPES: Final[Mapping[pa.DataType, type[pl.DataType]]] = {
    pa.string(): pl.String,
    pa.int32(): pl.Int32,
    pa.int64(): pl.Int64,
    pa.float64(): pl.Float64,
}
TYPES: Final = {
    column.name: _TYPES[column.type]
    for column in schema.EVENTS_RAW
    if column.type in _TYPES
}

# What users said is never shown to signatures, and neither is where code stands.
_SPEECH: Final = frozenset(
    [
        "prompt",
        "prompts",
        "text",
        "content",
        "input",
        "inputs",
        "messages",
        "body",
        "query",
        "preview",
        "response",
        "completion",
        "output",
        "answer",
        "arguments",
    ]
)
# What an upstream answered is no user's word where it is an error.
_ANSWERS: Final = frozenset(["body", "response", "output", "answer"])
_IS_ERROR: Final = (
    r'^\{\s*(?:"object":\s*"error"|"type":\s*"error"|"error":|"detail":|"code":)'
)
_PLACE: Final = frozenset(
    [
        "pathname",
        "lineno",
        "filename",
        "function",
        "funcname",
        "func_name",
        "module",
        "relativecreated",
        "msecs",
        "created",
        "levelno",
        "level_value",
        "processname",
        "process",
        "thread",
        "threadname",
        "thread_name",
        "threadid",
        "threadpriority",
        "endofbatch",
        "loggerfqcn",
        "caller",
        "at",
        "source",
        "logger_name",
        "@version",
        "version",
        "taskname",
        "stack_info",
    ]
)
_LONGEST: Final = 400  # of a value in the tail; longer ones are in attrs alone
_BARE: Final = r"^[^\s\"'=,;()\[\]{}]+$"
_MEMBER: Final = r'"[A-Za-z_@][\w.@-]*":\s*(?:"(?:[^"\\]|\\.)*"|[-+\w.]+)'
_SAID: Final = rf'^"(?:{"|".join(sorted(_SPEECH))})"'


def columns(names: Sequence[str]) -> set[str]:
    """Give those of these names that stand for an event column."""
    return {name for name in names if pairs.plain(name) in pairs.COLUMNS}


def read(
    out: pl.DataFrame, fields: pl.DataFrame, beside: Sequence[str]
) -> tuple[pl.DataFrame, pl.Series]:
    """Give what fields beside the message say to event columns and to the message.

    Gives also the text in which pairs are to be found: the message as it was, and the
    members of nested fields.
    """
    texts = [name for name in beside if fields.schema[name] == pl.String]
    out = _filled(out, pl.DataFrame(list(known(fields, texts).values())))
    added, spread = tail(fields, texts)
    message = out.get_column("message")
    both = pl.DataFrame({"m": message, "s": spread})
    said = both.select(pl.concat_str("m", "s", separator=" ", ignore_nulls=True))
    out = out.with_columns(with_tail(message, added).alias("message"))
    return out, said.to_series()


def _filled(out: pl.DataFrame, columns: pl.DataFrame) -> pl.DataFrame:
    """Put text into the event columns of its names, where they are still empty."""
    for name in columns.columns:
        value = normalise.text(pl.col(name))
        if TYPES[name] != pl.String:
            value = normalise.number(pl.col(name), TYPES[name], 1)
        column = columns.select(value).to_series()
        if name in out.columns:
            column = out.select(pl.coalesce(name, column)).to_series()
        out = out.with_columns(column.alias(name))
    return out


def with_pairs(
    out: pl.DataFrame, attrs: pl.Series, message: pl.Series
) -> tuple[pl.DataFrame, pl.Series]:
    """Give the pairs of each message to event columns and to attrs."""
    columns, members = pairs.find(message)
    out = _filled(out, columns)
    if members.null_count() == len(members):
        return out, attrs
    both = pl.DataFrame({"a": attrs, "m": members}).select(
        pl.when(pl.col("m").is_null())
        .then("a")
        .when(pl.col("a").is_null())
        .then(pl.concat_str(pl.lit("{"), "m", pl.lit("}")))
        .otherwise(
            pl.concat_str(pl.col("a").str.head(-1), pl.lit(","), "m", pl.lit("}"))
        )
    )
    return out, both.to_series()


def known(fields: pl.DataFrame, names: Sequence[str]) -> dict[str, pl.Series]:
    """Give what fields of known names say of event columns, as text.

    Of several names for one column the first in the order of `pairs` that says something
    counts, so that a vendor's request id gives way to the request's own.
    """
    found: dict[str, list[tuple[int, str]]] = {}
    order = list(pairs.COLUMNS)
    for name in names:
        plain = pairs.plain(name)
        if plain in pairs.COLUMNS:
            rank = order.index(plain)
            found.setdefault(pairs.COLUMNS[plain], []).append((rank, name))
    return {
        column: fields.select(
            pl.coalesce(pl.col(name) for _, name in sorted(ranked)).alias(column)
        ).to_series()
        for column, ranked in found.items()
    }


def tail(fields: pl.DataFrame, names: Sequence[str]) -> tuple[pl.Series, pl.Series]:
    """Give the fields of each row as ` name=value`, and the members of nested ones.

    Both are null where there is nothing to say.
    """
    size = len(fields)
    flat: list[pl.Expr] = []
    nested: list[pl.Series] = []
    for name in sorted(names):
        plain = pairs.plain(name)
        column = fields.get_column(name)
        if plain in _ANSWERS:
            error = column.str.contains(_IS_ERROR).fill_null(value=False)
            column = column.set(~error, None)
            fields = fields.with_columns(column.alias(name))
        elif plain in _SPEECH or plain in _PLACE:
            continue
        if column.null_count() == size:
            continue
        objects = column.str.starts_with("{").fill_null(value=False)
        if objects.any():
            rows = objects.arg_true()
            members = _members(column.gather(rows))
            empty = pl.Series([None], dtype=pl.String).new_from_index(0, size)
            nested.append(empty.clone().scatter(rows, members).alias(name))
        value = pl.col(name)
        quoted = pl.concat_str(pl.lit('"'), escaped(value), pl.lit('"'))
        shown = pl.when(value.str.contains(_BARE)).then(value).otherwise(quoted)
        said = ~pl.lit(objects) & (value.str.len_bytes() <= _LONGEST) & (value != "")
        flat.append(pl.when(said).then(pl.concat_str(pl.lit(f"{name}="), shown)))
    spread = _joined(nested, size)
    parts = fields.select(
        expr.alias(str(number)) for number, expr in enumerate(flat)
    ).get_columns()
    return _joined([*parts, spread], size), spread


def _joined(parts: Sequence[pl.Series], size: int) -> pl.Series:
    if not parts:
        return pl.Series([None], dtype=pl.String).new_from_index(0, size)
    frame = pl.DataFrame([part.alias(str(number)) for number, part in enumerate(parts)])
    text = pl.concat_str(pl.all(), separator=" ", ignore_nulls=True)
    return frame.select(pl.when(text != "").then(text)).to_series()


def _members(objects: pl.Series) -> pl.Series:
    """Give the scalar members of JSON objects, at any depth, as `name=value`."""
    one = pl.element()
    said = ~one.str.contains(_SAID) & (one.str.len_bytes() <= _LONGEST)
    pair = one.filter(said).str.replace(r'^"([^"]+)":\s*', "${1}=")
    bare = pair.str.replace(r'="([\w.:/@+-]+)"$', "=${1}")
    return objects.str.extract_all(_MEMBER).list.eval(bare).list.join(" ")


def with_tail(message: pl.Series, added: pl.Series) -> pl.Series:
    """Put what the fields say at the end of the first line of each message."""
    cut = pl.col("m").str.splitn("\n", 2).struct
    head = pl.concat_str(
        cut.field("field_0").str.strip_chars_end(),
        "t",
        separator=" ",
        ignore_nulls=True,
    )
    whole = pl.concat_str(head, cut.field("field_1"), separator="\n", ignore_nulls=True)
    return (
        pl.DataFrame({"m": message, "t": added})
        .select(pl.when(pl.col("t").is_null()).then("m").otherwise(whole))
        .to_series()
    )
