"""The table functions of a case, `FROM around(...)` and `FROM of(...)`, as macros."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from faultlayer import assets, queries
from faultlayer.queries import Query

_PARAMETER = re.compile(r"\$([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Function:
    """One file of `queries/functions/`; its header documents the names it has."""

    query: Query

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.query.name

    @property
    def parameters(self) -> dict[str, str]:
        """What it takes, in order: names with `type; meaning`."""
        return self._named("param")

    @property
    def columns(self) -> dict[str, str]:
        """What it gives, in order: names with their meaning."""
        return self._named("column")

    @property
    def call(self) -> str:
        """How it is written: `around(moment, span)`."""
        return f"{self.name}({', '.join(self.parameters)})"

    def statements(self, kind: str = "") -> Iterator[str]:
        """Give the statements that make it; `kind` is `TEMP` or empty.

        A parameter stands in the file as `$name`, as in other queries, and in a macro
        as a bare name.
        """
        body = _PARAMETER.sub(lambda found: found[1], self.query.statement)
        yield f"CREATE OR REPLACE {kind} MACRO {self.call} AS TABLE {body}"
        title = self.query.title.replace("'", "''")
        yield f"COMMENT ON MACRO TABLE {self.name} IS '{title}'"

    def _named(self, word: str) -> dict[str, str]:
        return {
            key.removeprefix(f"{word} "): text
            for key, text in self.query.header.items()
            if key.startswith(f"{word} ")
        }


@functools.cache
def load() -> tuple[Function, ...]:
    """Give all functions of a case, by name."""
    found = queries.load(assets.builtin("queries"), "functions")
    return tuple(Function(query) for query in found)


def asked(text: str) -> str:
    """Put `FROM` before a statement that is no more than the call of a function."""
    names = "|".join(one.name for one in load())
    bare = re.match(rf"\s*(?:{names})\s*\(", text, re.IGNORECASE)
    return f"FROM {text}" if bare else text
