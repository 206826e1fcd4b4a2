"""Brings what formats captured to the columns of an event: ids, numbers, text, attributes."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

# FORMATS 8.2: what programs write for an id that there is not.
NULLS: Final = (
    "",
    "-",
    "–",  # noqa: RUF001
    "null",
    "none",
    "nil",
    "undefined",
    "unknown",
    "n/a",
    "na",
    "system",
    "invalid-request-id",
)
ENGINE_PREFIX: Final = (
    r"^(?:\d+_)?(?:chatcmpl|cmpl|chat|embd|pool|score|rerank|tokenize|tokn|trsc|classify"
    r"|generate-tokens|resp)-"
)
_LONGEST_NULL: Final = 18
_HEX_ID: Final = 32
_UUID: Final = r"(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
SEVERITIES: Final = {
    # One letter: glog, as in `[rank0]:[E1103 ...`.
    "i": "info",
    "w": "warning",
    "e": "error",
    "f": "critical",
    "trace": "debug",
    "debug": "debug",
    "info": "info",
    "notice": "info",
    "success": "info",
    "warn": "warning",
    "warning": "warning",
    "err": "error",
    "error": "error",
    "exception": "error",
    "crit": "critical",
    "critical": "critical",
    "fatal": "critical",
    "alert": "critical",
    "emerg": "critical",
    "panic": "critical",
}


def ids(logged: pl.Series, *, engine: bool = False) -> pl.DataFrame:
    """Give `request_id`, `raw_request_id` and `id_parts` of ids as logged.

    With `engine`, one prefix of an engine (`chatcmpl-`) is taken off. `raw_request_id` is
    null where it says nothing else; `id_parts` is null where there is one id.
    """
    frame = logged.to_frame("raw")
    length = pl.col("raw").str.len_bytes()
    # Most ids are a plain uuid or token: only the others are looked at closely.
    odd = (
        (length <= _LONGEST_NULL)
        | (length == _HEX_ID)
        | pl.col("raw").str.contains(r"[^0-9a-z-]")
        | pl.col("raw").str.starts_with("0000")
    )
    odd_rows = frame.select(odd.fill_null(value=False) | pl.lit(engine)).to_series()
    rows = (odd_rows & logged.is_not_null()).arg_true()
    request_id, joined = logged, None
    if len(rows):
        some = logged.gather(rows) if len(rows) < len(logged) else logged
        found = some.to_frame("raw").select(canonical(pl.col("raw"), engine=engine))
        request_id = _put(logged, rows, found.to_series())
        commas = rows.filter(some.str.contains(",", literal=True))
        if len(commas):
            joined = _parts(logged.gather(commas), engine=engine)
            request_id = request_id.clone().scatter(commas, joined.list.first())
            joined = pl.DataFrame({"row": commas, "id_parts": joined})
    result = pl.DataFrame({"request_id": request_id, "raw": logged}).select(
        "request_id",
        pl.when(pl.col("raw").ne_missing(pl.col("request_id")))
        .then("raw")
        .alias("raw_request_id")
        if len(rows)
        else pl.lit(None, pl.String).alias("raw_request_id"),
    )
    if joined is None:
        nothing = pl.lit(None, pl.List(pl.String))
        return result.with_columns(nothing.alias("id_parts"))
    several = joined.filter(pl.col("id_parts").list.len() > 1)
    return (
        result.with_row_index("row")
        .join(several, on="row", how="left", maintain_order="left")
        .drop("row")
    )


def _put(column: pl.Series, rows: pl.Series, values: pl.Series) -> pl.Series:
    if len(rows) == len(column):
        return values.alias(column.name)
    return column.clone().scatter(rows, values)


def _parts(logged: pl.Series, *, engine: bool) -> pl.Series:
    """Split joined ids and bring each part to its canonical spelling."""
    rows = pl.int_range(len(logged), eager=True, dtype=pl.UInt32).alias("row")
    parts = pl.DataFrame({"row": rows, "part": logged.str.split(",")})
    parts = parts.explode("part").select(
        "row", canonical(pl.col("part"), engine=engine).alias("part")
    )
    lists = (
        parts.drop_nulls("part")
        .unique(["row", "part"], keep="first", maintain_order=True)
        .group_by("row", maintain_order=True)
        .agg("part")
    )
    joined = rows.to_frame().join(lists, on="row", how="left", maintain_order="left")
    return joined.get_column("part")


def canonical(part: pl.Expr, *, engine: bool = False) -> pl.Expr:
    """Give one id in its canonical spelling, null for what is none."""
    part = part.str.strip_chars(" \t\"'[]")
    if engine:
        part = part.str.replace(ENGINE_PREFIX, "")
    lower = part.str.to_lowercase()
    bare = lower.str.contains("^[0-9a-f]{32}$")
    dashed = pl.concat_str(
        lower.str.slice(0, 8),
        lower.str.slice(8, 4),
        lower.str.slice(12, 4),
        lower.str.slice(16, 4),
        lower.str.slice(20, 12),
        separator="-",
    )
    nothing = (
        lower.is_in(NULLS)
        | (part.str.len_chars() <= 1)
        | lower.str.contains(r"^[0-]*$")
        | part.str.contains(r"^(?:\$|%REQ\()")
    )
    return (
        pl.when(nothing)
        .then(None)
        .when(bare)
        .then(dashed)
        .when(part.str.contains(_UUID))
        .then(lower)
        .otherwise(part)
    )


def severity(level: pl.Expr) -> pl.Expr:
    """Give the severity of a level as programs write it."""
    return level.str.strip_chars().str.to_lowercase().replace_strict(
        SEVERITIES, default=None, return_dtype=pl.String
    )


def text(value: pl.Expr) -> pl.Expr:
    """Give text, null where it stands for nothing."""
    return pl.when((value != "-") & (value != "")).then(value)


def number(value: pl.Expr, dtype: pl.DataType | type[pl.DataType], scale: float) -> pl.Expr:
    """Give a finite number from text or a number; percent signs count."""
    parsed = value.cast(pl.Float64, strict=False)
    parsed = pl.when(parsed.is_finite()).then(parsed)
    if scale != 1:
        # Rounded: 0.29 * 1000 is 290 and not 290.00000000000006.
        parsed = (parsed * scale).round(9)
    return parsed.cast(dtype, strict=False)


def ratio(value: pl.Expr) -> pl.Expr:
    """Give a used ratio as a fraction: `"99%"` is 0.99, numbers stay as they are.

    A number above 2 is taken for percent: the most that an overdraft reaches is 200 %.
    """
    percent = value.str.ends_with("%")
    parsed = number(value.str.strip_chars("% "), pl.Float64, 1)
    return pl.when(percent | (parsed > 2)).then((parsed / 100).round(9)).otherwise(parsed)


def undo_hex(value: pl.Series) -> pl.Series:
    r"""Undo nginx's `\xHH`, as bytes first and then as UTF-8; for the rare rows."""
    return pl.Series(
        value.name,
        [None if one is None else _unescaped(one) for one in value.to_list()],
        dtype=pl.String,
    )


