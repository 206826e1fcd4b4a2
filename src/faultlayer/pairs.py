"""Finds `key=value` pairs in messages by structure: never inside quotes or prompts."""

from typing import Final

import polars as pl

from faultlayer.normalise import escaped, json_text

# How programs call what events have a column for.
COLUMNS: Final = {
    "request_id": "request_id",
    "requestid": "request_id",
    "req_id": "request_id",
    "reqid": "request_id",
    "rid": "request_id",
    "x_request_id": "request_id",
    "user": "user_id",
    "user_id": "user_id",
    "project": "project_id",
    "project_id": "project_id",
    "tenant": "tenant_id",
    "tenant_id": "tenant_id",
    "model": "model",
    "engine": "engine",
    "plugin": "plugin",
    "pool": "pool",
    "status": "status",
    "status_code": "status",
    "prompt_tokens": "prompt_tokens",
    "input_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "output_tokens": "completion_tokens",
    "quota_used": "quota_amount",
    "latency_ms": "duration_ms",
    "duration_ms": "duration_ms",
    "client_ip": "client",
}
# What follows these is text of a user, to the end of the line.
_SPEECH: Final = r"\b(?:prompts?|text|content|inputs?|messages|body)(?:: |=[^\"\s]).*"
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_PAIR: Final = rf"[A-Za-z_][\w.-]*=(?:{_QUOTED}|[^\s\",;)\]}}]+)"
_TOKENS: Final = rf"{_SPEECH}|{_PAIR}|{_QUOTED}"


def find(message: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Give the columns that the pairs of each message fill, and the rest as JSON members.

    The first pair of a name counts. All values are text.
    """
    size = len(message)
    rows = pl.int_range(size, eager=True, dtype=pl.UInt32).alias("row")
    nothing = pl.Series("pairs", [None], pl.String).new_from_index(0, size)
    some = message.str.contains("=", literal=True).fill_null(value=False)
    if not some.any():
        return pl.DataFrame(), nothing
    tokens = (
        pl.DataFrame({"row": rows, "token": message})
        .filter(some)
        .with_columns(pl.col("token").str.extract_all(_TOKENS))
        .explode("token")
        .filter(
            pl.col("token").str.contains("=", literal=True),
            ~pl.col("token").str.starts_with('"'),
            ~pl.col("token").str.contains(f"^(?:{_SPEECH})$"),
        )
    )
    if not len(tokens):
        return pl.DataFrame(), nothing
    pairs = _once(_split(tokens))
    columns = {}
    known = pairs.filter(pl.col("column").is_not_null())
    for name in sorted(known.get_column("column").unique().to_list()):
        part = known.filter(pl.col("column") == name)
        if len(part) > part.get_column("row").n_unique():
            part = part.unique("row", keep="first", maintain_order=True)
        columns[name] = _scattered(
            size, part.get_column("row"), part.get_column("value")
        )
    rest = pairs.filter(pl.col("column").is_null())
    if not len(rest):
        return pl.DataFrame(columns), nothing
    names = rest.get_column("key").unique().to_list()
    member = pl.concat_str(
        pl.col("key").replace_strict(names, [json_text(name) for name in names]),
        pl.lit(':"'),
        escaped(pl.col("value")),
        pl.lit('"'),
    )
    rest = rest.select("row", "key", member.alias("m"))
    if len(rest) > rest.get_column("row").n_unique():
        rest = (
            rest.sort("row", "key")
            .group_by("row", maintain_order=True)
            .agg(pl.col("m").str.join(","))
        )
    return pl.DataFrame(columns), _scattered(
        size, rest.get_column("row"), rest.get_column("m")
    ).alias("pairs")


def _split(tokens: pl.DataFrame) -> pl.DataFrame:
    """Give row, key, value and the event column of each token."""
    cut = pl.col("token").str.splitn("=", 2).struct.rename_fields(["key", "value"])
    pairs = tokens.select("row", cut.alias("p")).unnest("p")
    value = pl.col("value")
    unquoted = value.str.slice(1).str.head(-1).str.replace_all(r'\\(["\\])', "${1}")
    names = pairs.get_column("key").unique().to_list()
    columns = [COLUMNS.get(name.lower().replace("-", "_")) for name in names]
    return pairs.with_columns(
        pl.when(value.str.starts_with('"'))
        .then(unquoted)
        .otherwise(value.str.strip_chars_end("."))
        .alias("value"),
        pl.col("key")
        .replace_strict(names, columns, return_dtype=pl.String)
        .alias("column"),
    )


def _once(pairs: pl.DataFrame) -> pl.DataFrame:
    """Keep the first pair of each name."""
    code = pl.col("key").cast(pl.Categorical).to_physical().cast(pl.UInt64)
    both = pairs.select(pl.col("row").cast(pl.UInt64) * (1 << 32) + code).to_series()
    return (
        pairs.filter(both.is_first_distinct()) if both.is_duplicated().any() else pairs
    )


def _scattered(size: int, rows: pl.Series, values: pl.Series) -> pl.Series:
    empty = pl.Series([None], dtype=pl.String).new_from_index(0, size)
    return empty.clone().scatter(rows, values)
