"""Counts what two cases, or two windows, have to be compared by: the SQL of `diff`."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from faultlayer import assets, chances, database, queries
from faultlayer.case import Case
from faultlayer.errors import UsageError

Row = dict[str, Any]

QUANTILES = (0.5, 0.95)
_SIDES = ("base", "case")
_PLACES = {
    "side": pa.string(),
    "model": pa.string(),
    "quantile": pa.float64(),
    "attempts": pa.int64(),
    "low": pa.int64(),
    "middle": pa.int64(),
    "high": pa.int64(),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A case, or what ended in it from `since` to before `until`: UTC, None is open."""

    case: Case
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted; rows as the queries of the same name in queries/diffs give."""

    attempts: tuple[int, int]
    counts: list[Row]
    failures: list[Row]
    latencies: list[Row]
    troubles: list[Row]


def count(base: Part, case: Part, *, alpha: float, memory: str | None) -> Counts:
    """Read both sides and count; `alpha` is how often bounds of latencies may miss.

    Raises CaseError for a damaged case, UsageError where the memory does not do.
    """
    sql = {
        query.name: query.statement
        for query in queries.load(assets.builtin("queries"), "diffs")
    }
    with tempfile.TemporaryDirectory(prefix="faultlayer-") as spill:
        con = database.connect(memory_limit=memory, temp_dir=Path(spill))
        try:
            troubles = []
            for side, part in zip(_SIDES, (base, case), strict=True):
                troubles += _take(con, sql, side, part)
            totals = dict(
                con.execute(
                    "SELECT side, sum(attempts) FROM seen GROUP BY ALL"
                ).fetchall()
            )
            _places(con, alpha)
            return Counts(
                (int(totals.get("base", 0)), int(totals.get("case", 0))),
                database.rows(con, sql["counts"]),
                database.rows(con, sql["failures"]),
                database.rows(con, sql["latencies"]),
                troubles,
            )
        except duckdb.OutOfMemoryException as error:
            raise UsageError(
                "the memory does not do to compare these cases",
                hint="give more with --memory, or compare windows",
            ) from error
        finally:
            con.close()


def _take(
    con: duckdb.DuckDBPyConnection, sql: Mapping[str, str], side: str, part: Part
) -> list[Row]:
    """Add one side to the tables `seen` and `durations`; gives its troubles."""
    window = {"since": part.since, "until": part.until}
    try:
        database.attach_views(con, part.case.path)
        for name in ("seen", "durations"):
            body = f"SELECT '{side}' AS side, * FROM ({sql[name]})"
            con.execute(
                f"CREATE TEMP TABLE {name} AS {body}"
                if side == _SIDES[0]
                else f"INSERT INTO {name} {body}",
                window,
            )
        return [
            {"side": side, **row} for row in database.rows(con, sql["troubles"], window)
        ]
    except (duckdb.IOException, duckdb.InvalidInputException) as error:
        raise database.damaged(part.case.path, error) from error


def _places(con: duckdb.DuckDBPyConnection, alpha: float) -> None:
    """Put into the table `places` which of the sorted durations are asked for."""
    counted = con.execute(
        "SELECT side, model, count(*) FROM durations GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    level = 1 - alpha / max(len(counted), 1)
    rows = []
    for side, served, attempts in counted:
        for quantile in QUANTILES:
            low, middle, high = chances.ranks(attempts, quantile, level=level)
            rows.append((side, served, quantile, attempts, low, middle, high))
    columns = list(zip(*rows, strict=True)) or [()] * len(_PLACES)
    con.register(
        "places",
        pa.table(
            {
                name: pa.array(values, kind)
                for (name, kind), values in zip(_PLACES.items(), columns, strict=True)
            }
        ),
    )
