"""Reads upstream times, peers and answers of access records, nginx's lists among them."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import polars as pl

from faultlayer.normalise import NO_TEXT

# Lengths and statuses that do not tell of an answer: nothing, gone, failed, too late.
_PROXYS: Final = ("0", "499", "502", "504")

_TIMES: Final = ("connect", "header", "response")


def read(lists: Mapping[str, pl.Series], scale: float = 1000) -> pl.DataFrame:
    """Give the last times (ms), `upstream_hops`, `forwarded` and the lists as logged.

    `lists` has connect, header and response, as far as the log has them, and perhaps
    peer: who was tried, and answered: statuses or lengths of what upstreams answered.
    They are split at `, ` and ` : ` only: addresses and ports hold `:` as well. Without
    connect times a peer that gave no header may have been reached or not: `forwarded`
    is null.
    """
    logged = pl.DataFrame({part: one.cast(pl.String) for part, one in lists.items()})
    answered = logged.get_column("answered") if "answered" in lists else None
    if len(logged.columns) > 1:
        logged = logged.drop("answered", strict=False)
    size, present = len(logged), [part for part in _TIMES if part in logged.columns]
    reached = [part for part in ("connect", "header") if part in present]
    times = logged.select(_times(tuple(present), scale))
    # Nearly all lines have one upstream and three numbers: only the others are read.
    odd = pl.int_range(size, dtype=pl.UInt32, eager=True)
    if present:
        lacking = times.select(pl.any_horizontal(pl.all().is_null())).to_series()
        odd = lacking.arg_true()
    known = True if reached else None
    columns: dict[str, pl.Series] = {
        **{part: times.get_column(part) for part in present},
        "hops": pl.Series([1], dtype=pl.Int32).new_from_index(0, size),
        # With a response time alone: a number there also stands for a refusal.
        "forwarded": pl.Series([known], dtype=pl.Boolean).new_from_index(0, size),
    }
    raw: list[pl.Series] = []
    if len(odd):
        few = logged[odd]
        mended = _asked(few, _odd(tuple(few.columns), tuple(reached)))
        several = few.select(_SEVERAL).to_series().arg_true()
        if len(several):
            joined, rows = few[several], odd[several]
            for name, values in _of_lists(joined, tuple(reached), scale).items():
                column = mended.get(name)
                if column is None:
                    column = times.get_column(name)[odd]
                mended[name] = column.scatter(several, values)
            keys = {"connect": "uct", "header": "uht", "response": "urt"}
            raw = [
                NO_TEXT.new_from_index(0, size)
                .scatter(rows, joined.get_column(part))
                .alias(keys[part])
                for part in present
            ]
        for name, values in mended.items():
            columns[name] = columns[name].scatter(odd, values)
    if answered is not None:
        some = answered.to_frame("a").select(_answers(pl.col("a"))).to_series()
        if "peer" in logged.columns:
            some &= columns["hops"] > 0
        columns["forwarded"] = (
            columns["forwarded"].clone().scatter(some.arg_true(), True)
        )
    result = {f"upstream_{part}_ms": columns[part] for part in present}
    result["upstream_hops"] = columns["hops"]
    result["forwarded"] = columns["forwarded"]
    return pl.DataFrame(result | {column.name: column for column in raw})


def _answers(logged: pl.Expr) -> pl.Expr:
    """Tell where an upstream answered; the proxy itself writes what `_PROXYS` has."""
    numbers = logged.str.extract_all(r"\d+")
    mine = pl.element().is_in(_PROXYS)
    return numbers.list.eval(~mine).list.any().fill_null(value=False)


# Expressions cost as much to make as to use on a block: each is made once.
_SEVERAL: Final = pl.any_horizontal(
    pl.all().str.contains(", | : ").fill_null(value=False)
)


def _asked(logged: pl.DataFrame, exprs: Mapping[str, pl.Expr]) -> dict[str, pl.Series]:
    columns = logged.select(**exprs)
    return dict(zip(columns.columns, columns, strict=True))


@cache
def _times(present: tuple[str, ...], scale: float) -> pl.Expr:
    """Give the times (ms) of lines that name one upstream."""
    return (pl.col(present).cast(pl.Float64, strict=False) * scale).round(6)


@cache
def _odd(columns: tuple[str, ...], reached: tuple[str, ...]) -> Mapping[str, pl.Expr]:
    """Give hops and forwarded of lines that lack one of the times."""
    silent = pl.all_horizontal(pl.all().is_in(["-", ""]) | pl.all().is_null())
    some: pl.Expr = pl.when(silent).then(pl.lit(value=False))
    absent = pl.all_horizontal(pl.all().is_null())
    hops = (~silent).cast(pl.Int32)
    if reached:
        numbers = pl.col(reached).cast(pl.Float64, strict=False).is_not_null()
        number = pl.any_horizontal(numbers)
        if "peer" in columns:
            said = pl.lit(value="connect" in reached) | number | silent
        else:
            # What a record does not have at all says nothing.
            bare = pl.all_horizontal(pl.col(reached).is_null())
            said = ~bare | (silent & ~absent)
            hops = pl.when(~absent).then(hops)
        some = pl.when(said).then(number)
    return {"hops": hops, "forwarded": some}


def _of_lists(
    logged: pl.DataFrame, reached: tuple[str, ...], scale: float
) -> dict[str, pl.Series]:
    """Give what `upstream` gives, for lines that name several upstreams."""
    numbers = logged.select(_NUMBERS)
    return _asked(numbers, _last(tuple(numbers.columns), reached, scale))


# A state without a peer prints nothing before " : ".
_ITEM: Final = pl.element().filter(pl.element() != "")
_NUMBERS: Final = (
    pl.all()
    .str.replace_all(" : ", ", ", literal=True)
    .str.split(", ")
    .list.eval(_ITEM.cast(pl.Float64, strict=False))
)


@cache
def _last(
    columns: tuple[str, ...], reached: tuple[str, ...], scale: float
) -> Mapping[str, pl.Expr]:
    """Give the last times of lists, how many upstreams there were, and forwarded."""
    found = {
        part: (pl.col(part).list.last() * scale).round(6)
        for part in columns
        if part in _TIMES
    }
    found["hops"] = pl.max_horizontal(pl.all().list.len()).cast(pl.Int32)
    if reached:
        some = pl.any_horizontal(
            pl.col(part).list.drop_nulls().list.len() > 0 for part in reached
        )
        bare = pl.all_horizontal(pl.col(part).is_null() for part in reached)
        found["forwarded"] = pl.when(~bare).then(some.fill_null(value=False))
    return found
