"""Turns C's time formats into a regex and the spelling by which the stamp is read."""

import re
from dataclasses import dataclass
from typing import Final

_PARTS: Final = {
    "Y": r"\d{4}",
    "C": r"\d\d",
    "y": r"\d\d",
    "m": r"\d\d",
    "d": r"\d\d",
    "e": r"[ \d]\d",
    "H": r"\d\d",
    "I": r"\d\d",
    "k": r"[ \d]\d",
    "l": r"[ \d]\d",
    "M": r"\d\d",
    "S": r"\d\d",
    "j": r"\d{3}",
    "b": r"[A-Z][a-z]{2}",
    "h": r"[A-Z][a-z]{2}",
    "B": r"[A-Z][a-z]+",
    "a": r"[A-Z][a-z]{2}",
    "A": r"[A-Z][a-z]+",
    "p": r"[AP]M",
    "z": r"[+-]\d{4}",
    "u": r"\d",
    "w": r"\d",
    "U": r"\d\d",
    "W": r"\d\d",
    "V": r"\d\d",
    "G": r"\d{4}",
    "g": r"\d\d",
    "s": r"\d{9,10}",
    "f": r"\d{9}",
    "L": r"\d{3}",
}
_WHOLE: Final = {
    "T": "%H:%M:%S",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "R": "%H:%M",
    "r": "%I:%M:%S %p",
    "X": "%H:%M:%S",
    "x": "%m/%d/%y",
    "c": "%a %b %e %H:%M:%S %Y",
    "+": "%a %b %e %H:%M:%S %Z %Y",
    "n": "\n",
    "t": "\t",
}
# How polars spells what C spells otherwise.
_SPELLED: Final = {"f": "%9f", "L": "%3f", "h": "%b", "k": "%k", "l": "%l"}
_EXAMPLES: Final = {
    "Y": "2026",
    "C": "20",
    "y": "26",
    "m": "11",
    "d": "30",
    "e": "30",
    "H": "05",
    "I": "05",
    "k": " 5",
    "l": " 5",
    "M": "22",
    "S": "41",
    "j": "334",
    "b": "Nov",
    "h": "Nov",
    "B": "November",
    "a": "Mon",
    "A": "Monday",
    "p": "AM",
    "z": "+0000",
    "u": "1",
    "w": "1",
    "U": "48",
    "W": "48",
    "V": "49",
    "G": "2026",
    "g": "26",
    "s": "1796016161",
    "f": "250000000",
    "L": "250",
}
_TOKEN: Final = re.compile(r"%(?:[-_0^#E O]?)(\d?)([A-Za-z%+])|([^%]+)|%")
_ZONE_NAME: Final = r"(?:[A-Z][A-Za-z]*|[+-]\d\d(?:\d\d)?)"


@dataclass(frozen=True, slots=True)
class Spelt:
    """A time format: the regex of its stamps, their spelling, and one of them.

    `tail` is a regex of what follows the stamp and cannot be read: the name of a zone.
    """

    regex: str
    format: str
    example: str
    tail: str = ""
    tail_example: str = ""


def spelt(format_: str) -> Spelt:
    """Read a format of `strftime`, with Envoy's `%3f` and `%s` for seconds since 1970."""
    format_ = _expanded(format_)
    tail = tail_example = ""
    if format_.endswith("%Z"):
        format_ = format_[:-2]
        space = format_[len(format_.rstrip(" ")) :]
        format_ = format_.rstrip(" ")
        tail, tail_example = escaped(space) + _ZONE_NAME, f"{space}UTC"
    regex = spelling = example = ""
    for match in _TOKEN.finditer(format_):
        digits, letter, literal = match.groups()
        if literal is not None or letter in {None, "%"}:
            text = literal if literal is not None else "%"
            regex += escaped(text)
            spelling += text.replace("%", "%%")
            example += text
        elif letter == "f" and digits:
            regex += rf"\d{{{digits}}}"
            spelling += f"%{_known_width(int(digits))}f"
            example += "250000000"[: int(digits)]
        elif letter == "Z":
            regex += _ZONE_NAME
            spelling += "%Z"
            example += "UTC"
        else:
            regex += _PARTS.get(letter, r"\S+")
            spelling += _SPELLED.get(letter, f"%{letter}")
            example += _EXAMPLES.get(letter, "x")
    if spelling.startswith("%s"):
        # With or without a fraction: a number either way.
        spelling = "epoch_s"
    return Spelt(regex, spelling, example, tail, tail_example)


def _expanded(format_: str) -> str:
    return re.sub(r"%([TDFRrXxcnt+])", lambda match: _WHOLE[match.group(1)], format_)


def _known_width(digits: int) -> int:
    return min(9, (digits + 2) // 3 * 3)


def escaped(text: str) -> str:
    """Escape text for a regex of Rust and of Python, and no more than it needs."""
    return re.sub(r"([\\.^$|?*+()\[\]{}])", r"\\\1", text)
