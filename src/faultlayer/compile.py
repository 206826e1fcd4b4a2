"""Compiles what a line looks like (a regex, JSON) to a plan for whole columns."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

import polars as pl

from faultlayer.jsonl import ROW, json_objects
from faultlayer.literals import pieces

HIT: Final = "_hit"
#: A named group, and its name.
GROUP: Final = re.compile(r"(?<!\\)(?:\\\\)*\(\?P<(\w+)>")
TIME_LOCAL: Final = "%d/%b/%Y:%H:%M:%S %z"
_FREE: Final = re.compile(r"\(\?P<(\w+)>\.\*\)")
# What is behind it decides whether these match, unless a letter must follow.
_LOOKS_AHEAD: Final = re.compile(r"\$|\\[BzZ]|\\b(?!\w(?![?*{|]))|\(\?[^P:]")
_SET: Final = re.compile(r"(?<!\\)\[\^?\]?(?:[^\]\\]|\\.)*\]")
_MANY: Final = 256
# Of this many lines this share is there once: of all lines about a quarter are.
_SAMPLE: Final = 4096
_SINGLE: Final = 0.9


@dataclass(frozen=True, slots=True)
class Match:
    """Rows that a plan took; `fields` has one row for each, in order.

    `rows` holds their positions, or is None when the plan took every row.
    """

    rows: pl.Series | None
    fields: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled pattern: `match` takes a column of lines, `fields` are its outputs.

    `may_take` tells of one line of plain ASCII whether `match` is worth its call; it
    never denies a line that `match` takes.
    """

    match: Callable[[pl.Series], Match]
    fields: tuple[str, ...]
    may_take: Callable[[str], object]


class PatternError(ValueError):
    """A pattern that cannot be compiled; the message says why."""


def kept(done: pl.DataFrame, names: Sequence[str]) -> Match:
    """Give the rows whose column `HIT` is true, with the fields of these names."""
    hits = done.get_column(HIT)
    fields = done.select(names)
    rows = hits.arg_true()
    if len(rows) == len(done):
        return Match(None, fields)
    return Match(rows, fields.filter(hits) if len(rows) else fields.clear())


# ---------------------------------------------------------------- regex


def regex_plan(regex: str) -> Plan:
    """Compile a regex with named groups; it has to take the whole line.

    For Python's engine it is compiled when `may_take` is first asked, which raises
    PatternError when it has a syntax of its own: that costs more than all the rest.
    """
    groups = tuple(dict.fromkeys(GROUP.findall(regex)))
    # The empty group tells a match from a line of optional groups that are all absent.
    whole = f"^(?P<{HIT}>)(?:{regex})$"
    try:
        expr = pl.col("text").str.extract_groups(whole)
    except pl.exceptions.ComputeError as error:
        _of_python(regex)  # whose message is better, if it refuses it too
        raise PatternError(str(error).strip().rpartition("error: ")[2]) from None
    if not groups:
        _of_python(regex)
        msg = "regex has no named group"
        raise PatternError(msg)

    @cache
    def by_heads() -> Callable[[pl.Series], Match] | None:
        head, free = _head(regex)
        if not free:
            return None
        cut = f"^(?:{head})"
        prefix = pl.col("head").str.extract_groups(f"{cut}$")
        return partial(_by_heads, cut=cut, prefix=prefix, free=free)

    def captured(text: pl.Series) -> pl.DataFrame:
        found = text.to_frame("text").select(expr.alias("m")).unnest("m")
        return found.with_columns(pl.col(HIT).is_not_null())

    def match(text: pl.Series) -> Match:
        if len(text) >= _MANY and (matched := by_heads()) is not None:
            return matched(text)
        if not _repeats(text):
            return kept(captured(text), groups)
        once = text.alias("text").unique(maintain_order=True).to_frame()
        at = (
            text.alias("text")
            .to_frame()
            .join(
                once.with_row_index("at"),
                on="text",
                how="left",
                nulls_equal=True,
                maintain_order="left",
            )
        )
        return kept(captured(once.to_series())[at.get_column("at")], groups)

    python = cache(partial(_of_python, regex))

    def may_take(line: str) -> object:
        return python().fullmatch(line)

    return Plan(match, groups, may_take)


