"""Writes tables of a database so that the same rows give the same bytes."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import duckdb

from faultlayer import database, schema


@contextlib.contextmanager
def alone(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Have one thread work: with several, the order of rows depends on how many."""
    asked = con.execute("SELECT current_setting('threads')").fetchall()[0][0]
    con.execute("SET threads = 1")
    yield
    con.execute(f"SET threads = {asked}")


def write(
    con: duckdb.DuckDBPyConnection, name: str, order: str, path: Path, group: int
) -> None:
    """Write a table of the schema as Parquet, sorted, in groups of so many rows.

    By the database itself: to hand the rows over takes longer than to write them.
    """
    columns = ", ".join(
        f"CAST({column.name} AS {database.sql_type(column.type)}) AS {column.name}"
        for column in schema.TABLES[name]
    )
    with alone(con):
        con.execute(
            f"COPY (SELECT {columns} FROM {name} ORDER BY {order})"
            f" TO {database.literal(str(path))} (FORMAT parquet, COMPRESSION zstd,"
            f" COMPRESSION_LEVEL 1, ROW_GROUP_SIZE {group})"
        )
