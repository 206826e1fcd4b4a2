"""Reads SQL that a person is typing: where it ends, and which tables it is about."""

import re
from collections.abc import Collection

# Each may lack its end where the person has not come to it yet.
_QUOTED = re.compile(
    r"'(?:[^']|'')*(?P<text>'|\Z)"
    r'|"(?:[^"]|"")*(?P<name>"|\Z)'
    r"|\$\$.*?(?P<dollars>\$\$|\Z)"
    r"|/\*.*?(?P<comment>\*/|\Z)"
    r"|--[^\n]*",
    re.DOTALL,
)
_CLAUSE = (
    r"\b(?:where|group|order|limit|having|select|union|except|intersect|window|qualify"
    r"|from|using|pivot|unpivot)\b"
)
# As a lookahead, since a subquery's FROM may stand within that of another.
_FROM = re.compile(
    rf"\bfrom\b(?=((?:\([^()]*\)|[^()])*?)(?:{_CLAUSE}|\)|\((?![^()]*\))|\Z))",
    re.IGNORECASE,
)
_CLAUSES = re.compile(rf"{_CLAUSE}|\bjoin\b", re.IGNORECASE)
_BEFORE_TABLE = re.compile(r"\b(?:from|join|describe|summarize|pivot)\Z", re.IGNORECASE)
_RELATION = re.compile(
    r"(?:\A|,|\bjoin\b)\s*\"?(?P<table>[a-z_]\w*)\"?(?:\s*\([^()]*\))?"
    r"(?:\s+(?:as\s+)?(?P<alias>[a-z_]\w*))?",
    re.IGNORECASE,
)
_NO_ALIAS = {
    *("join", "inner", "left", "right", "full", "cross", "semi", "anti", "asof"),
    *("positional", "natural", "on", "as", "lateral", "tablesample"),
}
_CTE = re.compile(
    r"(?:\bwith|\brecursive|,)\s+([a-z_]\w*)\s*(?:\([^()]*\)\s*)?as\s*"
    r"(?:(?:not\s+)?materialized\s*)?\(",
    re.IGNORECASE,
)


def blanked(text: str) -> str:
    """Give a statement with blanks for its texts and comments, of the same length."""
    return _QUOTED.sub(
        lambda found: (
            found[0]
            if found.lastgroup == "name" and found["name"]
            else re.sub(r"[^\n]", " ", found[0])
        ),
        text,
    )


def is_complete(text: str) -> bool:
    """Whether a `;` that is no part of a text or comment ends what was typed."""
    return blanked(text).rstrip().endswith(";")


def is_quoted(before: str) -> bool:
    """Whether a cursor behind `before` stands in a text, a quoted name or a comment."""
    last = None
    for last in _QUOTED.finditer(before):  # noqa: B007 - the last one counts
        pass
    if last is None or last.end() < len(before):
        return False
    return last[0].startswith("--") or not last[last.lastgroup or 0]


def tables(text: str, known: Collection[str]) -> dict[str, str]:
    """Give the known tables of a statement in its order, by alias where one has it."""
    found: dict[str, str] = {}
    for clause in _FROM.finditer(blanked(text)):
        for relation in _RELATION.finditer(clause[1]):
            name, alias = relation["table"].lower(), relation["alias"]
            if name in known:
                named = alias and alias.lower() not in _NO_ALIAS
                found[alias.lower() if named else name] = name
    return found


def wants_table(before: str) -> bool:
    """Whether a table is what can come next, as after FROM and its commas."""
    text = blanked(before)
    bare = text.rstrip()
    if not bare.endswith(","):
        return len(bare) < len(text) and bool(_BEFORE_TABLE.search(bare[-12:]))
    clauses = list(_CLAUSES.finditer(bare))
    if not clauses or clauses[-1][0].lower() not in {"from", "join"}:
        return False
    clause = bare[clauses[-1].end() :]
    return clause.count("(") == clause.count(")")


def own_names(text: str) -> list[str]:
    """Give the names that a statement makes for itself with WITH."""
    return list(dict.fromkeys(_CTE.findall(blanked(text))))
