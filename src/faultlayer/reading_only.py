"""What a user's rule may do: read the tables of a case, and answer the same each time."""

import json
from collections.abc import Iterator
from typing import Any, Final

from faultlayer import database

_NODES: Final = {
    "SELECT_NODE",
    "SET_OPERATION_NODE",
    "CTE_NODE",
    "RECURSIVE_CTE_NODE",
}
_RELATIONS: Final = {"unnest", "range", "generate_series"}
_CHANGING: Final = {
    *("random", "setseed", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "nextval"),
    *("now", "today", "current_date", "current_time", "current_timestamp"),
    *("get_current_time", "get_current_timestamp", "transaction_timestamp"),
    *("current_localtime", "current_localtimestamp", "currval", "getvariable"),
}


def problems(statement: str) -> Iterator[str]:
    """Say why a statement is none that only reads a case; one sentence each."""
    con = database.connect(threads=1)
    try:
        row = con.execute("SELECT json_serialize_sql(?)", [statement]).fetchone()
    finally:
        con.close()
    tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    if tree.get("error"):
        yield str(tree.get("error_message") or "no statement")
        return
    if len(tree["statements"]) != 1:
        yield f"{len(tree['statements'])} statements: a rule is one"
    yield from dict.fromkeys(_found(tree))


def _found(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for value in node:
            yield from _found(value)
    if isinstance(node, dict):
        yield from _relations(node)
        yield from _functions(node)
        for value in node.values():
            yield from _found(value)


def _relations(node: dict[str, Any]) -> Iterator[str]:
    kind = str(node.get("type", ""))
    if kind.endswith("_NODE") and kind not in _NODES:
        yield f"{kind.removesuffix('_NODE').lower()} is not allowed: a rule only reads"
    if kind == "BASE_TABLE":
        name = str(node["table_name"])
        if not name.replace("_", "a").isalnum() or node["schema_name"]:
            yield f"{name!r} is no table of a case: a rule reads nothing else"
    if kind == "TABLE_FUNCTION" and node["function"]["function_name"] not in _RELATIONS:
        name = node["function"]["function_name"]
        yield f"{name}() is not allowed: a rule reads the tables of a case"


def _functions(node: dict[str, Any]) -> Iterator[str]:
    name = node.get("function_name")
    if node.get("type") == "COLUMN_REF":
        name = node["column_names"][-1]
    if name in _CHANGING:
        yield f"{name} is not allowed: a rule gives the same answer each time"
