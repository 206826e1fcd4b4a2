"""Editors check definition files by schemas that say what the loader says."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faultlayer import assets, format_schema

pytestmark = pytest.mark.checkout

FOLDERS = {
    "wrappers": "wrapper.schema.json",
    "signatures": "signature.schema.json",
}


def faults(value: object, rule: dict[str, Any], top: dict[str, Any]) -> Iterator[str]:
    """Check a value by the part of JSON Schema that ours use."""
    if "$ref" in rule:
        name = rule["$ref"].rpartition("/")[2]
        yield from faults(value, top["definitions"][name], top)
        return
    for one in rule.get("allOf", []):
        yield from faults(value, one, top)
    if "oneOf" in rule:
        fits = [one for one in rule["oneOf"] if not list(faults(value, one, top))]
        if len(fits) != 1:
            yield f"{value!r:.60} fits {len(fits)} of {len(rule['oneOf'])}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{value!r:.60} is none of {rule['enum']}"
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "boolean": bool,
        "array": list,
        "object": dict,
        "number": (int, float),
    }
    kind = kinds.get(rule.get("type", ""))
    if kind is not None and (
        not isinstance(value, kind)
        or (rule["type"] == "number" and isinstance(value, bool))
    ):
        yield f"{value!r:.60} is no {rule['type']}"
        return
    if isinstance(value, list) and "items" in rule:
        for one in value:
            yield from faults(one, rule["items"], top)
    if isinstance(value, dict):
        yield from _table_faults(value, rule, top)


def _table_faults(
    value: dict[str, Any], rule: dict[str, Any], top: dict[str, Any]
) -> Iterator[str]:
    yield from (f"lacks {key}" for key in rule.get("required", []) if key not in value)
    known, more = rule.get("properties", {}), rule.get("additionalProperties", True)
    for key, one in value.items():
        if key in known:
            yield from faults(one, known[key], top)
        elif more is False:
            yield f"unknown key {key}"
        elif isinstance(more, dict):
            yield from faults(one, more, top)


def _files(root: Path) -> list[Path]:
    return sorted((root / "parsers").rglob("*.toml"))


def _schema(file: Path) -> str:
    return FOLDERS.get(file.parent.name, "format.schema.json")


@pytest.mark.parametrize("name", list(format_schema.SCHEMAS))
def test_schemas_are_up_to_date(
    name: str, root: Path, request: pytest.FixtureRequest
) -> None:
    """The files are what `faultlayer.format_keys` says; `make docs` writes them."""
    file, text = root / "parsers" / name, format_schema.SCHEMAS[name]()
    if request.config.getoption("--write-docs"):
        file.write_text(text, "utf-8")
    assert file.read_text("utf-8") == text, "`make docs` writes it anew"


def test_all_definitions_fit_their_schema(root: Path) -> None:
    """What the loader takes, an editor does not mark."""
    found = {}
    for file in _files(root):
        schema = json.loads(format_schema.SCHEMAS[_schema(file)]())
        value = tomllib.loads(file.read_text("utf-8"))
        found[file.name] = list(faults(value, schema, schema))
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('kind = "access"', "kind = 3", "3 is no string"),
        ("escapes = true", "escape = true", "unknown key escape"),
        ('layer = "harness"', 'layer = "edge"', "'edge' is none of"),
        ("bytes_sent = ", "bytes = ", "unknown key bytes"),
        ("log_format = ", "regexp = ", "unknown key regexp"),
    ],
)
def test_a_mistake_is_marked(root: Path, old: str, new: str, wrong: str) -> None:
    """A key or a value that the loader refuses does not fit the schema either."""
    text = (root / "parsers" / "harness" / "nginx_combined.toml").read_text("utf-8")
    assert old in text
    schema = json.loads(format_schema.SCHEMAS["format.schema.json"]())
    value = tomllib.loads(text.replace(old, new))
    assert any(wrong in one for one in faults(value, schema, schema))


def test_each_definition_names_its_schema(
    root: Path, request: pytest.FixtureRequest
) -> None:
    """The first line tells editors where the schema is; `make docs` puts it there."""
    lacking = []
    for file in _files(root):
        wanted, text = f"#:schema ../{_schema(file)}\n", file.read_text("utf-8")
        if not text.startswith(wanted):
            lacking.append(file.name)
            if request.config.getoption("--write-docs"):
                file.write_text(wanted + text, "utf-8")
    assert lacking == [] or request.config.getoption("--write-docs")


def test_schemas_are_shipped() -> None:
    """An installed faultlayer has them beside the formats."""
    there = {one.name for one in assets.builtin("parsers").iterdir()}
    assert set(format_schema.SCHEMAS) <= there
