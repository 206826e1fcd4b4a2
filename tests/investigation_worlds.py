"""Small cases written by hand, and what each investigation must answer about them."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from faultlayer import answers, assets, derived, queries, rule_bench
from faultlayer.investigations import Investigation, load
from faultlayer.rule_bench import Prepared
from faultlayer.rule_records import RuleCase

FOLDER = Path(__file__).parent / "investigations"
QUERIES = assets.builtin("queries")
ALL = {one.name: one for one in load()}


@dataclass(frozen=True)
class Ask:
    """One question about a world: rows as texts, cells between ` | `, NULL as `-`.

    `investigation` may also be the name of a view; its rows are then in the order of
    the columns that are shown.
    """

    world: str
    investigation: str
    params: tuple[str, ...]
    shows: tuple[str, ...]
    rows: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.world, self.investigation, *self.params))


def worlds() -> Iterator[tuple[str, RuleCase, list[Ask]]]:
    """Give every world with its records and questions."""
    for path in sorted(FOLDER.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        case = RuleCase(path.stem, path.name, 1, path.stem, tuple(data["event"]))
        asks = [
            Ask(
                path.stem,
                ask["investigation"],
                tuple(ask.get("params", ())),
                tuple(ask.get("shows", ())),
                tuple(ask["rows"]),
            )
            for ask in data["ask"]
        ]
        yield path.stem, case, asks


def prepare(case: RuleCase, *, seed: int | None = None) -> Prepared:
    """Judge a world, and give it the views that a finished case works out."""
    prepared = rule_bench.prepared(case, queries.library(QUERIES), seed=seed)
    prepared.rows()
    for query in queries.load(QUERIES, "tables"):
        prepared.con.execute(f"CREATE TEMP VIEW {query.name} AS {query.statement}")
    prepared.con.execute(
        "CREATE TEMP TABLE rejects (source_id BIGINT, line BIGINT,"
        " byte_length BIGINT, reason VARCHAR, text VARCHAR)"
    )
    return prepared


def columns(one: Investigation, prepared: Prepared) -> list[str]:
    """Give the names of the columns that an investigation returns."""
    result = prepared.con.execute(one.query.statement, one.values([]))
    return [item[0] for item in result.description or ()]


def answered(prepared: Prepared, ask: Ask) -> tuple[str, ...]:
    """Run an investigation as `query` does, and spell its rows as `Ask` has them."""
    if ask.investigation in derived.TABLES:
        columns = ", ".join(ask.shows)
        result = prepared.con.execute(
            f"SELECT {columns} FROM {ask.investigation} ORDER BY ALL"
        )
    else:
        one = ALL[ask.investigation]
        result = prepared.con.execute(one.query.statement, one.values(ask.params))
    names = [item[0] for item in result.description or ()]
    wanted = [names.index(name) for name in ask.shows or names]
    return tuple(
        " | ".join(_cell(row[number]) for number in wanted) for row in result.fetchall()
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, datetime):
        text = f"{value:%H:%M:%S.%f}"
        return text.rstrip("0").rstrip(".")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ",".join(map(str, value))
    return answers.text_of(value).replace("\n", "⏎")
