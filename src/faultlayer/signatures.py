"""Load the definitions of `parsers/signatures`, each proved by its own samples.

A signature names a kind of record by literals and a pattern, once for all programs that
print it. Its look-alikes are texts that it must not take, each with the reason.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from typing import Any

import polars as pl

from faultlayer import format_keys
from faultlayer.errors import DefinitionError, Location
from faultlayer.naming import match, name_kinds
from faultlayer.vocabulary import SHORTEST, Example, Signature, Signatures

__all__ = ["Signature", "Signatures", "load", "name_kinds"]

#: What the clock may take from a record with an id. `before_end`: written while the
#: exchange lasts. `after_start`: after its start, perhaps after its end. `any`: neither.
TIMINGS = format_keys.TIMINGS

_LAYERS = ("model", "harness", "quota", "host")
_LISTS = {"texts", "examples"}
_KEYS: dict[str, type] = {
    key.name: bool if key.type == "flag" else list if key.type in _LISTS else str
    for key in format_keys.SIGNATURE
}
_EXAMPLE_KEYS = set(format_keys.names(format_keys.EXAMPLE))
#: Before a statement may stand names with a colon, as exceptions have them.
_NAMED = r"[\w.]*\w: "
_GROUP = re.compile(r"\(\?P<(\w+)>")
_HINT = "parsers/signatures/README.md describes the file"


def load(root: Traversable, *, prove: bool = True) -> Signatures:
    """Read `root/signatures/*.toml`; `root` is the folder `parsers`.

    With `prove` every regular expression is compiled, and every sample and look-alike is
    tried against all signatures: ours have been when they were built. Raises
    DefinitionError that lists every problem, not only the first.
    """
    problems: list[str] = []
    files = [
        (f"parsers/signatures/{entry.name}", entry.read_text("utf-8"))
        for entry in sorted(
            root.joinpath("signatures").iterdir(), key=lambda entry: entry.name
        )
        if entry.name.endswith(".toml")
    ]
    parsed: list[tuple[str, str, dict[str, Any]]] = []
    for path, text in files:
        try:
            parsed.append((path, text, tomllib.loads(text)))
        except tomllib.TOMLDecodeError as error:
            problems.append(f"{path}: {error}")
    kinds = tuple(_kinds(parsed, problems))
    ranks = {kind["name"]: rank for rank, kind in enumerate(kinds)}
    leads = [lead for _, _, document in parsed for lead in document.get("lead", [])]
    unread = [span for _, _, document in parsed for span in document.get("unread", [])]
    if prove:
        problems.extend(f"lead: {why}" for one in leads if (why := _regex_fault(one)))
        problems.extend(f"unread: {why}" for u in unread if (why := _regex_fault(u)))
    prefix = rf"(?m)^[ \t>|+]*(?:{'|'.join([_NAMED, *leads])})*(?:\w+\.)*"
    items = []
    for where, entry in _entries(parsed, problems):
        faults = list(_shape_faults(entry))
        if not faults:
            faults += _example_faults(entry)
            faults += _pattern_faults(entry) if prove else ()
        if entry.get("kind") not in ranks:
            faults.append(f"kind {entry.get('kind')} is not in kinds.toml")
        problems.extend(f"{where}: {fault}" for fault in faults)
        if not faults:
            items.append(_signature(entry, ranks[entry["kind"]], prefix, where))
    items.sort(key=lambda item: item.rank)
    named = {item.kind for item in items}
    problems.extend(
        f"parsers/signatures/kinds.toml: {kind['name']} has no signature"
        for kind in kinds
        if kind["name"] not in named and kind.get("from") != "format"
    )
    if not problems:
        found = Signatures(kinds, tuple(items), "|".join(unread) or None)
        problems.extend(_disproved(found) if prove else ())
    if problems:
        raise DefinitionError("\n".join(problems), hint=_HINT)
    return found


def _kinds(
    parsed: list[tuple[str, str, dict[str, Any]]], problems: list[str]
) -> Iterator[dict[str, str]]:
    seen: set[str] = set()
    for path, _, document in parsed:
        for entry in document.get("kinds", []):
            kind = {key: str(value) for key, value in entry.items()}
            where = f"{path}: kind {kind.get('name', '?')}"
            if not {"name", "timing", "title"} <= kind.keys() <= {
                "name", "timing", "title", "from",
            }:  # fmt: skip
                problems.append(f"{where}: wants name, timing, title and perhaps from")
                continue
            if kind["timing"] not in TIMINGS:
                problems.append(f"{where}: timing is one of {', '.join(TIMINGS)}")
            if kind["name"] in seen:
                problems.append(f"{where}: stands twice")
            seen.add(kind["name"])
            yield kind


def _entries(
    parsed: list[tuple[str, str, dict[str, Any]]], problems: list[str]
) -> Iterator[tuple[Location, dict[str, Any]]]:
    """Give all `[[signature]]` tables with the line of their header."""
    known = {"kinds", "lead", "unread", "signature"}
    for path, text, document in parsed:
        problems.extend(
            f"{path}: unknown key {key}" for key in sorted(document.keys() - known)
        )
        lines = [
            number
            for number, line in enumerate(text.splitlines(), 1)
            if line.startswith("[[signature]]")
        ]
        for line, entry in zip(lines, document.get("signature", []), strict=False):
            yield Location(path, line), entry


def _shape_faults(entry: dict[str, Any]) -> Iterator[str]:
    """Say what is wrong with keys, types, the place and the literals."""
    yield from (f"unknown key {key}" for key in entry if key not in _KEYS)
    mistyped = [
        key
        for key, kind in _KEYS.items()
        if not isinstance(entry.get(key, kind()), kind)
    ]
    yield from (f"{key} is no {_KEYS[key].__name__}" for key in mistyped)
    if mistyped:
        return
    if entry.get("at") not in {"start", "line", "anywhere"}:
        yield "at is start, line or anywhere"
    if entry.get("exclusive") and entry.get("at") != "start":
        yield "an exclusive signature begins the text: at = 'start'"
    for literal in entry.get("literals") or [""]:
        if len(literal) < SHORTEST:
            yield f"literal {literal!r} has fewer than {SHORTEST} characters"
    for layer in entry.get("layers", []):
        if layer not in _LAYERS:
            yield f"unknown layer {layer}"


def _example_faults(entry: dict[str, Any]) -> Iterator[str]:
    """Say what samples and look-alikes lack."""
    if not entry.get("samples"):
        yield "has no sample"
    for key, wanted in (("samples", {"text"}), ("look_alikes", {"text", "reason"})):
        for number, example in enumerate(entry.get(key, []), 1):
            if not wanted <= example.keys() <= _EXAMPLE_KEYS:
                keys = ", ".join(sorted(_EXAMPLE_KEYS))
                yield f"{key} {number} needs {sorted(wanted)} and may have {keys}"


def _pattern_faults(entry: dict[str, Any]) -> Iterator[str]:
    """Say what is wrong with the regular expressions and the groups they name."""
    regexes = {
        key: entry[key] for key in ("pattern", "ids", "ids_within") if key in entry
    }
    faults = {key: why for key, text in regexes.items() if (why := _regex_fault(text))}
    yield from (f"{key}: {why}" for key, why in faults.items())
    if faults:
        return
    pattern = re.compile(entry.get("pattern", ""))
    if tuple(pattern.groupindex) != tuple(_GROUP.findall(pattern.pattern)):
        yield "pattern holds what looks like a group and is none"
    if pattern.groups > len(pattern.groupindex):
        yield "pattern has a group without a name: write (?:...)"
    pair = entry.get("at_least", [])
    if len(pair) not in {0, 2}:
        yield "at_least is a pair of groups"
    for name in [*entry.get("numbers", []), *pair]:
        if name not in pattern.groupindex:
            yield f"pattern has no group {name}"
    if "ids" in entry and re.compile(entry["ids"]).groups != 1:
        yield "ids has exactly one group"


def _regex_fault(pattern: str) -> str | None:
    """Say why a pattern is not in the syntax that Rust's regex and `re` share."""
    try:
        re.compile(pattern)
        pl.Series([""]).str.contains(pattern)
    except (re.error, pl.exceptions.ComputeError) as error:
        lines = str(error).splitlines()
        return next((line for line in lines if line.startswith("error: ")), lines[0])
    return None


