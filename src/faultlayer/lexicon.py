"""The names that a person may write about a case: its tables, their columns, functions."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from faultlayer import database, functions, schema

_KEYWORDS = """
    SELECT FROM WHERE GROUP ORDER BY ALL HAVING QUALIFY LIMIT OFFSET DISTINCT AS ON USING
    JOIN LEFT INNER FULL CROSS ASOF ANTI SEMI LATERAL UNION EXCEPT INTERSECT WITH
    MATERIALIZED AND OR NOT IN IS NULL LIKE ILIKE BETWEEN EXISTS CASE WHEN THEN ELSE END
    CAST FILTER OVER PARTITION ROWS RANGE PRECEDING FOLLOWING CURRENT UNBOUNDED WINDOW ASC
    DESC NULLS FIRST LAST INTERVAL TIMESTAMP DATE TRUE FALSE VALUES PIVOT DESCRIBE
    SUMMARIZE SHOW TABLES EXPLAIN ANALYZE EXCLUDE REPLACE COLUMNS
"""

KEYWORDS = tuple(_KEYWORDS.split())
"""Keywords of statements that read, in the order in which they are offered."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or a function that gives one; `call` is how it is written in FROM."""

    name: str
    doc: str
    columns: Mapping[str, str]
    types: Mapping[str, str]
    call: str
    parameters: Mapping[str, str]

    @property
    def is_function(self) -> bool:
        """Whether it takes parameters."""
        return bool(self.parameters)


@functools.cache
def tables() -> Mapping[str, Table]:
    """Give all tables of a case by name, the functions last."""
    found = {
        name: Table(
            name,
            schema.VIEW_DOCS[name],
            {column.name: column.doc for column in columns},
            {column.name: database.sql_type(column.type) for column in columns},
            name,
            {},
        )
        for name, columns in sorted(database.VIEWS.items())
    }
    for one in functions.load():
        title = one.query.title
        found[one.name] = Table(
            one.name,
            title[0].lower() + title[1:],
            one.columns,
            {},
            one.call,
            one.parameters,
        )
    return found
