"""What may stand at the cursor of somebody who types SQL about a case."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from faultlayer import lexicon, statements

_WORD: Final = re.compile(r"(?:(?P<of>[A-Za-z_]\w*)\.)?(?P<word>[A-Za-z_]\w*)?\Z")
_SHORTEST: Final = 2  # letters before functions of SQL are offered


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that may replace the `typed` characters before the cursor."""

    text: str
    typed: int
    doc: str = ""


def candidates(
    before: str,
    after: str = "",
    *,
    commands: Sequence[tuple[str, str, Sequence[str]]] = (),
    functions: Sequence[str] = (),
) -> list[Candidate]:
    """List what can follow `before`, the likeliest first; case does not count.

    `commands` are those of the shell: name, meaning, and what they may be given.
    `functions` are those of SQL. Inside of texts and comments nothing is offered.
    """
    if before.lstrip().startswith("."):
        return list(_of_command(before.lstrip(), commands))
    if statements.is_quoted(before):
        return []
    found = _WORD.search(before)
    if found is None:
        return []
    word = found["word"] or ""
    offered: dict[str, Candidate] = {}
    for text, doc in _offers(
        before[: found.start()], found["of"], word, before + after
    ):
        spelled = _cased(text, word)
        if text.lower().startswith(word.lower()) and spelled not in offered:
            offered[spelled] = Candidate(spelled, len(word), doc)
    if len(word) >= _SHORTEST and not found["of"]:
        for name in functions:
            if name.startswith(word.lower()) and name not in offered:
                offered[name] = Candidate(name, len(word), "function")
    return list(offered.values())


def _offers(
    before: str, alias: str | None, word: str, whole: str
) -> Iterator[tuple[str, str]]:
    """Give names with their meaning, in the order of how likely they are."""
    known = lexicon.tables()
    named = statements.tables(whole, known)
    if alias is not None:
        table = named.get(alias.lower(), alias.lower())
        if table in known:
            yield from known[table].columns.items()
        return
    own = [(name, "of this statement") for name in statements.own_names(whole)]
    names = [(one.name, one.doc) for one in known.values()]
    if statements.wants_table(before):
        yield from own
        yield from names
        return
    for table in dict.fromkeys(named.values()):
        for column, doc in known[table].columns.items():
            yield column, f"{table}: {doc}"
    if len(named) > 1:
        yield from ((alias, "of this statement") for alias in named)
    keywords = [(keyword, "") for keyword in lexicon.KEYWORDS]
    if word or not before.strip():
        yield from keywords
    yield from own
    yield from names
    for one in known.values():
        for column, doc in one.columns.items():
            yield column, f"{one.name}: {doc}"
    yield from keywords


def _of_command(
    before: str, commands: Sequence[tuple[str, str, Sequence[str]]]
) -> Iterator[Candidate]:
    name, blank, rest = before.partition(" ")
    for command, doc, values in commands:
        if not blank and command.startswith(name):
            yield Candidate(command, len(name), doc)
        elif blank and command == name:
            for value in values:
                if value.startswith(rest.lstrip()):
                    table = lexicon.tables().get(value)
                    yield Candidate(
                        value, len(rest.lstrip()), table.doc if table else ""
                    )


def _cased(text: str, word: str) -> str:
    """Spell a keyword as the person does, who may write lower case."""
    return text.lower() if text.isupper() and word and not word[0].isupper() else text
