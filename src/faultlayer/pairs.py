"""Finds `key=value` pairs in messages by structure: never inside quotes or prompts."""

import re
from collections.abc import Sequence
from typing import Final

import polars as pl

from faultlayer import alike
from faultlayer.normalise import escaped, json_text

# How programs call what events have a column for (see `plain`). Of several names for a
# request id the first here counts: those of vendors are last.
COLUMNS: Final = {
    "request_id": "request_id",
    "x_request_id": "request_id",
    "requestid": "request_id",
    "xrequestid": "request_id",
    "req_id": "request_id",
    "reqid": "request_id",
    "rid": "request_id",
    "http.request.header.x_request_id": "request_id",
    "x_oneapi_request_id": "request_id",
    "x_kong_request_id": "request_id",
    "apim_request_id": "request_id",
    "x_ms_client_request_id": "request_id",
    "x_ms_request_id": "request_id",
    "x_acs_request_id": "request_id",
    "x_tt_logid": "request_id",
    "cf_ray": "request_id",
    "kong_request_id": "request_id",
    "apisix_request_id": "request_id",
    "gateway_request_id": "request_id",
    "gatewayrequestid": "request_id",
    "trace_request_id": "request_id",
    "tracerequestid": "request_id",
    "x_req_id": "request_id",
    "x_correlation_id": "request_id",
    "xcorrelationid": "request_id",
    "correlation_id": "request_id",
    "correlationid": "request_id",
    "user": "user_id",
    "user_id": "user_id",
    "userid": "user_id",
    "project": "project_id",
    "project_id": "project_id",
    "projectid": "project_id",
    "tenant": "tenant_id",
    "tenant_id": "tenant_id",
    "tenantid": "tenant_id",
    "model": "model",
    "engine": "engine",
    "plugin": "plugin",
    "pool": "pool",
    "status": "status",
    "status_code": "status",
    "statuscode": "status",
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
_SPOKEN: Final = r"\b(?:prompts?|text|content|inputs?|messages|body)"
_SPEECH: Final = _SPOKEN + r"(?:: |=[^\"\s]).*"
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
# In single quotes only as a value: elsewhere it is an apostrophe.
_SINGLE: Final = r"'(?:[^'\\]|\\.)*'"
_PAIR: Final = rf"[A-Za-z_][\w.-]*=(?:{_QUOTED}|{_SINGLE}|[^\s\",;)\]}}]+)"
# Where a sentence names its request: `(request id: 4f..)`, `Request 4f..-.. failed`.
_UUID: Final = r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"
_ID: Final = r"(?:[Xx][-_])?[Rr]eq(?:uest)?[ _-]?[Ii][Dd]"
_NAME: Final = rf"\b(?:{_ID}: ?|[Rr]equest[ -])"
_NAMED: Final = rf"\b(?:{_ID}: ?[\w.:-]{{6,}}|[Rr]equest[ -]{_UUID}\b)"
# Before the text, `[4f..-..] Request failed`, in brackets with a name, or in an object.
_FIRST: Final = rf"^(?:\[[\w.:-]+\] )*[\[(]?{_UUID}[\])]?(?:[\s:,]|$)"
_BRACKETED: Final = rf"[\[(](?:req|rid|{_ID})[=:] ?{_UUID}[\])]"
_MEMBER: Final = rf'"{_ID}": ?"[\w.:-]{{6,}}"'
_ODD: Final = rf"{_FIRST}|{_BRACKETED}|{_MEMBER}"
# It ends early only at a quote that a space follows.
_REPR: Final = rf"{_SPOKEN}={_SINGLE}(?: |$)"
_TOKENS: Final = (
    rf"{_FIRST}|{_BRACKETED}|{_REPR}|{_SPEECH}|{_PAIR}|{_MEMBER}|{_QUOTED}|{_NAMED}"
)


#: What a message may hold beside `name=value`, and is not read as a shape.
BEYOND: Final = re.compile(
    rf"{_FIRST}|{_BRACKETED}|{_REPR}|{_SPEECH}|{_MEMBER}|{_QUOTED}|{_NAMED}"
)

_Placed = tuple[pl.Series, pl.Series]  # rows and their values


def plain(name: str) -> str:
    """Give a field's name in the spelling of `COLUMNS`: case and dashes say nothing."""
    return name.lower().replace("-", "_")


def find(message: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """Give the columns that the pairs of each message fill, and the rest as JSON members.

    The first pair of a name counts. All values are text.
    """
    size = len(message)
    rows = pl.int_range(size, eager=True, dtype=pl.UInt32).alias("row")
    nothing = pl.Series("pairs", [None], pl.String).new_from_index(0, size)
    some = message.str.contains("=", literal=True).fill_null(value=False)
    if not some.all():
        some |= message.str.contains(f"{_NAMED}|{_ODD}").fill_null(value=False)
    if not some.any():
        return pl.DataFrame(), nothing
    # What all programs say most often is one shape with other values.
    shaped, left = alike.read(message, rows.filter(some), BEYOND)
    columns: dict[str, list[_Placed]] = {}
    members: list[_Placed] = []
    for one in shaped:
        _of_shape(one, columns, members)
    _of_others(message, left, columns, members)
    filled = {name: _scattered(size, columns[name]) for name in sorted(columns)}
    if not members:
        return pl.DataFrame(filled), nothing
    return pl.DataFrame(filled), _scattered(size, members).alias("pairs")


def _of_shape(
    one: alike.Alike, columns: dict[str, list[_Placed]], members: list[_Placed]
) -> None:
    """Add what messages of one shape say."""
    best: dict[str, tuple[int, int]] = {}
    rest = []
    for at, (key, _) in enumerate(one.pairs):
        name = plain(key)
        if name in COLUMNS:
            rank = (list(COLUMNS).index(name), at)
            best[COLUMNS[name]] = min(rank, best.get(COLUMNS[name], rank))
        else:
            rest.append(key)
    values = {key: value.str.strip_chars_end(".:") for key, value in one.pairs}
    keys = list(values)
    for column, (_, at) in best.items():
        columns.setdefault(column, []).append((one.rows, values[keys[at]]))
    if rest:
        # None of these values has what JSON would have to escape.
        parts = [
            pl.concat_str(pl.lit(f'{json_text(key)}:"'), key, pl.lit('"'))
            for key in sorted(rest)
        ]
        said = pl.DataFrame(values).select(pl.concat_str(parts, separator=","))
        members.append((one.rows, said.to_series()))


def _of_others(
    message: pl.Series,
    rows: pl.Series,
    columns: dict[str, list[_Placed]],
    members: list[_Placed],
) -> None:
    """Add what the pairs of any messages say."""
    if not len(rows):
        return
    tokens = (
        pl.DataFrame({"row": rows, "token": message.gather(rows)})
        .with_columns(pl.col("token").str.extract_all(_TOKENS))
        .explode("token")
        .with_columns(pl.col("token").map_batches(_named, return_dtype=pl.String))
        .filter(
            pl.col("token").str.contains("=", literal=True),
            ~pl.col("token").str.starts_with('"'),
            ~pl.col("token").str.contains(f"^(?:{_SPEECH})$"),
        )
    )
    if not len(tokens):
        return
    pairs = _once(_split(tokens))
    known = pairs.filter(pl.col("column").is_not_null())
    for name in known.get_column("column").unique().to_list():
        part = known.filter(pl.col("column") == name)
        if len(part) > part.get_column("row").n_unique():
            part = part.sort("row", _rank(part.get_column("key")), maintain_order=True)
            part = part.unique("row", keep="first", maintain_order=True)
        placed = part.get_column("row"), part.get_column("value")
        columns.setdefault(name, []).append(placed)
    rest = pairs.filter(pl.col("column").is_null())
    if not len(rest):
        return
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
    members.append((rest.get_column("row"), rest.get_column("m")))


def _named(tokens: pl.Series) -> pl.Series:
    """Give a name to the ids that stand for themselves."""
    bare = pl.col("t").str.contains("=", literal=True).not_()
    odd = bare | pl.col("t").str.contains(r"^[\[(]")
    few = tokens.to_frame("t").select(odd.fill_null(value=False)).to_series()
    if not few.any():
        return tokens
    token = pl.col("t")
    value = (
        pl.when(token.str.contains(f"^{_MEMBER}$"))
        .then(token.str.extract(r'"([^"]*)"$'))
        .when(token.str.contains(f"^{_BRACKETED}$|{_FIRST}"))
        .then(token.str.extract(f"({_UUID})"))
    )
    named = pl.concat_str(pl.lit("request_id="), value)
    said = token.str.replace(f"^{_NAME}", "request_id=")
    found = tokens.filter(few).to_frame("t").select(pl.coalesce(named, said))
    return tokens.clone().scatter(few.arg_true(), found.to_series())


def _rank(keys: pl.Series) -> pl.Series:
    """Give the place of each name in `COLUMNS`."""
    order = list(COLUMNS)
    names = keys.unique().to_list()
    ranks = [order.index(plain(name)) for name in names]
    return keys.replace_strict(names, ranks, return_dtype=pl.Int32).alias("rank")


def _split(tokens: pl.DataFrame) -> pl.DataFrame:
    """Give row, key, value and the event column of each token."""
    cut = pl.col("token").str.splitn("=", 2).struct.rename_fields(["key", "value"])
    pairs = tokens.select("row", cut.alias("p")).unnest("p")
    value = pl.col("value")
    unquoted = (
        value.str.slice(1).str.head(-1).str.replace_all(r"""\\(["'\\])""", "${1}")
    )
    names = pairs.get_column("key").unique().to_list()
    columns = [COLUMNS.get(plain(name)) for name in names]
    return pairs.with_columns(
        pl.when(value.str.contains(r"""^["']"""))
        .then(unquoted)
        .otherwise(value.str.strip_chars_end(".:"))
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


def _scattered(size: int, placed: Sequence[_Placed]) -> pl.Series:
    column = pl.Series([None], dtype=pl.String).new_from_index(0, size).clone()
    for rows, values in placed:
        column = column.scatter(rows, values)
    return column
