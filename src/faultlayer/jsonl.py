"""Reads lines of JSON objects into columns, exact line by line whatever they hold."""

import io
import json
import re
from collections.abc import Sequence
from typing import Final

import polars as pl

ROW: Final = "_row"
TEXT: Final = "_text"
_HEX_ESCAPES: Final = re.compile(r"\\\\|(?:\\x[0-9A-Fa-f]{2})+")
_BARE_ZEROS: Final = re.compile(r'((?<!\\)":\s*-?)0+(\d)')
_NO_VALUE: Final = re.compile(r'("\s*:)\s*([,}])')
_LEAF: Final = 256
_MOST_SEEN: Final = 64


def json_objects(
    text: pl.Series,
    keys: Sequence[str],
    list_key: str = "",
    *,
    others: bool = True,
    seen: set[str] | None = None,
) -> pl.DataFrame:
    r"""Read the lines that hold a JSON object: `_row`, `keys`, and with `others` the rest.

    `seen` are further keys that earlier lines had; it grows, so that the next lines are
    read once and not twice. It changes nothing in the answer.

    A line that is no JSON is repaired (nginx writes `009`, `:,` and `\xHH`) or left
    out; it never touches its neighbours.
    """
    lines = pl.DataFrame({ROW: pl.int_range(len(text), eager=True), TEXT: text})
    lines = lines.with_columns(pl.col(TEXT).str.strip_chars())
    if list_key:
        array = pl.col(TEXT).str.starts_with("[")
        wrapped = pl.concat_str(pl.lit(f'{{"{list_key}":'), TEXT, pl.lit("}"))
        lines = lines.with_columns(
            pl.when(array).then(wrapped).otherwise(TEXT).alias(TEXT)
        )
    whole = pl.col(TEXT).str.starts_with("{") & pl.col(TEXT).str.ends_with("}")
    lines = lines.filter(whole)
    # polars reads half a surrogate as NUL; Python tells it from a pair.
    halves = lines.get_column(TEXT).str.contains(r"(?i)\\ud[89a-f]").arg_true()
    if len(halves):
        texts = [_mended(one) for one in lines.get_column(TEXT).gather(halves)]
        mended = lines.get_column(TEXT).clone().scatter(halves, texts)
        lines = lines.with_columns(mended.alias(TEXT)).drop_nulls(TEXT)
    names = [*keys, *sorted((seen or set()).difference(keys, (ROW, TEXT)))]
    objects = _read(lines, names)
    if others and len(objects):
        # A line with more keys than values read has one that `keys` does not name.
        values = pl.sum_horizontal(pl.col(name).is_not_null() for name in names)
        more = objects.filter(_keys_in(objects.get_column(TEXT)) > values)
        found = _other_keys(more.get_column(TEXT), names) if len(more) else []
        if found:
            names += found
            objects = _read(lines, names)
            if seen is not None and len(seen) < _MOST_SEEN:
                seen.update(found)
    absent = {
        name
        for name in names[len(keys) :]
        if objects.get_column(name).null_count() == len(objects)
    }
    rest = sorted(set(names[len(keys) :]) - absent)
    return objects.select(ROW, *keys, *rest)


def _keys_in(text: pl.Series) -> pl.Expr:
    """Count what looks like a key in each line: no fewer than its object has."""
    keys = text.str.count_matches('":', literal=True)
    # Each by itself is found faster than all at once.
    spaces = [text.str.contains(f'"{space}', literal=True) for space in " \t\r"]
    if any(found.any() for found in spaces):
        spaced = (spaces[0] | spaces[1] | spaces[2]).arg_true()
        some = text.gather(spaced).str.count_matches(r'"\s*:')
        keys = keys.clone().scatter(spaced, some)
    return pl.lit(keys)


def _read(lines: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Read lines at once; halve them until what is no JSON stands alone."""
    types = {ROW: pl.Int64, **dict.fromkeys(names, pl.String)}
    if not len(lines):
        return lines.clear().with_columns(
            pl.lit(None, pl.String).alias(n) for n in names
        )
    # The row number inside each object proves that no line was split or joined.
    # Written as a table of two columns, the text itself is copied once and not held.
    whole = io.BytesIO()
    lines.select(
        pl.concat_str(pl.lit(f'{{"{ROW}":'), ROW), pl.col(TEXT).str.slice(1)
    ).write_csv(whole, include_header=False, quote_style="never", batch_size=len(lines))
    whole.seek(0)
    try:
        objects = pl.read_ndjson(whole, schema=types)
    except pl.exceptions.PolarsError:
        objects = None
    if objects is not None and objects.get_column(ROW).equals(lines.get_column(ROW)):
        return objects.insert_column(1, lines.get_column(TEXT))
    if len(lines) > _LEAF:
        half = len(lines) // 2
        return pl.concat([_read(lines[:half], names), _read(lines[half:], names)])
    return _read_mended(lines, names)


def _read_mended(lines: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Read a few lines of which one is wrong: mend what can be, leave out the rest."""
    texts = [_mended(one) for one in lines.get_column(TEXT)]
    mended = lines.with_columns(pl.Series(TEXT, texts, pl.String)).drop_nulls(TEXT)
    if not mended.equals(lines):
        return _read(mended, names)
    if len(lines) == 1:  # JSON to Python, but not to polars
        return _read(lines.clear(), names)
    return pl.concat([_read(lines[at : at + 1], names) for at in range(len(lines))])


def _mended(line: str) -> str | None:
    """Give a line as strict JSON, or None when it holds no object."""
    for attempt in (line, _without_nginx_errors(line)):
        try:
            found = json.loads(
                attempt, object_pairs_hook=_first_wins, parse_constant=_no_number
            )
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            text = json.dumps(found, ensure_ascii=False)
            return text.encode("utf-8", "replace").decode()
    return None


def _first_wins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def _no_number(_: str) -> None:
    """Read NaN and Infinity as no value."""


def _without_nginx_errors(line: str) -> str:
    r"""Mend what nginx writes into hand-made JSON: `009`, nothing at all, `\xHH`."""
    line = _HEX_ESCAPES.sub(_decoded, line)
    line = _BARE_ZEROS.sub(r"\1\2", line)
    return _NO_VALUE.sub(r"\1null\2", line)


def _decoded(match: re.Match[str]) -> str:
    if match.group() == "\\\\":
        return match.group()
    data = bytes.fromhex(match.group().replace("\\x", ""))
    return json.dumps(data.decode("utf-8", "replace"))[1:-1]


def _other_keys(text: pl.Series, names: Sequence[str]) -> list[str]:
    """Give the keys of objects that `names` lacks, sorted."""
    source = io.BytesIO("\n".join(text.to_list()).encode())
    try:
        found = set(pl.read_ndjson(source, infer_schema_length=None).columns)
    except pl.exceptions.PolarsError:  # a key that is a number here and text there
        found = {key for line in text for key in json.loads(_mended(line) or "{}")}
    return sorted(found.difference(names, (ROW, TEXT)))