def _signature(
    entry: dict[str, Any], rank: int, prefix: str, where: Location
) -> Signature:
    at, pattern = entry["at"], entry.get("pattern")
    literals = tuple(entry["literals"])
    body = pattern or "|".join(re.escape(text) for text in literals)
    regex = {
        "start": rf"\A(?:{pattern})" if pattern else None,
        "line": f"{prefix}(?:{body})",
        "anywhere": pattern,
    }[at]
    layers, components = entry.get("layers", []), entry.get("components", [])
    examples = tuple(
        Example(
            example["text"],
            example.get("layer", layers[0] if layers else "model"),
            example.get("component", components[0] if components else None),
            tuple(example["kinds"]) if "kinds" in example else None,
            example.get("expect", {}),
            example.get("reason"),
        )
        for example in [*entry["samples"], *entry.get("look_alikes", [])]
    )
    return Signature(
        kind=entry["kind"],
        rank=rank,
        at=at,
        literals=literals,
        regex=regex,
        # Compiling each only for its names would take a third of all start-up.
        groups=tuple(_GROUP.findall(pattern or "")),
        layers=tuple(layers),
        components=tuple(components),
        exclusive=entry.get("exclusive", False),
        severity=entry.get("severity"),
        numbers=frozenset(entry.get("numbers", [])),
        at_least=tuple(entry["at_least"]) if "at_least" in entry else None,
        ids=entry.get("ids"),
        ids_within=entry.get("ids_within"),
        examples=examples,
        where=where,
    )


