"""The saved investigations: SQL with a title, typed parameters and documented columns."""

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import duckdb

from faultlayer import assets, database, queries
from faultlayer.errors import DefinitionError, Location, UsageError
from faultlayer.queries import Query

Value = str | int | float | datetime | timedelta | None
"""What a parameter is bound to; None where it is left open."""

TOPICS: Final = ("failures", "load", "engines", "quota", "logs")
"""The order in which investigations are listed; those of others come last."""

_PARAMETER: Final = re.compile(r"([a-z]+)(?:\s*=\s*([^;]*?))?\s*(?:;\s*(.*))?")
_AMOUNT: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)")
_SECONDS: Final = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}
_AT_LINE: Final = re.compile(r"LINE (\d+):")
_EXAMPLES: Final = {
    "integer": "20",
    "number": "0.5",
    "duration": "30s, 5m or 1h",
    "time": "2026-11-30T14:02",
}
_CLOSE: Final = 3


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `default` is as spelled in the file, None when it is open."""

    name: str
    kind: str
    default: str | None
    doc: str


@dataclass(frozen=True, slots=True)
class Investigation:
    """One file; `own` is one of the user's, which runs locked in."""

    query: Query
    parameters: tuple[Parameter, ...]
    own: bool

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.query.name

    @property
    def topic(self) -> str:
        """Under which it is listed."""
        return self.query.header.get("topic", "own" if self.own else "")

    @property
    def columns(self) -> dict[str, str]:
        """The columns of its answer, with their meaning."""
        return _named(self.query, "column")

    def values(self, given: Iterable[str]) -> dict[str, Value]:
        """Read `k=v` texts, and give every parameter its value.

        Raises UsageError for a parameter that it has not, or of another type.
        """
        known = {one.name: one for one in self.parameters}
        texts = {one.name: one.default for one in self.parameters}
        seen: set[str] = set()
        for text in given:
            name, equals, value = text.partition("=")
            if not equals:
                raise UsageError(
                    f"--param wants NAME=VALUE, not {text!r}", hint=self._known()
                )
            if name not in known:
                close = difflib.get_close_matches(name, known, _CLOSE)
                hint = f"perhaps {', '.join(close)}; " if close else ""
                raise UsageError(
                    f"{self.name} has no parameter {name!r}", hint=hint + self._known()
                )
            if name in seen:
                raise UsageError(f"the parameter {name} is given twice")
            seen.add(name)
            texts[name] = value
        values: dict[str, Value] = {}
        for name, spelled in texts.items():
            try:
                values[name] = _value(known[name].kind, spelled)
            except (ValueError, OverflowError):
                kind = known[name].kind
                raise UsageError(
                    f"{name} is {_article(kind)} {kind}, not {spelled!r}",
                    hint=f"for example --param {name}={_EXAMPLES[kind].split(',')[0]}",
                ) from None
        return values

    def _known(self) -> str:
        if not self.parameters:
            return f"{self.name} has no parameters"
        names = ", ".join(one.name for one in self.parameters)
        return f"its parameters: {names}"


def load(own: Path | None = None) -> list[Investigation]:
    """Read the built-in investigations and those of a user, in the order of topics.

    Raises DefinitionError that lists every problem, UsageError for a place that is
    not there.
    """
    built_in = queries.load(assets.builtin("queries"), "investigations")
    theirs = queries.load_own(own, "investigations") if own else []
    problems: list[str] = []
    found: list[Investigation] = []
    names = {query.name for query in built_in}
    problems += [
        f"{query.path}:1: a built-in investigation is called {query.name} too"
        for query in theirs
        if query.name in names
    ]
    with database.connect() as con:
        for query in (*built_in, *theirs):
            parameters, wrong = _checked(query, con)
            problems += wrong
            found.append(Investigation(query, parameters, query in theirs))
    if problems:
        raise DefinitionError(
            "\n".join(problems), hint="queries/README.md describes investigations"
        )
    order = {topic: number for number, topic in enumerate(TOPICS)}
    return sorted(
        found,
        key=lambda one: (one.own, order.get(one.topic, len(order)), one.query.path),
    )


def pick(found: Sequence[Investigation], name: str) -> Investigation:
    """Give the investigation of a name; UsageError with the nearest names."""
    for one in found:
        if one.name == name:
            return one
    names = [one.name for one in found]
    close = difflib.get_close_matches(name, names, _CLOSE)
    close += [one for one in names if name in one and one not in close][:_CLOSE]
    raise UsageError(
        f"no investigation is called {name}",
        hint=f"perhaps {', '.join(close)}"
        if close
        else "faultlayer query CASE lists them",
    )


