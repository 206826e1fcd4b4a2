"""Puts what a wrapper told of a line into its event, where the line itself says nothing."""

from typing import Final

import polars as pl

from faultlayer import normalise

#: What events keep of it as it is.
KEPT: Final = ("outer_us", "outer_zoned", "host", "origin", "output")
#: What fills gaps, under a name of its own until then.
_GAPS: Final = {name: f"_told_{name}" for name in ("severity", "request_id")}
_TROUBLE: Final = ("warning", "error", "critical")
_IDS: Final = ("request_id", "raw_request_id", "id_parts")


def columns() -> list[pl.Expr]:
    """Give the columns of `unwrap.TOLD` that `merged` wants to have."""
    return [*map(pl.col, KEPT), *(pl.col(a).alias(b) for a, b in _GAPS.items())]


def merged(events: pl.DataFrame) -> pl.DataFrame:
    """Fill the gaps of event rows that have `columns`, and drop these.

    A severity only where it is one of trouble: what goes to stdout is "info" to whoever
    takes it there.
    """
    severity = pl.col("_told_severity")
    trouble: pl.Expr = pl.when(severity.is_in(_TROUBLE)).then(severity)
    if "severity" in events.columns:
        trouble = pl.coalesce("severity", trouble)
    events = events.with_columns(trouble.alias("severity"))
    if events.get_column("_told_request_id").null_count() < len(events):
        events = _with_ids(events)
    return events.drop(*_GAPS.values())


def _with_ids(events: pl.DataFrame) -> pl.DataFrame:
    ids = normalise.ids(events.get_column("_told_request_id"))
    ids = ids.rename({name: f"_{name}" for name in ids.columns})
    events = events.hstack(ids)
    if "request_id" not in events.columns:
        found = {name: pl.col(f"_{name}") for name in _IDS}
    else:
        none = pl.col("request_id").is_null()
        found = {
            name: pl.when(none).then(f"_{name}").otherwise(name)
            if name in events.columns
            else pl.when(none).then(f"_{name}")
            for name in _IDS
        }
    return events.with_columns(**found).drop(ids.columns)
