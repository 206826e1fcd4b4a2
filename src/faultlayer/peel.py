"""Gives the line inside a wrapper, and what the wrapper tells of it."""

import json
import re
from collections.abc import Sequence
from typing import Final

import polars as pl

from faultlayer.jsonl import ROW, json_objects
from faultlayer.wrappers import Wrapper

ANSI: Final = r"\x1b\[[0-9;]*[A-Za-z]"
_NESTED: Final = re.compile(r"[.\[]|^\$")
_LINE: Final = "_line"


def peel(text: pl.Series, wrapper: Wrapper) -> pl.DataFrame:
    """Give `_row`, `text` and the parts that are told of the lines it is around."""
    if wrapper.plan is not None:
        if text.str.contains("\x1b", literal=True).any():
            text = text.str.replace_all(ANSI, "")
        match = wrapper.plan.match(text)
        rows = match.rows
        if rows is None:
            rows = pl.int_range(len(text), eager=True, dtype=pl.UInt32)
        found = match.fields.with_columns(rows.cast(pl.Int64).alias(ROW))
    else:
        found = _peel_json(text, wrapper)
    if wrapper.arrows:
        body = pl.col("text").str.replace_all('"=>', '":', literal=True)
        found = found.with_columns(body.alias("text"))
    for part, regexes in wrapper.find.items():
        groups = [pl.col("fields").str.extract(regex, 1) for regex in regexes]
        value = pl.coalesce(groups).str.replace_all(r"\\(.)", "${1}")
        found = found.with_columns(value.alias(part))
    return found


def _peel_json(text: pl.Series, wrapper: Wrapper) -> pl.DataFrame:
    paths = [path for several in wrapper.json.values() for path in several]
    paths = [*paths, *wrapper.one_of, *wrapper.forbid]
    flat = [path for path in paths if not _NESTED.search(path)]
    # Of many paths few are there: a look for each key costs less than to read it.
    deep = {path for path in paths if _NESTED.search(path) and _holds(text, path)}
    flat += sorted(path for path in deep if "." in path and path[0] != "$")
    found = json_objects(text, list(dict.fromkeys(flat)), others=False)
    found = found.with_columns(text.gather(found.get_column(ROW)).alias(_LINE))

    def first(several: Sequence[str]) -> pl.Expr:
        exprs = [
            one
            for path in several
            for one in ([pl.col(path)] if path in found.columns else [])
            + ([_below(path)] if path in deep else [])
        ]
        return pl.coalesce(exprs) if exprs else pl.lit(None, pl.String)

    keep = [pl.col("text").is_not_null()]
    if "time" in wrapper.json:
        keep.append(pl.col("time").is_not_null())
    parts = {part: first(several) for part, several in wrapper.json.items()}
    if wrapper.one_of:
        parts["_any"] = first(wrapper.one_of).is_not_null()
        keep.append(pl.col("_any"))
    if wrapper.forbid:
        parts["_none"] = first(wrapper.forbid).is_null()
        keep.append(pl.col("_none"))
    found = found.select(ROW, **parts).filter(keep).select(ROW, *wrapper.json)
    return _spelled_out(found, text, wrapper)


def _holds(text: pl.Series, path: str) -> bool:
    key = path.removeprefix("$.").partition(".")[0].partition("[")[0]
    return bool(text.str.contains(f'"{key}', literal=True).any())


def _below(path: str) -> pl.Expr:
    return pl.col(_LINE).str.json_path_match("$." + path.removeprefix("$."))


def _spelled_out(
    found: pl.DataFrame, text: pl.Series, wrapper: Wrapper
) -> pl.DataFrame:
    """Read texts that stand as an array of bytes or of texts: journald writes these."""
    arrays = found.get_column("text").str.contains(r'^\[(?:\d+,\s*\d+|\d+\]$|")')
    if not arrays.any():
        return found
    keys = "|".join(wrapper.json["text"])
    at = found.get_column(ROW).filter(arrays)
    real = text.gather(at).str.contains(rf'"(?:{keys})"\s*:\s*\[')
    rows = arrays.arg_true().filter(real)
    if not len(rows):
        return found
    column = found.get_column("text")
    texts = [_text_of(one) for one in column.gather(rows)]
    return found.with_columns(column.clone().scatter(rows, texts).alias("text"))


def _text_of(array: str) -> str:
    values = json.loads(array)
    if all(isinstance(value, int) and 0 <= value < 256 for value in values):  # noqa: PLR2004
        return bytes(values).decode("utf-8", "replace")
    return "\n".join(map(str, values))
