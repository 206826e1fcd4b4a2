"""The options of `analyze`, from the command line and a file, and its exit code."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from faultlayer import own_rules, stated, wording
from faultlayer.clocks import wishes
from faultlayer.clocks.wishes import Wishes
from faultlayer.commands import _config, _fail_on, _limits
from faultlayer.detect import Definitions
from faultlayer.errors import UsageError
from faultlayer.masking import shown
from faultlayer.members import Limits
from faultlayer.stated import Stated
from faultlayer.summary import Values

_BROKEN = 1
_INCOMPLETE = 3
_MET = 4


@dataclass(frozen=True, slots=True)
class Options:
    """What `analyze` was asked for; `overrides` are pairs of glob and format."""

    case: Path
    formats: Path | None
    overrides: tuple[tuple[str, str], ...]
    clocks: Wishes
    workers: int | None
    memory: str | None
    strict: bool
    fail_on: tuple[_fail_on.Condition, ...]
    since: datetime | None
    until: datetime | None
    quiet: bool
    limits: Limits
    stated: Stated
    rules: own_rules.Own | None

    def definitions(self) -> Definitions | None:
        """Give the built-in definitions and the user's, or None when he has none.

        Raises `DefinitionError` for what is wrong with them.
        """
        if self.formats is None:
            return None
        from faultlayer import parse
        from faultlayer.commands import _own_formats

        return _own_formats.proved(self.formats, parse.load_definitions())

    def proved_rules(self) -> own_rules.Own | None:
        """Give the user's rules, all of them proved, or None when he has none.

        Raises `DefinitionError` for what is wrong with them.
        """
        if self.rules is not None:
            own_rules.prove(self.rules)
        return self.rules


def read(given: Mapping[str, Any]) -> Options:
    """Join the command line with the file that `--config` names."""
    found = _config.read(given["config"]) if given["config"] else _config.Config()
    file = found.options
    case = given["case"]
    if "case" in file and str(case) == "faultlayer-case":
        case = found.folder / file["case"]
    fail_on = file.get("fail-on", [])
    fail_on = [fail_on] if isinstance(fail_on, str) else fail_on
    rules = _beside(given, found, "rules")
    own = own_rules.read(rules) if rules is not None else None
    causes = stated.causes(own.texts if own else ())
    found.settle(causes)
    return Options(
        case=case,
        formats=_beside(given, found, "formats"),
        overrides=(
            *(_override(text) for text in given["overrides"]),
            *file.get("source", {}).items(),
        ),
        clocks=wishes.read(
            (
                *(f"{glob}={how}" for glob, how in file.get("clock", {}).items()),
                *given["clocks"],
            ),
            given["reference"] or file.get("reference"),
        ),
        workers=given["workers"] or file.get("workers"),
        memory=given["memory"] or file.get("memory"),
        strict=given["strict"] or file.get("strict", False),
        fail_on=tuple(
            _fail_on.read(text, causes) for text in (*given["fail_on"], *fail_on)
        ),
        since=given["since"],
        until=given["until"],
        quiet=given["quiet"],
        limits=_limits.read(given, file),
        stated=found.stated,
        rules=own,
    )


def _beside(given: Mapping[str, Any], found: _config.Config, name: str) -> Path | None:
    """Give a path of the command line, else one of the file, seen from where it lies."""
    path: Path | None = given[name]
    if path is None and name in found.options:
        path = found.folder / found.options[name]
    return path


def unfit(values: Values, overrides: Iterable[str]) -> list[str]:
    """Name the `--source` of the command line that were of no file that was read."""
    globs = [_override(text)[0] for text in overrides]
    paths = [source["path"] for source in values["sources"]]
    return [
        f"--source {shown(glob)!r} fits no file; it is of the whole path, such as"
        f" {shown(paths[0])!r}"
        for glob in globs
        if paths and not any(one == glob or fnmatchcase(one, glob) for one in paths)
    ]


def outcome(values: Values, options: Options) -> tuple[int, list[str]]:
    """Give the exit code of a finished run, and why it is not 0."""
    off = values["conservation"].get("off")
    if off:
        return _BROKEN, [
            f"lines went missing in {len(off)} sources; please report this"
        ]
    causes = values.get("window", values)["causes"]
    met = _fail_on.met(causes, options.fail_on)
    if met:
        return _MET, met
    gaps = incomplete(values) if options.strict else []
    return (_INCOMPLETE, gaps) if gaps else (0, [])


def incomplete(values: Values) -> list[str]:
    """List what the evidence lacks."""
    sources = values["sources"]
    untied = [c["clock_id"] for c in values["clocks"] if c["status"] == "untied"]
    open_causes = [c for c in values["causes"] if c["layer"] == "undetermined"]
    strange = [s["path"] for s in sources if wording.is_strange(s)]
    partly = [s["path"] for s in sources if wording.is_doubtful(s)]
    damaged = [s["path"] for s in sources if wording.damage(s["problems"])]
    lost = list(dict.fromkeys(item["path"] for item in values["lost"]))
    return [
        text
        for found, text in (
            (strange, f"not recognised: {', '.join(strange)}"),
            (partly, f"partly not understood: {', '.join(partly)}"),
            (lost, f"not read: {', '.join(lost)}"),
            (damaged, f"damaged: {', '.join(damaged)}"),
            (untied, f"clocks untied: {', '.join(untied)}"),
            (
                open_causes,
                "undetermined: "
                + wording.count(sum(c["attempts"] for c in open_causes), "attempt"),
            ),
        )
        if found
    ]


def _override(text: str) -> tuple[str, str]:
    glob, _, name = text.rpartition("=")
    if not glob or not name:
        raise UsageError(
            f"--source wants GLOB=FORMAT, not {text!r}",
            hint="for example --source '*/gw.log=harness_app'",
        )
    return glob, name
