"""Makes log text fit to be shown: nothing that steers a terminal, no secret, no prompt.

The case keeps what was logged; this is for eyes only.
"""

import unicodedata
from functools import partial

import regex

MASK = "***"
_GONE = "\N{REPLACEMENT CHARACTER}"

_ESCAPES = regex.compile(
    r"""
    \x1b (?:
        \[ [0-?]*+ [\x20-/]*+ [@-~]?+               # CSI: colours, cursor
        | [\]PX^_] [^\x07\x1b\x9c]*+ (?:\x07|\x1b\\|\x9c)?+  # OSC, DCS: titles, links
        | [\x20-/]*+ [0-~]?+
    )
    | \x9b [0-?]*+ [\x20-/]*+ [@-~]?+
    | [\x90\x98\x9d-\x9f] [^\x07\x1b\x9c]*+ (?:\x07|\x1b\\|\x9c)?+
    """,
    regex.VERBOSE,
)
_UNPRINTABLE = regex.compile(r"[\p{Cc}\p{Cs}\p{Co}\p{Cn}]+")
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Zl}\p{Zp}]")  # bidi overrides are in Cf

_KEYS = (
    r"(?:[\w.-]*(?:api[_-]?key|apikey|secret|passw(?:or)?d|credential|private[_-]?key)"
    r"[\w.-]*|[\w.-]*(?:access|auth|refresh|id|session|bearer|hf|hub)[_-]?token"
    r"|token|pwd|x-amz-signature|sig)"
)
_VALUE = r"""(?:\\"[^\\]*+(?:\\")?|"(?:\\.|[^"\\])*+"?|'(?:\\.|[^'\\])*+'?|[^\s"'&,;)}\]]++)"""
_HARMLESS = r"""(?!(?:["']?(?:none|null|true|false|-|\*+|\[?redacted\]?)?["']?(?:[\s,;&)}\]]|$)))"""

_SECRETS = [
    (
        regex.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|$)",
            regex.DOTALL,
        ),
        MASK,
    ),
    (
        regex.compile(
            r"(?i)\b((?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?"
            r"(?:(?:basic|digest|negotiate|bearer|token|apikey)\s+)?)[^\s\"',;]+"
        ),
        rf"\1{MASK}",
    ),
    (regex.compile(r"(?i)\b(bearer\s+)[\w.~+/=:-]{6,}"), rf"\1{MASK}"),
    (regex.compile(r"\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)*"), MASK),
    (
        regex.compile(
            r"(?<![A-Za-z0-9])(sk-|rk-|pk-lf-|hf_|gh[pousr]_|github_pat_|glpat-|xox[a-z]-"
            r"|nvapi-|gsk_|xai-|r8_|pypi-|npm_|dop_v1_|AIza|ya29\.|AKIA|ASIA)"
            r"[\w.-]{8,}"
        ),
        rf"\1{MASK}",
    ),
    (
        regex.compile(
            rf"(?i)(?<![\w.-])({_KEYS}\\?[\"']?\s*[:=]\s*){_HARMLESS}{_VALUE}"
        ),
        rf"\1{MASK}",
    ),
    (
        regex.compile(r"(?i)\b((?:set-)?cookie\\?[\"']?\s*[:=]\s*)[^\"'\n]+"),
        rf"\1{MASK}",
    ),
    (regex.compile(r"(?i)([?&]key=)[^\s\"'&]+"), rf"\1{MASK}"),
    (regex.compile(r"(://[^\s/:@\"']*:)[^\s/@\"']+@"), rf"\1{MASK}@"),
]

_PROMPT = regex.compile(
    r"""
    (?<![\w.-])
    (prompt | prompts | text | texts | content | input | inputs | input_text
    | input_ids | output_text | generated_text | generated_texts | messages
    | prompt_token_ids | output_token_ids | token_ids | output_ids | query
    | question | instructions | reasoning_content | arguments | outputs | documents)
    (\\?["']? \s* [:=] \s*)
    (?= \\?["'\[{(] | [bru]["'])
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_CLOSING = {"[": "]", "{": "}", "(": ")"}


def safe(text: str) -> str:
    """Give one line that a terminal shows as it stands, whatever was logged."""
    text = _ESCAPES.sub("", text)
    text = text.replace("\t", " ").replace("\r\n", " ").replace("\n", " ")
    text = _UNPRINTABLE.sub(_GONE, text)
    return _INVISIBLE.sub("", unicodedata.normalize("NFC", text))


def masked(text: str) -> str:
    """Put `***` in the place of keys, tokens and passwords, `[n chars]` of prompts.

    In doubt it hides: a message loses words rather than a secret gets out.
    """
    for pattern, put in _SECRETS:
        text = pattern.sub(put, text)
    return _without_prompts(text)


def blanked(text: str) -> str:
    """Do as `masked`, but keep the shape: letters become x, digits 0, quotes stay."""
    for pattern, put in _SECRETS:
        text = pattern.sub(partial(_blank, put=put), text)
    parts = []
    done = 0
    while found := _PROMPT.search(text, done):
        start = found.end()
        end = _value_end(text, start)
        parts += [text[done:start], _shapeless(text[start:end])]
        done = end
    parts.append(text[done:])
    return "".join(parts)


def _blank(match: regex.Match[str], put: str) -> str:
    head = match.group(1) or "" if put.startswith("\\1") else ""
    tail = "@" if put.endswith("@") else ""
    whole = match.group()
    return head + _shapeless(whole[len(head) : len(whole) - len(tail)]) + tail


def _shapeless(text: str) -> str:
    text = regex.sub(r"\\u[0-9A-Fa-f]{4}", "xxxxxx", text)
    return regex.sub(r"(?<!\\)\p{L}", "x", regex.sub(r"\d", "0", text))


def shown(text: str) -> str:
    """Make log text fit for display: safe and masked, in one line."""
    return safe(masked(safe(text)))


def shown_lines(text: str) -> list[str]:
    """Do as `shown`, with the lines of the text kept apart."""
    # Masked as a whole: a prompt may span lines.
    whole = masked("\n".join(safe(line) for line in text.split("\n")))
    return [safe(line) for line in whole.split("\n")]


def _without_prompts(text: str) -> str:
    parts = []
    done = 0
    while found := _PROMPT.search(text, done):
        start = found.end()
        end = _value_end(text, start)
        parts += [text[done:start], f"[{end - start} chars]"]
        done = end
    parts.append(text[done:])
    return "".join(parts)


def _value_end(text: str, start: int) -> int:
    """Find the end of the quoted string or bracketed list at `start`.

    A value that is cut off reaches to the end of the text.
    """
    expected: list[str] = []
    at = start
    while at < len(text):
        char = text[at]
        if (
            char == "\\"
            and at + 1 < len(text)
            and text[at + 1] in "\"'"
            and not expected
        ):
            quote = text[at : at + 2]
            end = text.find(quote, at + 2)
            return len(text) if end < 0 else end + 2
        if char in "\"'":
            at = _quote_end(text, at)
        elif char in _CLOSING:
            expected.append(_CLOSING[char])
            at += 1
        elif expected and char == expected[-1]:
            expected.pop()
            at += 1
        else:
            at += 1
            if not expected:
                continue
        if not expected:
            return at
    return len(text)


def _quote_end(text: str, start: int) -> int:
    quote = text[start]
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == quote:
            return at + 1
        at += 1
    return len(text)
