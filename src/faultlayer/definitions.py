"""Reads definition files (TOML) with every problem collected, each with its place."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from faultlayer import toml_places
from faultlayer.errors import DefinitionError, Location
from faultlayer.toml_places import Path, Places

_WIDE: Final = 100  # characters of a line that are shown around a place


def raise_all(problems: Sequence[DefinitionError], title: str) -> None:
    """Raise what is wrong: the only problem itself, several as one error."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        text = "\n".join(str(problem) for problem in in_order(problems))
        raise DefinitionError(f"{len(problems)} {title}\n{text}")


def in_order(problems: Sequence[DefinitionError]) -> list[DefinitionError]:
    """Sort problems by file, and by their place in it."""
    return sorted(problems, key=_place)


def _place(problem: DefinitionError) -> tuple[str, int, int]:
    at = problem.at
    return (at.path, at.line or 0, at.column or 0) if at else ("", 0, 0)


class Table(dict[str, Any]):
    """A table of a file that knows its path within it."""

    def __init__(self, values: Mapping[str, Any], path: Path) -> None:
        super().__init__(values)
        self.path = path


def path_of(table: Mapping[str, Any], *more: str | int) -> Path:
    """Give the path of a table, or of what is in it; empty when it has none."""
    return (*table.path, *more) if isinstance(table, Table) else ()


def _with_paths(value: object, path: Path) -> object:
    if isinstance(value, dict):
        return Table(
            {key: _with_paths(one, (*path, key)) for key, one in value.items()}, path
        )
    if isinstance(value, list):
        return [_with_paths(one, (*path, nth)) for nth, one in enumerate(value)]
    return value