def _disproved(signatures: Signatures) -> Iterator[str]:
    """Try every sample and look-alike against all signatures; say what does not hold."""
    proofs = [
        (index, number, example)
        for index, item in enumerate(signatures.items)
        for number, example in enumerate(item.examples, 1)
    ]
    examples = [example for _, _, example in proofs]
    records = pl.DataFrame(
        {
            "text": [example.text for example in examples],
            "layer": [example.layer for example in examples],
            "component": [example.component for example in examples],
            "kind": [None] * len(examples),
        },
        schema_overrides=dict.fromkeys(("layer", "component", "kind"), pl.String),
    )
    hits = set(match(records, signatures)[0].iter_rows())
    named = name_kinds(records, signatures).drop(
        "layer", "component", "severity", strict=False
    )
    for row, (shown, proof) in enumerate(
        zip(named.iter_rows(named=True), proofs, strict=True)
    ):
        index, number, example = proof
        item = signatures.items[index]
        kinds = tuple(shown["kinds"] or [shown["kind"]])
        where = f"{item.where}: {item.kind}, example {number}"
        if ((row, index) in hits) == (example.reason is not None):
            verb = (
                "takes a look-alike" if example.reason else "does not take its sample"
            )
            yield f"{where}: {verb}: {example.text[:90]!r}"
        wanted = example.kinds or ((item.kind,) if example.reason is None else None)
        if wanted and kinds[: len(wanted) if example.kinds is None else None] != wanted:
            yield f"{where}: gives {', '.join(kinds)}, not {', '.join(wanted)}"
        if example.reason is None:
            got = {name: value for name, value in shown.items() if value is not None}
            got |= json.loads(got.pop("attrs", "{}"))
            got = {name: got[name] for name in got.keys() - {"text", "kind", "kinds"}}
            if got != example.expect:
                yield f"{where}: captures {got}, not {example.expect}"