def _repeats(text: pl.Series) -> bool:
    """Tell whether most lines stand there several times, by some of them.

    Captures cost ten times as much as to look for equals: clients and ports come again.
    """
    if len(text) < _SAMPLE * 4:
        return False
    some = text.gather_every(len(text) // _SAMPLE)
    return some.n_unique() < _SINGLE * len(some)


def _of_python(regex: str) -> re.Pattern[str]:
    try:
        return re.compile(regex)
    except re.error as error:
        raise PatternError(str(error)) from None


def _head(regex: str) -> tuple[str, str]:
    """Give what stands before a free text at the end, and the name of that text.

    Both are empty where there is none, or where what stands before it may be empty or
    depends on what follows.
    """
    *before, last = pieces(regex)
    head, free = "".join(before), _FREE.fullmatch(last)
    if free is None or "?P<" not in head:
        return "", ""
    if _LOOKS_AHEAD.search(_SET.sub("", head)):
        return "", ""
    if re.fullmatch(head, ""):
        return "", ""
    return head, free.group(1)


def _by_heads(text: pl.Series, cut: str, prefix: pl.Expr, free: str) -> Match:
    """Cut the free text off and capture in what is before it, once where lines share it.

    Captures cost five times as much as a cut, and many lines are of one moment.
    """
    lines = pl.DataFrame({"line": text, "left": text.str.replace(cut, "")})
    lines = lines.with_columns(
        pl.col("line").str.strip_suffix(pl.col("left")).alias("head")
    )
    whole = ~pl.col("left").str.contains("\n", literal=True)
    hits = lines.select((pl.col("head") != "") & whole).to_series()
    rows = hits.fill_null(value=False).arg_true()
    everything = len(rows) == len(text)
    if not everything:
        lines = lines[rows]
    heads = lines.select("head")
    known = heads.unique(maintain_order=True).with_row_index("at")
    if 2 * len(known) <= len(heads):
        found = known.select(prefix.alias("m")).unnest("m")
        at = heads.join(known, on="head", how="left", maintain_order="left")
        found = found[at.get_column("at")]
    else:
        found = heads.select(prefix.alias("m")).unnest("m")
    fields = found.with_columns(lines.get_column("left").alias(free))
    return Match(None if everything else rows, fields)


# ---------------------------------------------------------------- JSON

_JSON_START: Final = re.compile(r"\s*[\[{]")
# Colours within a value are spelled out, and so only seen when it is read.
_ESCAPE: Final = r"\\u001[bB]\["
_COLOUR: Final = r"\x1b\[[0-9;]*[A-Za-z]"


@dataclass(frozen=True, slots=True)
class JsonShape:
    """Which objects a format takes, and the keys that it reads.

    `require`: all present; `one_of`: at least one; `any_of`: at least one of each of
    these; `forbid`: none; `values`: a key has one of these values. An array on a line is read as an object with it at `list_key`.
    """

    require: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    forbid: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    list_key: str = ""


def _has(value: pl.Expr, allowed: Sequence[str]) -> pl.Expr:
    """Tell whether a value is one of these, or begins as those that end in `*` do."""
    starts = [one.removesuffix("*") for one in allowed if one.endswith("*")]
    return pl.any_horizontal(
        value.is_in([one for one in allowed if not one.endswith("*")]),
        *(value.str.starts_with(one) for one in starts),
    )


def json_plan(shape: JsonShape) -> Plan:
    """Compile a JSON shape; keys that it does not name come after those that it does.

    Every value is text: numbers as written by JSON, nested values as JSON.
    """
    named = dict.fromkeys(
        (
            *(*shape.keys, *shape.require, *shape.one_of, *shape.forbid),
            *(key for group in shape.any_of for key in group),
            *shape.values,
        )
    )
    if shape.list_key:
        named[shape.list_key] = None
    keys = tuple(named)
    if not keys:
        msg = "json names no key"
        raise PatternError(msg)
    hit = pl.all_horizontal(
        pl.lit(value=True),
        *(pl.col(key).is_not_null() for key in shape.require),
        *(pl.col(key).is_null() for key in shape.forbid),
        *(_has(pl.col(key), values) for key, values in shape.values.items()),
    )
    for group in (*shape.any_of, *([shape.one_of] if shape.one_of else [])):
        hit &= pl.any_horizontal(pl.col(key).is_not_null() for key in group)

    nothing = pl.DataFrame(schema=dict.fromkeys(keys, pl.String))
    seen: set[str] = set()

    def match(text: pl.Series) -> Match:
        if not text.str.contains(r"^\s*[\[{]").any():
            return Match(pl.Series([], dtype=pl.Int64), nothing)
        objects = json_objects(text, keys, shape.list_key, seen=seen)
        kept = objects.filter(hit)
        rows = kept.get_column(ROW)
        fields = kept.drop(ROW)
        if text.str.contains(_ESCAPE).any():
            fields = fields.with_columns(pl.col(pl.String).str.replace_all(_COLOUR, ""))
        return Match(None if len(kept) == len(text) else rows, fields)

    return Plan(match, keys, _JSON_START.match)