def check(
    con: duckdb.DuckDBPyConnection, one: Investigation, values: Mapping[str, Value]
) -> None:
    """Plan an investigation over a case; DefinitionError when it cannot run.

    Its answer must have the columns that its header documents.
    """
    try:
        result = con.execute(
            f"SELECT * FROM (\n{one.query.statement}\n) LIMIT 0", dict(values)
        )
    except duckdb.IOException:
        raise
    except duckdb.Error as error:
        raise broken(one, error, shift=-1) from error
    got = [item[0] for item in result.description or ()]
    if one.columns and got != list(one.columns):
        raise DefinitionError(
            f"its header documents {', '.join(one.columns)};"
            f" it returns {', '.join(got)}",
            at=Location(one.query.path, 1),
            hint="give each column its line -- column NAME: what it holds, in order",
        )


def broken(
    one: Investigation, error: duckdb.Error, *, shift: int = 0
) -> DefinitionError:
    """Say what DuckDB finds wrong with an investigation, at its line in the file.

    `shift` lines were put in front of its statement (negative: that many).
    """
    text = str(error).strip()
    found = _AT_LINE.search(text)
    line = one.query.line
    if found:
        line += int(found[1]) - 1 + shift
        text = text[: found.start()].strip()
    return DefinitionError(
        " ".join(text.split()),
        at=Location(one.query.path, line),
        hint=f"faultlayer query CASE {one.name} --show prints it",
    )


def _checked(
    query: Query, con: duckdb.DuckDBPyConnection
) -> tuple[tuple[Parameter, ...], list[str]]:
    problems: list[str] = []
    parameters: list[Parameter] = []
    for name, text in _named(query, "param").items():
        match = _PARAMETER.fullmatch(text)
        if match is None or match[1] not in {"text", *_EXAMPLES}:
            kinds = ", ".join(["text", *_EXAMPLES])
            problems.append(
                f"{query.path}:1: param {name} is no `TYPE = DEFAULT; what it does`"
                f" with a type of {kinds}"
            )
            continue
        one = Parameter(name, match[1], match[2], match[3] or "")
        try:
            _value(one.kind, one.default)
        except (ValueError, OverflowError):
            problems.append(
                f"{query.path}:1: param {name}: {one.default!r} is no {one.kind}"
            )
        parameters.append(one)
    problems += _unsound(query, {one.name for one in parameters}, con)
    return tuple(parameters), problems


def _unsound(
    query: Query, declared: set[str], con: duckdb.DuckDBPyConnection
) -> Iterator[str]:
    if not query.statement:
        return
    try:
        statements = con.extract_statements(query.statement)
    except duckdb.Error as error:
        line = query.line
        if found := _AT_LINE.search(str(error)):
            line += int(found[1]) - 1
        yield f"{query.path}:{line}: {str(error).strip().splitlines()[0]}"
        return
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        yield f"{query.path}:{query.line}: an investigation is one SELECT"
        return
    used = set(statements[0].named_parameters)
    for name in sorted(used - declared):
        yield f"{query.path}:1: ${name} is no param of the header"
    for name in sorted(declared - used):
        yield f"{query.path}:1: param {name} is not used"


def _named(query: Query, word: str) -> dict[str, str]:
    return {
        key.partition(" ")[2]: text
        for key, text in query.header.items()
        if key.startswith(f"{word} ")
    }


def _value(kind: str, text: str | None) -> Value:
    """Read the value of a parameter; raises ValueError for what is of another type."""
    if text is None:
        return None
    if kind == "integer":
        number = int(text.replace("_", "").replace(",", ""))
        if abs(number) >= 2**63:
            raise ValueError(text)
        return number
    if kind == "number":
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(text)
        return value
    if kind == "duration":
        return duration(text)
    if kind == "time":
        moment = datetime.fromisoformat(text)
        if moment.tzinfo:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        return moment
    return text


def duration(text: str) -> timedelta:
    """Read a length of time such as `1h30m`; ValueError for what is none, or zero."""
    parts = _AMOUNT.findall(text)
    if not parts or _AMOUNT.sub("", text).strip():
        raise ValueError(text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not seconds:
        raise ValueError(text)
    return timedelta(seconds=seconds)


def _article(kind: str) -> str:
    return "an" if kind[0] in "aeiou" else "a"
