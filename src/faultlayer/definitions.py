"""Reads definition files (TOML) with every problem collected, each with its line."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from faultlayer.errors import DefinitionError, Location


def raise_all(problems: Sequence[DefinitionError], title: str) -> None:
    """Raise what is wrong: the only problem itself, several as one error."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        text = "\n".join(str(problem) for problem in problems)
        raise DefinitionError(f"{len(problems)} {title}\n{text}")


class Reader:
    """Reads one file and collects all that is wrong with it."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[DefinitionError] = []

    def parsed(self) -> dict[str, Any] | None:
        """Give the file's content, or None when it is no TOML."""
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            self.wrong(f"no valid TOML: {error}")
            return None

    def line_of(self, needle: str, nth: int = 0) -> int | None:
        """Give the line of the nth line that begins with `needle`, from 1."""
        for number, line in enumerate(self.text.split("\n"), 1):
            if line.lstrip().startswith(needle):
                if nth == 0:
                    return number
                nth -= 1
        return None

    def wrong(
        self, message: str, needle: str = "", *, nth: int = 0, hint: str = ""
    ) -> None:
        """Note what is wrong, at the nth line that begins with `needle`."""
        line = self.line_of(needle, nth) if needle else 1
        at = Location(self.path, line)
        self.problems.append(DefinitionError(message, at=at, hint=hint))

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
                    hint=f"known keys: {', '.join(sorted(allowed))}",
                )
        return {key: value[key] for key in value if key in allowed}

    def text_of(self, table: Mapping[str, Any], key: str, default: str = "") -> str:
        """Give a value that has to be text."""
        value = table.get(key, default)
        if isinstance(value, str):
            return value
        self.wrong(f"{key} must be text", key)
        return default

    def texts_of(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Give a value that has to be text or texts."""
        value = table.get(key, [])
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        self.wrong(f"{key} must be text or a list of texts", key)
        return ()

    def flag_of(self, table: Mapping[str, Any], key: str) -> bool:
        """Give a value that has to be true or false."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            self.wrong(f"{key} must be true or false", key)
            return False
        return value

    def tables_of(
        self, top: Mapping[str, Any], key: str, allowed: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Give a value that has to be an array of tables, with known keys only."""
        value = top.get(key, [])
        if not isinstance(value, list):
            self.wrong(
                f"{key} must be an array of tables", f"[{key}", hint=f"[[{key}]]"
            )
            return []
        return [self.table(one, key, allowed) for one in value]
