"""Finds engines by the names of their logs, where a harness calls them by another word."""

import re
from collections.abc import Iterable
from typing import Final

import polars as pl

# How harnesses call what a request goes to. Any of these names much else too, so it
# counts only with the name of an engine's log.
_WORDS: Final = (
    "backend|upstream|worker|target|instance|server|node|replica|deployment|destination"
    "|endpoint|model_server|engine_name|engine_id|(?:backend|upstream|target)_(?:name|host|url)"
    "|url|base_url|api_base"
)


def pattern(engines: Iterable[str]) -> str | None:
    """Give the regex that finds one of these engines among the attributes of a record.

    Its one group is the name. None where there is none to be found.
    """
    names = sorted({one for one in engines if re.search("[A-Za-z]", one)})
    if not names:
        return None
    choices = "|".join(re.escape(one) for one in sorted(names, key=len, reverse=True))
    return rf'"(?i:{_WORDS})":"(?:https?://)?({choices})(?:[.:/][^"]*)?"'


def asked(events: pl.DataFrame) -> pl.Series:
    """Find the rows where a harness tells of a request and no column names the engine.

    `events` have layer, kind, engine, request_id and attrs.
    """
    mine = (
        pl.col("engine").is_null()
        & (pl.col("layer") == "harness")
        & (pl.col("kind") != "access").fill_null(value=True)
        & pl.col("request_id").is_not_null()
        & pl.col("attrs").is_not_null()
    )
    return events.select(mine.fill_null(value=False)).to_series().arg_true()


def named(events: pl.DataFrame, rows: pl.Series, engines: str | None) -> pl.DataFrame:
    """Name the engine in rows that were `asked`; `engines` is a `pattern`."""
    if engines is None:
        return events
    found = events.get_column("attrs")[rows].str.extract(engines, 1)
    engine = events.get_column("engine").clone().scatter(rows, found)
    return events.with_columns(engine.alias("engine"))