def _unescaped(value: str) -> str:
    head, *rest = value.split("\\x")
    data = bytearray(head.encode())
    for part in rest:
        try:
            data += bytes.fromhex(part[:2]) + part[2:].encode()
        except ValueError:
            data += b"\\x" + part.encode()
    return data.decode("utf-8", "replace")


# ---------------------------------------------------------------- attributes


def attributes(
    columns: Sequence[pl.Series], size: int, raw: Sequence[str] = ()
) -> pl.Series:
    """Give a JSON object for each of `size` rows: the columns that are not null, by name.

    Values are JSON text, numbers of the frame are numbers, `raw` columns are JSON already.
    """
    parts: list[pl.Expr] = []
    kept = [column for column in columns if column.null_count() < size]
    for column in sorted(kept, key=lambda column: column.name):
        name = column.name
        value = pl.col(name)
        if column.dtype != pl.String:
            value = value.cast(pl.String)
            quoted = pl.concat_str(pl.lit(f"{json_text(name)}:"), value)
        elif name in raw:
            quoted = pl.concat_str(pl.lit(f"{json_text(name)}:"), value)
        else:
            quoted = pl.concat_str(
                pl.lit(f'{json_text(name)}:"'), escaped(value), pl.lit('"')
            )
        parts.append(quoted)
    if not parts:
        return pl.Series("attrs", [None], pl.String).new_from_index(0, size)
    joined = pl.concat_str(parts, separator=",", ignore_nulls=True)
    return pl.DataFrame(kept).select(
        pl.when(joined != "")
        .then(pl.concat_str(pl.lit("{"), joined, pl.lit("}")))
        .alias("attrs")
    ).to_series()


