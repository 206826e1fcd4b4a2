"""Brings what formats captured to the columns of an event: ids, numbers, text, attributes."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
#: One null, to be repeated.
NO_TEXT: Final = pl.Series([None], dtype=pl.String)
_LETTERS: Final = 26
_DIGITS: Final = 10
_AT_ONCE: Final = 1 << 17  # bytes that stay near the processor
_LONGEST_NULL: Final = 18
_FEW: Final = 200  # texts that Python mends before polars has made its search of them
_OVERDRAFT: Final = 2  # a used ratio beyond it is taken for percent
_HEX_ID: Final = 32
#: `traceparent` of W3C: version, trace, span, flags. The trace is what others know too.
_TRACE_PARENT: Final = r"(?i)^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$"
_TRACE_PARENT_LENGTH: Final = 55
_ZERO: Final = ord("0")
_UUID: Final = r"(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
SEVERITIES: Final = {
    # One letter: glog, as in `[rank0]:[E1103 ...`.
    "i": "info",
    "w": "warning",
    "e": "error",
    "f": "critical",
    # Three or four letters: zerolog, logrus.
    "trc": "debug",
    "dbg": "debug",
    "inf": "info",
    "wrn": "warning",
    "ftl": "critical",
    "severe": "error",
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
    # Most ids are a plain uuid or token: only the others are looked at closely.
    bare = logged.str.replace(ENGINE_PREFIX, "") if engine else logged
    rows = (logged.is_not_null() & _odd(bare)).arg_true()
    request_id = bare
    joined: pl.DataFrame | None = None
    if len(rows):
        some = logged[rows] if len(rows) < len(logged) else logged
        found = some.to_frame("raw").select(canonical(pl.col("raw"), engine=engine))
        request_id = found.to_series().alias(logged.name)
        if len(rows) < len(logged):
            request_id = bare.clone().scatter(rows, request_id)
        commas = rows.filter(some.str.contains(",", literal=True))
        if len(commas):
            parts = _parts(logged[commas], engine=engine)
            request_id = request_id.clone().scatter(commas, parts.list.first())
            joined = pl.DataFrame({"row": commas, "id_parts": parts})
    raw = NO_TEXT.new_from_index(0, len(logged))
    if engine:
        raw = raw.zip_with(logged.eq_missing(request_id), logged)
    elif len(rows):
        as_logged, now = logged[rows], request_id[rows]
        changed = as_logged.ne_missing(now)
        raw = raw.scatter(rows.filter(changed), as_logged.filter(changed))
    result = pl.DataFrame({"request_id": request_id, "raw_request_id": raw})
    if joined is None:
        nothing = pl.lit(None, pl.List(pl.String))
        return result.with_columns(nothing.alias("id_parts"))
    several = joined.filter(pl.col("id_parts").list.len() > 1)
    return (
        result.with_row_index("row")
        .join(several, on="row", how="left", maintain_order="left")
        .drop("row")
    )


def _odd(logged: pl.Series) -> pl.Series:
    """Tell which ids may not be canonical yet, or stand for none.

    That is: short, as long as bare hex or a trace's parent, zeros at the start, or an
    unusual character.
    """
    # One text of all ids: a regex for each of them costs three times as much.
    large = logged.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, offsets, data = large.buffers()
    if offsets is None or data is None:
        return pl.repeat(True, len(logged), eager=True, dtype=pl.Boolean)
    starts = np.frombuffer(memoryview(offsets), np.int64)[large.offset :]
    starts = starts[: len(logged) + 1]
    codes = np.frombuffer(memoryview(data), np.uint8)[starts[0] : starts[-1]]
    starts = starts - starts[0]
    lengths = np.diff(starts)
    found = (lengths <= _LONGEST_NULL) | (lengths == _HEX_ID)
    found |= lengths == _TRACE_PARENT_LENGTH
    zeros = np.flatnonzero(~found)
    for place in range(4):
        zeros = zeros[codes[starts[zeros] + place] == _ZERO]
    found[zeros] = True
    found[np.searchsorted(starts, _unusual(codes), side="right") - 1] = True
    return pl.Series(found)


def _unusual(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Give the places of what is no small letter, digit or dash."""
    places = []
    for at in range(0, len(codes), _AT_ONCE):
        part = codes[at : at + _AT_ONCE]
        # Codes below the first of a range wrap around to above it.
        usual = part - np.uint8(ord("a")) < _LETTERS
        usual |= part - np.uint8(ord("0")) < _DIGITS
        usual |= part == ord("-")
        if not usual.all():
            places.append(np.flatnonzero(~usual) + at)
    return np.concatenate(places) if places else np.zeros(0, np.int64)


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
    lower = pl.coalesce(lower.str.extract(_TRACE_PARENT), lower)
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
    return (
        level.str.strip_chars()
        .str.to_lowercase()
        .replace_strict(SEVERITIES, default=None, return_dtype=pl.String)
    )


def text(value: pl.Expr) -> pl.Expr:
    """Give text, null where it stands for nothing."""
    return pl.when((value != "-") & (value != "")).then(value)


def number(
    value: pl.Expr, dtype: pl.DataType | type[pl.DataType], scale: float
) -> pl.Expr:
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
    return (
        pl.when(percent | (parsed > _OVERDRAFT))
        .then((parsed / 100).round(9))
        .otherwise(parsed)
    )


