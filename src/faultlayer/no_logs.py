"""Tells by its name what a file is when it is no log: source code, a document, settings."""

import re
from typing import Final

#: What the reason of such a source begins with.
NO_LOG: Final = "not a log"
#: Share of its lines from which on it is a log all the same, whatever it is called.
LEAST: Final = 0.3

_PACKED: Final = re.compile(r"(?i)\.(?:gz|zst|bz2|xz)$")
_KINDS: Final = (
    (
        "source code",
        r"(?i)[^/]+\.(?:py|pyi|ipynb|go|rs|java|kts?|m?js|tsx?|jsx|c|cc|cpp|h|hpp|cuh?|sh|bash"
        r"|zsh|ps1|bat|cmd|sql|lua|rb|pl|php|swift|scala|proto|css|scss|patch|diff)",
    ),
    (
        "a document",
        r"(?i)[^/]+\.(?:md|rst|adoc|html?|tex)|(?:readme|licen[cs]e"
        r"|contributing|changelog)(?:\.txt)?",
    ),
    (
        "a recipe",
        r"(?:Docker|Make|Jenkins|Vagrant|Proc|Container)file[^/]*"
        r"|go\.(?:mod|sum)|requirements[\w.-]*\.txt|[^/]+\.lock|package(?:-lock)?\.json",
    ),
    (
        "settings",
        r"(?i)[^/]+\.(?:ya?ml|toml|ini|cfg|cnf|conf|env|properties|service|timer|tf|hcl|j2"
        r"|tpl)|(?:generation_|tokenizer_|preprocessor_|adapter_|tsconfig\.?)?config\.json"
        r"|tokenizer\.json|vocab\.json|special_tokens_map\.json|tsconfig\.json"
        r"|[^/]+\.index\.json|\.env[^/]*",
    ),
)
_ALL: Final = tuple((kind, re.compile(regex)) for kind, regex in _KINDS)


def of(path: str) -> str:
    """Say what a file of this path is, "" for what may be a log."""
    name = _PACKED.sub("", path.rpartition("/")[2])
    for kind, regex in _ALL:
        if regex.fullmatch(name):
            return kind
    return ""


def is_one(reason: str | None) -> bool:
    """Whether a source is none, by the reason that stands in its row."""
    return (reason or "").startswith(NO_LOG)
