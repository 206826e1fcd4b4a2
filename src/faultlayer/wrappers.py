"""Loads what containers, shippers and syslog put around a line: one TOML file each."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any, Final

from faultlayer import definitions, format_keys
from faultlayer.compile import PatternError, Plan, regex_plan
from faultlayer.definitions import Reader
from faultlayer.errors import DefinitionError
from faultlayer.format_keys import PARTIALS, PARTS

ISO: Final = (
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "epoch_s",
)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One wrapper file: how to find the line inside and what is told about it.

    `json` has for each part the paths where it may stand, the first that is there
    counts. `finer`: its stamp is the moment of writing, so that it may refine one of
    1 s. `sure`: no program writes such lines itself. `carry`: a line that it is not
    around goes on with the one before. `every`: it is around nearly every line, or none.
    `find`: regexes by the part that they find in `fields`. `lists`: where in a JSON
    document the lines stand.
    """

    name: str
    title: str
    plan: Plan | None
    json: Mapping[str, tuple[str, ...]]
    one_of: tuple[str, ...]
    forbid: tuple[str, ...]
    times: tuple[str, ...]
    partial: str
    finer: bool
    sure: bool
    carry: bool
    every: bool
    octal: bool
    arrows: bool
    find: Mapping[str, tuple[str, ...]]
    lists: tuple[str, ...]
    samples: tuple[Mapping[str, Any], ...]
    rejects: tuple[str, ...]
    path: str
    text: str

    @property
    def parts(self) -> frozenset[str]:
        """Give the parts that it may tell, `text` among them."""
        told = self.plan.fields if self.plan is not None else tuple(self.json)
        return frozenset((*told, *self.find))


def load(root: Traversable) -> list[Wrapper]:
    """Load `wrappers/*.toml`, by name; raises `DefinitionError` with all problems."""
    found: list[Wrapper] = []
    problems: list[DefinitionError] = []
    folder = root / "wrappers"
    files = folder.iterdir() if folder.is_dir() else ()
    for file in sorted(files, key=lambda one: one.name):
        if file.name.endswith(".toml"):
            reader = Reader(f"parsers/wrappers/{file.name}", file.read_text("utf-8"))
            wrapper = read(reader)
            problems += reader.problems
            if wrapper:
                found.append(wrapper)
    definitions.raise_all(problems, "definitions are wrong")
    return found


def read(reader: Reader) -> Wrapper | None:
    """Read one wrapper file; what is wrong is in the reader, and then it is no wrapper."""
    raw = reader.parsed()
    if raw is None:
        return None
    top = reader.table(raw, "the file", ("wrapper", "sample", "reject"))
    head = reader.table(
        top.get("wrapper", {}), "wrapper", format_keys.names(format_keys.WRAPPER)
    )
    name = reader.text_of(head, "name")
    if reader.path.rpartition("/")[2] != f"{name}.toml":
        reader.wrong(f"name {name!r} is not that of the file", "name")
    if ("regex" in head) == ("json" in head):
        reader.wrong("a wrapper has one of regex, json", "[wrapper]")
    plan = _plan(reader, "".join(reader.texts_of(head, "regex")))
    keys = format_keys.names(format_keys.WRAPPER_JSON)
    json = reader.table(head.get("json", {}), "json", keys)
    if "json" in head and "text" not in json:
        reader.wrong("json needs text", "json")
    partial = reader.text_of(head, "partial", "none")
    if partial not in PARTIALS:
        reader.wrong(f"partial must be one of {', '.join(PARTIALS)}", "partial")
    find = reader.table(head.get("find", {}), "find", PARTS)
    samples = reader.tables_of(top, "sample", ("line", "expect"))
    if not samples:
        reader.wrong("no [[sample]]")
    rejects = [
        str(one.get("line", "")) for one in reader.tables_of(top, "reject", ("line",))
    ]
    return Wrapper(
        name=name,
        title=reader.text_of(head, "title"),
        plan=plan,
        json={
            part: reader.texts_of(json, part)
            for part in ("text", *PARTS)
            if part in json
        },
        one_of=reader.texts_of(json, "one_of"),
        forbid=reader.texts_of(json, "forbid"),
        times=reader.texts_of(head, "times") or ISO,
        partial=partial,
        finer=reader.flag_of(head, "finer"),
        sure=reader.flag_of(head, "sure"),
        carry=reader.flag_of(head, "carry"),
        every=reader.flag_of(head, "every"),
        octal=reader.flag_of(head, "octal"),
        arrows=reader.flag_of(head, "arrows"),
        find={part: reader.texts_of(find, part) for part in find},
        lists=reader.texts_of(head, "lists"),
        samples=tuple(samples),
        rejects=tuple(rejects),
        path=reader.path,
        text=reader.text,
    )


def _plan(reader: Reader, regex: str) -> Plan | None:
    if not regex:
        return None
    try:
        plan = regex_plan(regex)
    except PatternError as error:
        reader.wrong(str(error), "regex")
        return None
    if "text" not in plan.fields:
        reader.wrong("regex needs the group text", "regex")
    for field in plan.fields:
        if field not in (*PARTS, "text"):
            reader.wrong(f"a wrapper tells nothing called {field!r}", "regex")
    return plan
