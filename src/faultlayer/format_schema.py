"""Writes JSON schemas of the definition files, by which editors complete and check them.

`SCHEMAS` names the files of `parsers/`; a TOML file takes one with `#:schema PATH` in its
first line.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from faultlayer import format_keys as keys
from faultlayer import schema
from faultlayer.format_keys import Key

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {
    "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}
_COLUMNS: Final = [
    *(column.name for column in schema.EVENTS_RAW),
    "level",
    "process",
    "header",
    "trace",
]
# Types that are no table of keys.
_SIMPLE: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": _TEXT,
    "texts": _TEXTS,
    "flag": {"type": "boolean"},
    "number": {"type": "number"},
    "rank": {"enum": [True, False, "last"]},
    "any": {},
    "any_table": {"type": "object"},
    "groups": {"type": "array", "items": {"type": "array", "items": _TEXT}},
    "map": {"type": "object", "additionalProperties": _TEXT},
    "values": {"type": "object", "additionalProperties": _TEXTS},
}
# Tables whose keys are those of the file: names of columns and the like.
_OPEN: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {
    "columns": lambda: _of_columns(_TEXT),
    "expect": lambda: _of_columns({}),
    "fields": lambda: _of_columns(_field("field")),
    "attrs": lambda: {"type": "object", "additionalProperties": _field("field")},
    "reasons": lambda: {"type": "object", "additionalProperties": _field("reason")},
    "parts": lambda: {
        "type": "object",
        "properties": {part: dict(_TEXTS) for part in keys.PARTS},
        "additionalProperties": False,
    },
    "examples": lambda: {"type": "array", "items": _ref("example")},
}
_TABLES: Final[Mapping[str, Sequence[Key]]] = {
    "format": keys.FORMAT,
    "table_rows": keys.TABLE,
    "time": keys.TIME,
    "pattern": keys.PATTERN,
    "pattern.json": keys.JSON,
    "field": keys.FIELD,
    "reason": keys.REASON,
    "upstream": keys.UPSTREAM,
    "extract": keys.EXTRACT,
    "sample": keys.SAMPLE,
    "reject": keys.REJECT,
    "wrapper": keys.WRAPPER,
    "wrapper.json": keys.WRAPPER_JSON,
    "wrapper.sample": (keys.SAMPLE[0], Key("expect", "any_table", "What is in it.")),
    "wrapper.reject": (keys.REJECT[0],),
    "signature": keys.SIGNATURE,
    "example": keys.EXAMPLE,
    "kind": keys.KIND,
}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/definitions/{name}"}


def _field(name: str) -> dict[str, Any]:
    return {"oneOf": [*_TEXTS["oneOf"], _ref(name)]}


def _of_columns(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {column: dict(value) for column in _COLUMNS},
        "additionalProperties": False,
    }


def _of_key(key: Key) -> dict[str, Any]:
    if key.type.endswith("*"):
        found: dict[str, Any] = {"type": "array", "items": _ref(key.type[:-1])}
    elif key.type in _SIMPLE:
        found = dict(_SIMPLE[key.type])
    elif key.type in _OPEN:
        found = _OPEN[key.type]()
    else:
        # Beside a reference older editors read no description.
        found = {"allOf": [_ref(key.type)]}
    if key.values:
        found = {"enum": [one for one in key.values if one]}
    return found | {"description": key.doc}


def _of_keys(table: Sequence[Key]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "object",
        "properties": {key.name: _of_key(key) for key in table},
        "additionalProperties": False,
    }
    required = [key.name for key in table if key.required]
    return found | ({"required": required} if required else {})


def _referred(value: object) -> set[str]:
    if isinstance(value, Mapping):
        found = {str(value["$ref"]).rpartition("/")[2]} if "$ref" in value else set()
        return found.union(*(_referred(one) for one in value.values()), set())
    if isinstance(value, list):
        return set().union(*(_referred(one) for one in value))
    return set()


def _schema(title: str, top: Sequence[Key]) -> str:
    whole = _of_keys(top)
    wanted, names = _referred(whole), set[str]()
    while wanted - names:
        names |= wanted
        wanted = set().union(*(_referred(_of_keys(_TABLES[one])) for one in names))
    head = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": title,
        "description": "Written by `make docs` from faultlayer.format_keys.",
    }
    definitions = {name: _of_keys(_TABLES[name]) for name in _TABLES if name in names}
    if "pattern" in definitions:
        shapes = [{"required": [shape]} for shape in keys.SHAPES]
        definitions["pattern"]["oneOf"] = shapes
    return json.dumps(head | whole | {"definitions": definitions}, indent=1) + "\n"


SCHEMAS: Final[Mapping[str, Callable[[], str]]] = {
    "format.schema.json": lambda: _schema("A log format of faultlayer", keys.TOP),
    "wrapper.schema.json": lambda: _schema(
        "What is put around log lines", keys.WRAPPER_TOP
    ),
    "signature.schema.json": lambda: _schema("What messages mean", keys.SIGNATURES_TOP),
}
"""The files of `parsers/` and what makes their text."""
