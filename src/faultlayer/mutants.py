"""A statement with each of its parts left out in turn: what its cases must notice."""

import json
from collections.abc import Iterator
from typing import Any

import duckdb

from faultlayer import database
from faultlayer.errors import DefinitionError


def without_conditions(statement: str) -> Iterator[tuple[str, str]]:
    """Give the statement with each part left out in turn, and that part as SQL.

    Parts are the sides of AND and OR, a lone WHERE, HAVING, QUALIFY or ON (an ASOF
    join needs its own), the arms of CASE, and the values of an IN list or of
    `list_has_any`; in subqueries too, but not in what only makes a `because`. Raises
    DefinitionError for a statement that DuckDB cannot serialise.
    """
    con = database.connect(threads=1)
    try:
        tree = _tree(con, statement)
        yes, no = (
            _tree(con, f"SELECT {word}")["statements"][0]["node"]["select_list"][0]
            for word in ("TRUE", "FALSE")
        )
        for holder, key, instead in list(_droppable(tree, yes, no)):
            part = holder[key]
            restored = holder[:] if isinstance(holder, list) else dict(holder)
            if instead is _GONE:
                del holder[key]
            else:
                holder[key] = instead
            mutant = _text(con, tree)
            holder.clear()
            if isinstance(holder, list):
                holder.extend(restored)
            else:
                holder.update(restored)
            yield mutant, _part(con, part)
    finally:
        con.close()


_GONE = object()

_CUT = tuple[Any, Any, Any]
"""Where a part is: what holds it, its key there, and what stands there instead."""


def _droppable(node: Any, yes: Any, no: Any) -> Iterator[_CUT]:
    if isinstance(node, list):
        for value in node:
            yield from _droppable(value, yes, no)
    if not isinstance(node, dict) or node.get("alias") == "because":
        return
    yield from _lone_clauses(node, yes)
    if node.get("type") in {"CONJUNCTION_AND", "CONJUNCTION_OR"}:
        for index in range(len(node["children"])):
            yield node["children"], index, _GONE
    if node.get("type") == "CASE_EXPR":
        for check in node["case_checks"]:
            yield check, "when_expr", no
    yield from _listed_values(node)
    for value in node.values():
        yield from _droppable(value, yes, no)


def _lone_clauses(node: dict[str, Any], yes: Any) -> Iterator[_CUT]:
    for clause in ("where_clause", "having", "qualify"):
        if _lone(node.get(clause)):
            yield node, clause, None
    if (
        node.get("type") == "JOIN"
        and node["ref_type"] != "ASOF"
        and _lone(node["condition"])
    ):
        yield node, "condition", yes


def _listed_values(node: dict[str, Any]) -> Iterator[_CUT]:
    first = 0
    values: list[Any] = []
    if node.get("type") in {"COMPARE_IN", "COMPARE_NOT_IN"}:
        first = 1
        values = node["children"]
    elif node.get("function_name") == "list_has_any":
        values = node["arguments"][1]["expression"].get("arguments", [])
    if len(values) > first + 1:
        for index in range(first, len(values)):
            yield values, index, _GONE


def _lone(clause: Any) -> bool:
    return isinstance(clause, dict) and clause.get("type") != "CONJUNCTION_AND"


def _tree(con: duckdb.DuckDBPyConnection, statement: str) -> Any:
    row = con.execute("SELECT json_serialize_sql(?)", [statement]).fetchone()
    tree = json.loads(row[0]) if row else {"error": True}
    if tree.get("error"):
        raise DefinitionError(f"cannot be taken apart: {tree.get('error_message')}")
    return tree


def _text(con: duckdb.DuckDBPyConnection, tree: Any) -> str:
    row = con.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchone()
    return str(row[0]) if row else ""


def _part(con: duckdb.DuckDBPyConnection, part: Any) -> str:
    tree = _tree(con, "SELECT 1")
    # A value of list_has_any stands in a named argument.
    tree["statements"][0]["node"]["select_list"] = [part.get("expression", part)]
    return _text(con, tree).removeprefix("SELECT ").removesuffix(";")