class Reader:
    """Reads one file and collects all that is wrong with it."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[DefinitionError] = []

    def parsed(self) -> dict[str, Any] | None:
        """Give the file's content, or None when it is no TOML."""
        try:
            return Table(
                {
                    key: _with_paths(value, (key,))
                    for key, value in tomllib.loads(self.text).items()
                },
                (),
            )
        except tomllib.TOMLDecodeError as error:
            self._no_toml(str(error))
            return None

    def _no_toml(self, message: str) -> None:
        reason, _, where = message.rpartition(" (at ")
        numbers = [
            int(word)
            for word in where.strip(")").replace(",", "").split()
            if word.isdigit()
        ]
        if len(numbers) == 2:  # noqa: PLR2004 - line and column
            self._put(f"no valid TOML: {reason}", numbers[0], numbers[1])
        else:
            lines = self.text.rstrip("\n").split("\n")
            self._put(
                f"no valid TOML: {reason or message}", len(lines), len(lines[-1]) + 1
            )

    @cached_property
    def places(self) -> Places:
        """Where keys and values stand; read only when something is wrong."""
        return toml_places.places(self.text)

    def line_of(self, needle: str, nth: int = 0) -> int | None:
        """Give the line of the nth line that begins with `needle`, from 1."""
        for number, line in enumerate(self.text.split("\n"), 1):
            if line.lstrip().startswith(needle):
                if nth == 0:
                    return number
                nth -= 1
        return None

    def wrong(
        self,
        message: str,
        needle: str = "",
        *,
        nth: int = 0,
        hint: str = "",
        at: Path = (),
        index: int | None = None,
    ) -> None:
        """Note what is wrong: at a path, else at the nth line that begins with `needle`.

        `index` is the character of the text, or of the joined texts, at that path.
        """
        problem = self.problem(message, needle, nth=nth, hint=hint, at=at, index=index)
        self.problems.append(problem)

    def problem(
        self,
        message: str,
        needle: str = "",
        *,
        nth: int = 0,
        hint: str = "",
        at: Path = (),
        index: int | None = None,
    ) -> DefinitionError:
        """Give what is wrong as `wrong` notes it."""
        offset = self.places.key(at) if at else None
        if at and index is not None:
            inside = self.places.inside(at, index)
            offset = offset if inside is None else inside
        if offset is not None:
            line, column = self.places.position(offset)
            return self._problem(message, line, column, hint)
        found = self.line_of(needle, nth) if needle else None
        if found is None:
            return self._problem(message, 1, None, hint)
        text = self.places.line(found)
        return self._problem(message, found, len(text) - len(text.lstrip()) + 1, hint)

    def _put(self, message: str, line: int, column: int) -> None:
        self.problems.append(self._problem(message, line, column, ""))

    def _problem(
        self, message: str, line: int, column: int | None, hint: str
    ) -> DefinitionError:
        at = Location(self.path, line, column)
        excerpt = (
            "" if column is None else pointed(self.places.line(line), line, column)
        )
        return DefinitionError(message, at=at, hint=hint, excerpt=excerpt)

    # ------------------------------------------------------------ values

    def table(self, value: object, what: str, allowed: Sequence[str]) -> dict[str, Any]:
        """Check that a value is a table with known keys only."""
        if not isinstance(value, dict):
            self.wrong(f"{what} must be a table", what)
            return {}
        for key in value:
            if key not in allowed:
                self.wrong(
                    f"unknown key {key!r} in {what}",
                    key,
                    hint=_known(key, allowed),
                    at=path_of(value, key),
                )
        kept = {key: value[key] for key in value if key in allowed}
        return Table(kept, value.path) if isinstance(value, Table) else kept

    def text_of(self, table: Mapping[str, Any], key: str, default: str = "") -> str:
        """Give a value that has to be text."""
        value = table.get(key, default)
        if isinstance(value, str):
            return value
        self.wrong(f"{key} must be text", key, at=path_of(table, key), index=0)
        return default

    def texts_of(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Give a value that has to be text or texts."""
        value = table.get(key, [])
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        self.wrong(
            f"{key} must be text or a list of texts",
            key,
            at=path_of(table, key),
            index=0,
        )
        return ()

    def groups_of(
        self, table: Mapping[str, Any], key: str
    ) -> tuple[tuple[str, ...], ...]:
        """Give a value that has to be a list of lists of texts."""
        value = table.get(key, [])
        if isinstance(value, list) and all(isinstance(one, list) for one in value):
            return tuple(self.texts_of({key: one}, key) for one in value)
        self.wrong(
            f"{key} must be a list of lists of texts", key, at=path_of(table, key)
        )
        return ()

    def flag_of(self, table: Mapping[str, Any], key: str) -> bool:
        """Give a value that has to be true or false."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.wrong(
                f"{key} must be true or false", key, at=path_of(table, key), index=0
            )
            return False
        return value

    def tables_of(
        self, top: Mapping[str, Any], key: str, allowed: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Give a value that has to be an array of tables, with known keys only."""
        value = top.get(key, [])
        if not isinstance(value, list):
            self.wrong(
                f"{key} must be an array of tables",
                f"[{key}",
                hint=f"[[{key}]]",
                at=path_of(top, key),
            )
            return []
        return [self.table(one, key, allowed) for one in value]


def _known(key: str, allowed: Sequence[str]) -> str:
    import difflib  # noqa: PLC0415 - only where something is wrong

    near = difflib.get_close_matches(key, allowed, 1)
    known = f"known keys: {', '.join(sorted(allowed))}"
    return f"did you mean {near[0]}? {known}" if near else known


def pointed(text: str, number: int, column: int) -> str:
    """Give a line with its number and a caret below one of its columns (from 1)."""
    start = 0
    if len(text) > _WIDE:
        start = max(0, min(column - 1 - _WIDE // 2, len(text) - _WIDE))
    shown = text[start : start + _WIDE].replace("\t", " ")
    shown = f"{'…' if start else ''}{shown}{'…' if start + _WIDE < len(text) else ''}"
    gutter = f"{number:>4} | "
    before = column - 1 - start + (1 if start else 0)
    return f"{gutter}{shown}\n{' ' * 4} | {' ' * before}^"
