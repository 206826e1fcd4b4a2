"""Writes drafts of format files as TOML, for people to read through."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from faultlayer.dialects.template import Layout

_WIDE: Final = 78  # characters of a string


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern of the draft: its name, its keys as lines of TOML, an example.

    `layout` is what its notation says; without one `fields`, `time` and the like do.
    """

    name: str
    keys: tuple[str, ...]
    example: str = ""
    layout: Layout | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    time: str = ""
    spelt: tuple[str, ...] = ()
    pairs: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """What the draft says of itself."""

    name: str
    layer: str
    component: str
    title: str
    access: bool  # each line is a finished exchange
    framing: str = "line"
    escapes: bool = False


@dataclass(slots=True)
class Draft:
    """A file in the making: samples are (pattern, record), `expects` go with them."""

    head: Head
    shapes: Sequence[Shape]
    samples: list[tuple[str, str]] = field(default_factory=list)  # pattern, record
    expects: list[Mapping[str, Any]] = field(default_factory=list)
    rejects: list[str] = field(default_factory=list)
    shares: list[str] = field(default_factory=list)


def text(work: Draft) -> str:
    """Write a draft as TOML."""
    shapes = work.shapes
    out = [*_head(work), *_times(shapes)]
    for one in shapes:
        out += ["", "[[pattern]]", f"name = {string(one.name)}", *one.keys]
    fields = {column: source for one in shapes for column, source in one.fields.items()}
    if fields:
        out += ["", "[fields]"]
        out += [f"{column} = {string(source)}" for column, source in fields.items()]
    out += _told(shapes)
    for number, (name, record) in enumerate(work.samples):
        out += ["", "[[sample]]"]
        if len(shapes) > 1:
            out.append(f"pattern = {string(name)}")
        out.append(f"line = {string(record)}")
        if number < len(work.expects):
            out.append("# Review: computed from the line by this very file.")
            out.append(f"expect = {value(work.expects[number])}")
    for record in work.rejects:
        out += ["", "[[reject]]", f"line = {string(record)}"]
    return "\n".join(out) + "\n"


def _head(work: Draft) -> list[str]:
    head = work.head
    out = [
        f"# A draft: read it through, above all what is marked. It is {head.name}.toml.",
        "[format]",
        f"name = {string(head.name)}",
        f"layer = {string(head.layer)}",
        f"component = {string(head.component)}",
        f"title = {string(head.title)}",
    ]
    if head.access:
        out.append('kind = "access"')
    if head.framing != "line":
        out.append(f"framing = {string(head.framing)}")
    if head.escapes:
        out.append("escapes = true")
    pairs = next((one.pairs for one in work.shapes if one.pairs), "")
    if pairs:
        out.append(f"pairs = {string(pairs)}")
    if work.shares:
        out.append("# Review: these formats take a sample of this one as well.")
        out.append(f"shares = {texts(work.shares)}")
    return [*out, 'misses = "Review: what this format does not take."']


def _times(shapes: Sequence[Shape]) -> list[str]:
    found: dict[str, list[str]] = {}
    for one in shapes:
        if one.time:
            spelt = found.setdefault(one.time, [])
            spelt += [form for form in one.spelt if form not in spelt]
    out = []
    for name, spelt in found.items():
        out += ["", "[[time]]", f"field = {string(name)}", f"formats = {texts(spelt)}"]
    return out


def _told(shapes: Sequence[Shape]) -> list[str]:
    """Say in comments how the notation's fields are read."""
    out: list[str] = []
    for layout in (one.layout for one in shapes if one.layout is not None):
        for stamp in layout.stamps:
            mark = "start" if stamp.start else "end"
            out.append(f"#   time: {stamp.field}, the {mark} of the exchange")
        for column, one in sorted(layout.fields.items()):
            scale = f" x {one.scale:g}" if one.scale != 1 else ""
            out.append(f"#   {column}: {', '.join(one.sources)}{scale}")
        if layout.upstream is not None:
            up = layout.upstream
            for key in ("connect", "header", "response", "peer", "answered"):
                names = ", ".join(getattr(up, key))
                out += [f"#   upstream {key}: {names}"] if names else []
    if not out:
        return []
    lead = "# What the notation says of its fields, without being told; [fields] overrules it:"
    return ["", lead, *dict.fromkeys(out)]


def string(text: str) -> str:
    """Write text as a TOML string, as it stands where that is possible."""
    plain = text.isprintable() and "'" not in text
    if plain:
        simple = '"' not in text and "\\" not in text
        return f'"{text}"' if simple else f"'{text}'"
    printable = all(char.isprintable() or char in "\n\t" for char in text)
    if printable and "'''" not in text and not text.endswith("'"):
        lead = "\n" if "\n" in text else ""
        return f"'''{lead}{text}'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def texts(values: Sequence[str]) -> str:
    """Write texts as a TOML array, several long ones below each other."""
    inside = ", ".join(string(one) for one in values)
    if len(inside) <= _WIDE and len(values) < 4:  # noqa: PLR2004 - a list to read
        return f"[{inside}]"
    return "[\n" + "".join(f"    {string(one)},\n" for one in values) + "]"


def cut(text: str) -> list[str]:
    """Cut a long string where it is best, for a list whose strings are joined."""
    pieces, rest = [], text
    while len(rest) > _WIDE:
        # Behind a space; else before a variable, never within one.
        at = rest.rfind(" ", 0, _WIDE) + 1
        at = at or max(rest.rfind("$", 1, _WIDE), rest.rfind("%", 1, _WIDE), 0) or _WIDE
        pieces.append(rest[:at])
        rest = rest[at:]
    return [*pieces, rest]


def value(one: object) -> str:
    """Write a value of an event as TOML."""
    if isinstance(one, bool):
        return "true" if one else "false"
    if isinstance(one, datetime):
        stamp = one.astimezone(UTC) if one.tzinfo else one
        exact = "auto" if stamp.microsecond % 1000 else "milliseconds"
        whole = "seconds" if not stamp.microsecond else exact
        return stamp.replace(tzinfo=None).isoformat(timespec=whole) + "Z"
    if isinstance(one, int | float):
        return repr(one)
    if isinstance(one, Mapping):
        inside = ", ".join(f"{_key(key)} = {value(item)}" for key, item in one.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(one, list | tuple):
        return f"[{', '.join(value(item) for item in one)}]"
    text = str(one)
    return json.dumps(text, ensure_ascii=False) if "\n" in text else string(text)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else string(key)
