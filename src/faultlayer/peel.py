"""Gives the line inside a wrapper, and what the wrapper tells of it."""

import json
import re
from collections.abc import Sequence
from typing import Final

import polars as pl

from faultlayer.jsonl import ROW, json_objects
from faultlayer.wrappers import Wrapper

ANSI: Final = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_NESTED: Final = re.compile(r"[.\[]|^\$")
_IS_KEY: Final = re.compile(r"^[^$\[]+$")  # a path that may be one key with dots


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
    paths = list(dict.fromkeys([*paths, *wrapper.one_of, *wrapper.forbid]))
    flat = [path for path in paths if not _NESTED.search(path)]
    # Of many paths few are there: a look for each key costs less than to read it.
    deep = [path for path in paths if _NESTED.search(path) and _holds(text, path)]
    dotted = [path for path in deep if _IS_KEY.search(path) and _has_key(text, path)]
    found = json_objects(text, [*flat, *dotted], others=False)
    lines = text.gather(found.get_column(ROW)).to_frame("line")
    below = lines.select(
        pl.col("line")
        .str.json_path_match("$." + path.removeprefix("$."))
        .alias(f"${path}")
        for path in deep
    )
    found = found.hstack(below)

    def first(several: Sequence[str]) -> pl.Expr:
        names = [name for path in several for name in (f"${path}", path)]
        there = [name for name in names if name in found.columns]
        return pl.coalesce(there) if there else pl.lit(None, pl.String)

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
    """Tell whether all keys of a path occur at all."""
    keys = [key.partition("[")[0] for key in path.removeprefix("$.").split(".")]
    apart = all(_has_key(text, key) for key in keys)
    return apart or (_IS_KEY.search(path) is not None and _has_key(text, path))


def _has_key(text: pl.Series, key: str) -> bool:
    return bool(text.str.contains(f'"{key}"', literal=True).any())


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