def json_text(value: str) -> str:
    """Give a JSON string."""
    escapes = {ord(old): new for old, new in _ESCAPES.items()}
    return f'"{value.translate(escapes)}"'


_ESCAPES: Final[Mapping[str, str]] = {
    "\\": "\\\\",
    '"': '\\"',
    **{chr(code): f"\\u{code:04x}" for code in range(32)},
}


def escaped(value: pl.Expr) -> pl.Expr:
    """Escape text for a JSON string."""
    needs = value.str.contains(r'[\x00-\x1f"\\]')
    mended = value.str.replace_many(list(_ESCAPES), list(_ESCAPES.values()))
    return pl.when(needs).then(mended).otherwise(value)


# ---------------------------------------------------------------- upstream lists


def upstream(lists: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Give the last times (ms), `upstream_hops`, `forwarded` and the lists as logged.

    `lists` has connect, header and response, as far as the log has them. They are split
    at `, ` and ` : ` only: addresses and ports hold `:` as well.
    """
    logged = pl.DataFrame(
        {part: column.cast(pl.String) for part, column in lists.items()}
    )
    size = len(logged)
    present = logged.columns
    times = logged.select(pl.all().cast(pl.Float64, strict=False))
    silent = logged.select(
        pl.all_horizontal(pl.all().is_in(["-", ""]) | pl.all().is_null())
    ).to_series()
    several = pl.any_horizontal(
        pl.col(part).str.contains(r", | : ") for part in present
    )
    many = logged.select(several.fill_null(value=False)).to_series()
    reached = [part for part in ("connect", "header") if part in present]
    forwarded: pl.Expr = pl.any_horizontal(
        pl.col(part).is_not_null() for part in reached
    )
    if not reached:
        # Only the response time: a number there also stands for a refused connection.
        forwarded = pl.when(pl.lit(value=False)).then(pl.lit(value=True))
    columns: dict[str, pl.Series] = {
        part: (times.get_column(part) * 1000).round(6) for part in present
    }
    columns["hops"] = (~silent).cast(pl.Int32)
    columns["forwarded"] = times.select(forwarded.alias("f")).to_series()
    if not reached:
        columns["forwarded"] = columns["forwarded"].set(silent, value=False)
    rows = many.arg_true()
    if len(rows):
        _put_lists(columns, logged[rows.to_list()], rows, reached)
    nothing = pl.Series([None], dtype=pl.Float64).new_from_index(0, size)
    result = pl.DataFrame(
        {
            f"upstream_{part}_ms": columns.get(part, nothing)
            for part in ("connect", "header", "response")
        }
        | {"upstream_hops": columns["hops"], "forwarded": columns["forwarded"]}
    )
    if len(rows):
        kept = logged.with_columns(many.alias("many"))
        result = result.with_columns(
            kept.select(
                pl.when("many").then(part).alias(key)
                for part, key in (
                    ("connect", "uct"),
                    ("header", "uht"),
                    ("response", "urt"),
                )
                if part in present
            )
        )
    return result


def _put_lists(
    columns: dict[str, pl.Series],
    logged: pl.DataFrame,
    rows: pl.Series,
    reached: Sequence[str],
) -> None:
    """Overwrite the rows that hold a list of several upstreams."""
    items = logged.select(
        pl.all()
        .str.replace_all(" : ", ", ", literal=True)
        .str.split(", ")
        # A state without a peer prints nothing before " : ".
        .list.eval(
            pl.element().filter(pl.element() != "").cast(pl.Float64, strict=False)
        )
    )
    for part in logged.columns:
        last = (items.get_column(part).list.last() * 1000).round(6)
        columns[part] = columns[part].clone().scatter(rows, last)
    hops = items.select(pl.max_horizontal(pl.all().list.len())).to_series()
    columns["hops"] = columns["hops"].clone().scatter(rows, hops.cast(pl.Int32))
    if reached:
        some = items.select(
            pl.any_horizontal(
                pl.col(part).list.drop_nulls().list.len() > 0 for part in reached
            )
        ).to_series()
        columns["forwarded"] = columns["forwarded"].clone().scatter(rows, some)
