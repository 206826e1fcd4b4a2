"""Guesses the layout of a log from its lines alone: stamps, levels, brackets, JSON keys."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from faultlayer import pairs
from faultlayer.dialects.strftime import escaped

_MOST: Final = 4  # line shapes that become patterns
_LEAST: Final = 0.03  # share of lines below which a shape is an accident
_ALWAYS: Final = 0.98  # share of lines in which a key is always there
_LONGEST: Final = 14  # values before the message, keys of an object

#: Stamps as they stand in lines: a regex, and the spellings by which it is read.
STAMPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)",
        ("%Y-%m-%dT%H:%M:%S%.f%#z",),
    ),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?", ("%Y-%m-%dT%H:%M:%S%.f",)),
    (
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? ?(?:Z|[+-]\d\d:?\d\d)",
        ("%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z"),
    ),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", ("%Y-%m-%d %H:%M:%S,%3f",)),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?", ("%Y-%m-%d %H:%M:%S%.f",)),
    (r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)?", ("%Y/%m/%d %H:%M:%S%.f",)),
    (r"\d{4}/\d\d/\d\d - \d\d:\d\d:\d\d", ("%Y/%m/%d - %H:%M:%S",)),
    (r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}", ("%d/%b/%Y:%H:%M:%S %z",)),
    (r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d\.\d+", ("%d/%b/%Y:%H:%M:%S%.f",)),
    (r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?", ("%b %e %H:%M:%S%.f",)),
    (r"\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?", ("%m-%d %H:%M:%S%.f",)),
    (r"\d{4} \d\d:\d\d:\d\d\.\d+", ("%m%d %H:%M:%S%.f",)),
    (r"\d\d:\d\d:\d\d(?:[.,]\d+)?", ("%H:%M:%S%.f",)),
    (r"1[5-9]\d{8}\.\d+", ("epoch_s",)),
    (r"1[5-9]\d{11}", ("epoch_ms",)),
    (r"1[5-9]\d{8}", ("epoch_s",)),
)
_LEVELS: Final = "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|ERR|CRITICAL|CRIT|FATAL|ALERT|EMERG|PANIC"
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_ID: Final = rf"(?:{_UUID}|[0-9a-zA-Z]{{16,64}})"
_METHOD: Final = r"(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)"
# Name, what tells it in a line, and the regex that is written for it.
_KINDS: Final = (
    ("level", rf"(?:{_LEVELS}|{_LEVELS.lower()})(?![\w.])", r"[A-Za-z]+"),
    (
        "request",
        rf'{_METHOD} (?:\S+ HTTP/[\d.]+|/[^\s";|,]*)',
        r'[A-Z]+ [^\s";|,]+(?: HTTP/[\d.]+)?',
    ),
    ("client", r"\d{1,3}(?:\.\d{1,3}){3}(?![\w.])", r"[\d.]+"),
    ("source", r"[\w./-]+\.(?:py|go|rs|java|cc|cpp|c|js|ts):\d+", r"[\w./-]+:\d+"),
    ("request_id", rf"(?=\w*\d){_ID}(?![\w-])", r"[\w-]+"),
    ("duration_ms", r"\d+(?:\.\d+)?(?= ?ms(?!\w))", r"\d+(?:\.\d+)?"),
    ("number", r"-?\d+(?:\.\d+)?(?![\w.:-])", r"-?\d+(?:\.\d+)?"),
    (
        "logger",
        r"[A-Za-z_]\w*(?:(?:\.|::|-|/)\w+)*(?=\]|\)|:(?!/)| - | \| )",
        r"[^\s\]):|]+",
    ),
)
_TEXT: Final = r"[^\w\s]+|\s+"
# Where the exchange stands in a line: words before it are values, those behind it text.
_EXCHANGE: Final = re.compile(rf"(?<!\w){_METHOD} /")
_WORD: Final = re.compile(r"[\w.@-]*\w")
_BETWEEN: Final = (";", "|", "\t")
_COLUMNS: Final = 4  # of these in a line make it a row
_STATUSES: Final = re.compile(r"20[0-9]|30[1-8]|40[0-9]|413|42[29]|499|50[0-4]")
_PAIR: Final = re.compile(r"\b[A-Za-z_][\w.-]*=\S")
_CONTINUES: Final = re.compile(r"\s|Traceback|Caused by|\}|\)|\.\.\. \d+ more")


@dataclass(frozen=True, slots=True)
class Guess:
    """A pattern as a file would have it, its name, and how many lines it is for.

    `parts`: the regex in pieces; `json`: keys that must be there, in its place. `fields`
    fill columns; `time` is the field with the stamp, `pairs` one that holds key=value.
    """

    name: str
    count: int
    parts: tuple[str, ...] = ()
    json: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    time: str = ""
    spelt: tuple[str, ...] = ()
    pairs: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    name: str  # empty: text between values
    text: str
    regex: str
    spelt: tuple[str, ...] = ()


def guess(lines: Sequence[str]) -> list[Guess]:
    """Guess the patterns of lines, those of most lines first."""
    whole = [line for line in lines if line.strip()]
    objects = [one for line in whole if (one := _object(line)) is not None]
    if whole and len(objects) > len(whole) // 2:
        return [_of_objects(objects)]
    shapes: dict[tuple[str, ...], list[list[_Part]]] = {}
    for line in whole:
        if _CONTINUES.match(line):
            continue
        parts = _parts(line)
        shapes.setdefault(tuple(_key(part) for part in parts), []).append(parts)
    ranked = sorted(shapes.values(), key=len, reverse=True)
    least = max(1, int(len(whole) * _LEAST))
    found = [
        _of_shape(number, parts)
        for number, parts in enumerate(ranked[:_MOST])
        if len(parts) >= least and any(part.name for part in parts[0])
    ]
    return [one for one in found if one is not None]


# ---------------------------------------------------------------- text


def _parts(line: str) -> list[_Part]:
    """Cut a line into values and what stands between, up to its message."""
    parts: list[_Part] = []
    seen: Counter[str] = Counter()
    at = 0
    exchange = _EXCHANGE.search(line)
    between = next((one for one in _BETWEEN if line.count(one) >= _COLUMNS), "")
    while at < len(line) and sum(seen.values()) < _LONGEST:
        if _PAIR.match(line, at):
            break
        part = _value(line, at, seen)
        if part is None and between and line[at] != between:
            part = _cell(line, at, between, seen)
        if part is None:
            mark = re.escape(between) if between and line[at] == between else _TEXT
            text = re.compile(mark).match(line, at)
            word = _WORD.match(line, at) if exchange and text is None else None
            if text is None and word is None:
                break
            if word is not None and exchange and at < exchange.start():
                name = f"word_{seen['word'] + 1}"
                part = _Part(name, word.group(), r"[\w.@-]+")
                seen["word"] += 1
            else:
                found = text or word
                part = _Part("", found.group() if found else "", "")
        else:
            seen[re.sub(r"_\d+$", "", part.name)] += 1
        parts.append(part)
        at += len(part.text)
    # A message begins with a word: brackets and quotes before it may be its own.
    if at < len(line):
        name = "rest" if seen["request"] else "message"
        parts.append(_Part(name, line[at:], ".*"))
    return parts


def _cell(line: str, at: int, between: str, seen: Counter[str]) -> _Part | None:
    """Give what stands up to the next of the marks that part a row, if it has one."""
    end = line.find(between, at)
    text = line[at : end if end >= 0 else len(line)]
    if not text.strip() or (at and line[at - 1] != between):
        return None
    shape = "[^" + re.escape(between) + "]*"
    name = "path" if text.startswith("/") and not seen["path"] else ""
    return _Part(name or f"field_{seen['field'] + 1}", text, shape)


def _value(line: str, at: int, seen: Counter[str]) -> _Part | None:
    if at and (line[at - 1].isalnum() or line[at - 1] == "_"):
        return None
    for regex, spelt in STAMPS:
        found = re.compile(rf"(?:{regex})(?![\w])").match(line, at)
        if found:
            name = "ts" if not seen["ts"] else f"ts_{seen['ts'] + 1}"
            return _Part(name, found.group(), regex, spelt)
    for name, tells, regex in _KINDS:
        if seen[name] and name != "number":
            continue
        found = re.compile(tells).match(line, at)
        if found and name == "number":
            return _number(line, at, found.group(), seen)
        if found:
            return _Part(name, found.group(), regex)
    return None


def _number(line: str, at: int, text: str, seen: Counter[str]) -> _Part:
    if seen["request"] and not seen["status"] and re.fullmatch(r"[1-5]\d\d", text):
        return _Part("status", text, r"\d{3}")
    if line[at - 1 : at] == "[" and not seen["process"]:
        return _Part("process", text, r"\d+")
    if seen["client"] and not seen["port"] and line[at - 1 : at] == ":":
        return _Part("port", text, r"\d+")
    return _Part(f"number_{seen['number'] + 1}", text, r"-?\d+(?:\.\d+)?")


def _key(part: _Part) -> str:
    if part.name:
        return f"<{part.name}:{part.regex}>"
    return re.sub(r"\s+", " ", part.text)


def _of_shape(number: int, lines: Sequence[Sequence[_Part]]) -> Guess | None:
    parts: list[str] = []
    time = ""
    spelt: tuple[str, ...] = ()
    status = _status(lines)
    for column in zip(*lines, strict=True):
        one = column[0]
        if one.name:
            name = "status" if one.name == status else one.name
            parts.append(f"(?P<{name}>{one.regex})")
            if one.spelt and not time:
                time, spelt = one.name, one.spelt
            continue
        if one.text.isspace():
            spaces = {part.text for part in column}
            padded = len(spaces) > 1 or len(one.text) > 1
            parts.append(" +" if padded else escaped(one.text))
        else:
            parts.append(escaped(one.text))
    names = {part.name for part in lines[0] if part.name}
    if names <= {"message"}:
        return None
    said = next((name for name in ("request", "path") if name in names), "")
    fields = {"message": said} if said else {}
    return Guess(
        name=("record", "second", "third", "fourth")[number],
        count=len(lines),
        parts=tuple(parts),
        fields=fields,
        time=time,
        spelt=spelt,
        pairs=lines[0][-1].name
        if any(_PAIR.search(one[-1].text) for one in lines[:200])
        else "",
    )


def _status(lines: Sequence[Sequence[_Part]]) -> str:
    """Give the number that is a status in all lines, and not the same in all."""
    for column in zip(*lines, strict=True):
        values = {part.text for part in column}
        name: str = column[0].name
        if name == "status":
            return ""
        varies = name.startswith("number_") and len(values) > 1
        if varies and all(map(_STATUSES.fullmatch, values)):
            return name
    return ""


# ---------------------------------------------------------------- JSON


def _object(line: str) -> dict[str, object] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


_MESSAGES: Final = ("message", "msg", "event", "log", "text", "request")
_LEVEL_KEYS: Final = ("level", "levelname", "severity", "lvl", "log.level", "loglevel")


def _of_objects(objects: Sequence[Mapping[str, object]]) -> Guess:
    counts = Counter(key for one in objects for key in one)
    always = [key for key, count in counts.items() if count >= _ALWAYS * len(objects)]
    time, spelt = _time(objects, always or list(counts))
    fields: dict[str, str] = {}
    for wanted, keys in (("message", _MESSAGES), ("level", _LEVEL_KEYS)):
        known = next((key for key in keys if key in counts), None)
        if known is not None and known != wanted:
            fields[wanted] = known
    for key in counts:
        column = pairs.COLUMNS.get(key.lower().replace("-", "_"))
        if column is not None and column != key and column not in fields:
            fields[column] = key
    return Guess(
        name="object",
        count=len(objects),
        json=tuple((always or list(counts))[:_LONGEST]),
        fields=fields,
        time=time,
        spelt=spelt,
    )


def _time(
    objects: Sequence[Mapping[str, object]], keys: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Find the key whose values are stamps; of several the one with most digits."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for key in keys:
        values = [str(one[key]) for one in objects[:100] if key in one]
        for regex, spelt in STAMPS:
            if values and all(re.fullmatch(regex, value) for value in values):
                if "%H" in spelt[0] and "%d" not in spelt[0]:
                    continue
                digits = max(sum(map(str.isdigit, value)) for value in values)
                found.append((digits, key, spelt))
                break
    if not found:
        return "", ()
    _, key, spelt = max(found, key=lambda one: one[0])
    return key, spelt


def records(lines: Sequence[str]) -> Iterator[str]:
    """Give the lines that begin a record, as far as one can tell."""
    for line in lines:
        if line.strip() and not _CONTINUES.match(line):
            yield line