def undo_hex(
    text: pl.Series, fields: pl.DataFrame, taken: pl.Series | None = None
) -> pl.DataFrame:
    r"""Undo nginx's `\xHH` in fields of lines, as bytes first and then as UTF-8.

    `taken` are the positions of the lines that have fields, None when all have.
    """
    escaped = text.str.contains("\\x", literal=True)
    rows = (escaped if taken is None else escaped[taken]).arg_true()
    if not len(rows):
        return fields
    texts = [name for name, dtype in fields.schema.items() if dtype == pl.String]
    some = fields.select(texts)[rows]
    marked = some.select(pl.all().str.contains("\\x", literal=True))
    mended = []
    for name in marked.columns:
        mask = marked.get_column(name)
        if mask.any():
            values = _unescaped(some.get_column(name).filter(mask))
            column = fields.get_column(name).clone()
            mended.append(column.scatter(rows.filter(mask), values))
    return fields.with_columns(mended)


def _unescaped(values: pl.Series) -> pl.Series:
    """Undo escapes: those of ASCII at once, those of longer characters byte by byte."""
    known = values.unique(maintain_order=True)  # one agent sends many requests
    if len(known) <= _FEW:
        plain = pl.Series([_from_bytes(value) for value in known], dtype=pl.String)
        return values.replace_strict(known, plain)
    large = known.str.contains(r"\\x[89A-Fa-f][0-9A-Fa-f]")
    plain = (
        known.to_frame().select(pl.first().str.replace_many(*_HEX_ASCII)).to_series()
    )
    if large.any():
        decoded = [_from_bytes(value) for value in known.filter(large)]
        plain = plain.scatter(large.arg_true(), decoded)
    if len(known) == len(values):
        return plain
    return values.replace_strict(known, plain)


def _from_bytes(value: str) -> str:
    data = _HEX_BYTE.sub(lambda found: bytes.fromhex(found[1].decode()), value.encode())
    return data.decode("utf-8", "replace")


_HEX_BYTE: Final = re.compile(rb"\\x([0-9A-Fa-f]{2})")
_SPELLINGS: Final[Mapping[str, str]] = {
    f"\\x{spelling}": chr(code)
    for code in range(128)
    for spelling in (f"{code:02x}", f"{code:02X}")
}
# Made once: to make them costs more than to use them on a block.
_HEX_ASCII: Final = (pl.lit([*_SPELLINGS]), pl.lit([*_SPELLINGS.values()]))


# ---------------------------------------------------------------- attributes


def attributes(
    columns: Sequence[pl.Series], size: int, raw: Sequence[str] = ()
) -> pl.Series:
    """Give a JSON object for each of `size` rows: the columns that are not null, by name.

    Rows without any are null, and cost nothing. Values are JSON text, numbers of the
    frame are numbers, `raw` columns are JSON already, or text.
    """
    kept = [column for column in columns if column.null_count() < size]
    if not kept:
        return NO_TEXT.new_from_index(0, size)
    frame = pl.DataFrame(kept)
    rows = (
        frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    )
    if len(rows) < size // 2:
        few = [column[rows] for column in kept]
        sparse = NO_TEXT.new_from_index(0, size)
        return sparse.scatter(rows, _objects(pl.DataFrame(few), raw))
    return _objects(frame, raw)


def _objects(frame: pl.DataFrame, raw: Sequence[str]) -> pl.Series:
    members = tuple(
        (
            name,
            frame.schema[name] == pl.String,
            name in raw,
            not frame.get_column(name).null_count(),
        )
        for name in sorted(frame.columns)
    )
    return frame.select(_object(members)).to_series()


@lru_cache(maxsize=256)  # the next block has the same members, mostly
def _object(members: Sequence[tuple[str, bool, bool, bool]]) -> pl.Expr:
    """Give the JSON object of members: name, is text, may be JSON already, never null."""
    quote = pl.lit('"')
    parts: list[pl.Expr] = []
    for name, is_text, raw, full in members:
        value = pl.col(name).cast(pl.String)
        text = [quote, escaped(value), quote]
        if raw:
            # Where the value is a text, its quotes are gone.
            whole = pl.when(value.str.contains(_JSON)).then(value)
            text = [whole.otherwise(pl.concat_str(text))]
        elif not is_text:
            text = [value]
        member = [pl.lit(f",{json_text(name)}:"), *text]
        # What is always there needs no text of its own that may be left out.
        parts += member if full else [pl.concat_str(member)]
    joined = pl.concat_str(parts, ignore_nulls=True)
    shown = pl.concat_str(pl.lit("{"), joined.str.slice(1), pl.lit("}"))
    always = any(full for *_, full in members)
    return shown if always else pl.when(joined != "").then(shown)


def json_text(value: str) -> str:
    """Give a JSON string."""
    escapes = {ord(old): new for old, new in _ESCAPES.items()}
    return f'"{value.translate(escapes)}"'


_JSON: Final = r"^(?:[\[{]|(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$)"
_ESCAPES: Final[Mapping[str, str]] = {
    "\\": "\\\\",
    '"': '\\"',
    **{chr(code): f"\\u{code:04x}" for code in range(32)},
}


# Made once: to make them costs more than to use them on a block.
_RAW: Final = pl.lit([*_ESCAPES])
_SPELLED: Final = pl.lit([*_ESCAPES.values()])


def escaped(value: pl.Expr) -> pl.Expr:
    """Escape text for a JSON string."""
    needs = value.str.contains(r'[\x00-\x1f"\\]')
    some = pl.when(needs).then(value)
    return pl.coalesce(some.str.replace_many(_RAW, _SPELLED), value)
