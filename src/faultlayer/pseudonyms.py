"""Puts pseudonyms in the place of what a text says about people, places and secrets.

What is not known to be harmless is replaced: a word stays only when the shipped formats,
signatures and queries have it too.
"""

import collections
import functools
import tomllib
from collections.abc import Callable, Iterable, Iterator
from importlib.resources.abc import Traversable
from typing import Final

import polars as pl
import pyarrow as pa
import regex

from faultlayer import assets, masking

Hash = Callable[[pl.Series], pl.Series]
"""Gives the pseudonym of each value, of texts that are not null."""

#: Around what has its pseudonym already; no log text keeps these two characters.
_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"
_ROWS: Final = 8_000  # texts that are taken apart at once

_LETTER = r"(?:\\u[0-9A-Fa-f]{4}|[\p{L}\p{N}\p{M}])"
_HEX = "[0-9A-Fa-f]{1,4}"
_PIECE: Final = (
    rf"(?s){_OPEN}[^{_CLOSE}]*{_CLOSE}"
    # Addresses of IPv6 and of cards; times look alike and are told apart below.
    rf"|(?:{_HEX}:){{1,7}}:(?:{_HEX}(?::{_HEX})*)?|::{_HEX}(?::{_HEX})*"
    rf"|{_HEX}(?::{_HEX}){{2,7}}"
    rf"|{_LETTER}+(?:[-_.@+]+{_LETTER}+)*"
    rf"|[^\p{{L}}\p{{N}}\p{{M}}\\{_OPEN}:]+|\\.|."
)
_WORD: Final = r"[\p{L}\p{N}]"
_ADDRESS: Final = r"(?:^|\D)\d{1,3}(?:[.-]\d{1,3}){3}(?:\D|$)"
_NUMBER: Final = r"^\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$"
_LONG: Final = r"\d{9}"
_MEASURE: Final = r"(?i)^\d+(?:\.\d+)?(?:z|ns|us|µs|ms|s|m|min|h|d|b|k|g|t|[kmgt]i?b|x|w|c|mhz|[kmbt]?\+)$"
_TIME: Final = (
    r"^(?:\d{1,2}:\d{2}:\d{2}|\d{4}[-.]\d{2}[-.]\d{2}(?:T\d{2})?|[0-9a-fA-F]{4,8}:\d\d:\d\d"
    r"|\d{2}\.\d{2}\.\d{4})$"
)

#: Texts behind names that say that a person wrote them, and secrets: in quotes they are
#: taken out by columns; what brackets enclose is left to `masking`.
_PROMPTS: Final = (
    "prompt|prompts|text|texts|content|input|inputs|input_text|output_text"
    "|generated_text|messages|query|question|instructions|reasoning_content|arguments"
    "|outputs|documents"
)
_QUOTED: Final = r"""(?:\\"(?:[^\\]|\\[^"])*(?:\\"|$)|"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$))"""
_QUOTED_PROMPT: Final = (
    rf"""(?is)(^|[^\w.-])((?:{_PROMPTS})\\?["']?\s*[:=]\s*)[bru]?{_QUOTED}"""
)
_OPEN_PROMPT: Final = rf"""(?i)(?:^|[^\w.-])(?:{_PROMPTS}|\w*(?:token|output)_ids)\\?["']?\s*[:=]\s*\\?[\[{{(]"""
_KEYED: Final = (
    r"""(?i)([\w-]*(?:api[_-]?key|apikey|secret|passw(?:or)?d|credential|authorization|cookie"""
    r"""|[a-z]_token|-token)[\w-]*\\?["']?\s*[:=]\s*\\?["']?(?:(?:bearer|basic|token)\s+)?)"""
    r"""[^\s"'\\,;&)}\]]{4,}"""
)
_NUMBERS: Final = r"\[\s*-?\d+(?:\s*,\s*-?\d+){15,}\s*,?\s*\]?"
#: A number that is somebody's in JSON becomes a text, so that a pseudonym fits in.
_PERSON: Final = (
    r"""(?i)("[^"]*(?:user|uid|account|customer|client|org|team|tenant|project|phone|member)"""
    r"""[^"]*"\s*:\s*)(\d+)"""
)
#: So long a name must be to be looked for in texts, and so long within other words.
_LEAST: Final = 3
_TELLING: Final = 6
#: A short number is nobody's, but where a word says that it is.
_NUMBERED: Final = (
    r"""(?i)\b((?:user|uid|account|customer|client|member|project|tenant|team|org)"""
    r"""(?:[ _-]?(?:id|name|no))?\\?["']?\s*[:=#]?\s*\\?["']?)\d{1,3}\b"""
)
#: A text of words that nobody knows is one that a person wrote.
_PROSE: Final = 5
#: A word that so many files have in their samples is no name.
_FILES: Final = 3
_SAMPLES: Final = frozenset({"samples", "sample", "look_alikes", "look_alike"})


class Pseudonyms:
    """Replaces names, addresses and unknown words, each by the same wherever it stands.

    `names` are the names of people and pools in the case: they are replaced in texts
    also where they are words that a log may have. `keep` are words to leave.
    """

    def __init__(self, of: Hash, names: pl.Series, keep: Iterable[str] = ()) -> None:
        self._of = of
        self._known = pl.Series(sorted(vocabulary() | {one.lower() for one in keep}))
        self._named = pl.Series([], dtype=pl.String)
        self._named_parts = self._named
        self._inside: dict[str, str] = {}
        names = names.drop_nulls().unique().sort()
        names = names.filter(names.str.contains(_WORD))
        if len(names):
            self._take(names)

    def whole(self, values: pl.Series) -> pl.Series:
        """Give the pseudonym of each value as a whole; what has no letter stays."""
        return _mapped(values, self._of)

    def text(self, values: pl.Series, *, json: bool = False) -> pl.Series:
        """Replace within each text what is not known to be harmless.

        Of `json` the numbers stay numbers, and it stays JSON.
        """
        return _mapped(values, functools.partial(self._texts, json=json))

    def _take(self, names: pl.Series) -> None:
        """Note the names that texts would keep, or that are more than one word there."""
        single = names.str.contains(rf"^{_LETTER}+(?:[-_.@+]+{_LETTER}+)*$")
        kept = pl.Series(names.to_list(), dtype=pl.String)
        same = self._judged(kept) == kept
        short = names.str.contains(r"^\d{1,3}$")
        self._named = names.filter(single & same & ~short).str.to_lowercase()
        long = names.str.len_chars() >= _LEAST
        self._named_parts = self._named.filter(
            self._named.str.contains(
                r"^(?:\d{4,}|[\p{L}\p{M}\d]*\p{L}[\p{L}\p{M}\d]{2,})$"
            )
        )
        digits = names.str.contains(r"^\d+$")
        inside = names.filter(
            (~single & long) | (same & (names.str.len_chars() >= _TELLING) & ~digits)
        )
        self._inside = {
            one: f"{_OPEN}{put}{_CLOSE}"
            for one, put in zip(inside, self._of(inside), strict=True)
        }

    def _texts(self, values: pl.Series, *, json: bool) -> pl.Series:
        parts = [
            self._some(
                _without_prompts(values.slice(start, _ROWS), json=json), json=json
            )
            for start in range(0, len(values), _ROWS)
        ]
        return pl.concat(parts) if parts else values

    def _some(self, values: pl.Series, *, json: bool) -> pl.Series:
        if self._inside:
            values = values.str.replace_many(
                list(self._inside),
                list(self._inside.values()),
                ascii_case_insensitive=True,
                leftmost=True,
            )
        pieces = (
            values.str.extract_all(_PIECE)
            .alias("piece")
            .to_frame()
            .with_row_index("row")
            .explode("piece")
            .with_columns(pl.col("piece").fill_null(""))
        )
        unique = pieces.get_column("piece").unique()
        judged = pl.DataFrame({"piece": unique, "put": self._judged(unique)})
        pieces = pieces.join(judged, on="piece", how="left", maintain_order="left")
        put = pl.col("put")
        if json:
            before = pl.concat_str(
                *(
                    pl.col("piece").shift(far).over("row").fill_null("")
                    for far in (3, 2, 1)
                )
            )
            after = pl.col("piece").shift(-1).over("row")
            number = (
                pl.col("piece").str.contains(_NUMBER)
                & before.str.contains(r"[:\[,]\s*-?$")
                & after.str.contains(r"^\s*[,\]}]")
            )
            put = pl.when(number).then(pl.col("piece")).otherwise(put)
        word = pl.col("piece").str.contains(r"^[\p{L}\p{M}]{2,}$")
        strange = word & (pl.col("put") != pl.col("piece"))
        joined = pieces.group_by("row", maintain_order=True).agg(
            put.str.join("").alias("text"),
            word.sum().alias("words"),
            strange.sum().alias("strange"),
        )
        text = pl.col("text")
        if not json:
            prose = (pl.col("strange") >= _PROSE) & (
                pl.col("strange") * 2 > pl.col("words")
            )
            text = pl.when(prose).then(pl.lit("[text]")).otherwise(text)
        return joined.select(text).to_series()

    def _judged(self, pieces: pl.Series) -> pl.Series:
        """Give for each piece of a text itself, or the pseudonym in its place."""
        piece = pl.col("piece")
        part = pl.col("part")
        frame = pieces.alias("piece").to_frame().with_row_index("row")
        parts = (
            frame.lazy()
            .select(
                "row",
                piece.str.to_lowercase().str.extract_all(r"[^-_.@+]+").alias("part"),
            )
            .explode("part")
            .with_columns(part.fill_null(""))
            .select(
                "row",
                (
                    part.is_in(self._known.implode())
                    | part.str.contains(r"^(?:\p{L}|\d{1,6})$")
                    | part.str.contains(_MEASURE)
                    | (
                        part.str.contains(r"^\p{L}+\d{1,2}$")
                        & part.str.strip_chars("0123456789").is_in(
                            self._known.implode()
                        )
                    )
                ).alias("known"),
                part.is_in(self._named_parts.implode()).alias("named"),
            )
            .group_by("row")
            .agg(pl.col("known").all(), pl.col("named").any())
        )
        plain = piece.str.contains(_NUMBER) & ~piece.str.contains(_LONG)
        harmless = plain | piece.str.contains(_TIME) | piece.str.contains(_MEASURE)
        stays = (
            (pl.col("known") | harmless)
            & ~piece.str.contains(_ADDRESS)
            & ~piece.str.contains(_LONG)
            & (~piece.str.contains(":", literal=True) | harmless)
        )
        stays &= ~piece.str.to_lowercase().is_in(self._named.implode()) & ~pl.col(
            "named"
        )
        judged = (
            frame.lazy()
            .join(parts, on="row", how="left", maintain_order="left")
            .select(
                "piece",
                (
                    ~piece.str.contains(_WORD)
                    | piece.str.contains(r"(?s)^\\.$")
                    | stays
                ).alias("stays"),
                piece.str.starts_with(_OPEN).alias("done"),
            )
            .collect()
        )
        hashed = self._of(judged.get_column("piece"))
        return judged.select(
            pl.when("done")
            .then(piece.str.strip_chars(_OPEN + _CLOSE))
            .when("stays")
            .then(piece)
            .otherwise(hashed)
            .alias("put")
        ).to_series()


def _mapped(values: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Change each different value once; what has no letter or digit stays."""
    if values.null_count() == len(values):
        return values
    frame = values.alias("value").to_frame()
    unique = frame.get_column("value").drop_nulls().unique(maintain_order=True)
    unique = unique.filter(unique.str.contains(_WORD))
    put = pl.DataFrame({"value": unique, "put": change(unique)})
    return (
        frame.join(put, on="value", how="left", maintain_order="left")
        .select(
            # What was not changed for whatever reason is not shown as it was.
            pl.when(pl.col("value").str.contains(_WORD))
            .then("put")
            .otherwise("value")
            .alias(values.name)
        )
        .to_series()
    )


def _without_prompts(values: pl.Series, *, json: bool) -> pl.Series:
    """Take out what people wrote and secrets, where their names tell."""
    values = values.str.replace_all(f"[{_OPEN}{_CLOSE}]", "")
    values = values.str.replace_all(_NUMBERS, "[]")
    values = values.str.replace_all(_QUOTED_PROMPT, '${1}${2}"[text]"')
    if json:
        values = values.str.replace_all(_PERSON, '${1}"${2}"')
        values = values.str.replace_all(
            r"""(?i)("[^"]*(?:api_?key|secret|passw(?:or)?d|credential|authorization|cookie|token)"\s*:\s*)"(?:[^"\\]|\\.)*\"""",
            '${1}"***"',
        )
        return _changed(values, values.str.contains(_OPEN_PROMPT), _emptied)
    values = values.str.replace_all(_KEYED, "${1}***")
    values = values.str.replace_all(_NUMBERED, "${1}*")
    values = _changed(values, values.str.contains(_OPEN_PROMPT), masking.masked)
    return values.str.replace_all(r"\[\d+ chars\]", "[text]")


def _changed(
    values: pl.Series, which: pl.Series, change: Callable[[str], str]
) -> pl.Series:
    """Change some of the texts one by one."""
    at = which.arg_true()
    if not len(at):
        return values
    some = pl.Series([change(text) for text in values[at]], dtype=pl.String)
    return values.clone().scatter(at, some)


_KEYS = regex.compile(rf"(?i)(?:{_PROMPTS}|\w*(?:token|output)_ids)")


def _emptied(text: str) -> str:
    """Put nothing in the place of lists and objects that hold prompts, in JSON."""
    import json  # noqa: PLC0415 - few cases need it

    def walk(value: object) -> object:
        if isinstance(value, dict):
            return {
                key: "[text]"
                if _KEYS.fullmatch(key) and isinstance(one, list | dict)
                else walk(one)
                for key, one in value.items()
            }
        return [walk(one) for one in value] if isinstance(value, list) else value

    try:
        return json.dumps(
            walk(json.loads(text)), ensure_ascii=False, separators=(",", ":")
        )
    except ValueError:
        return "{}"


@functools.cache
def vocabulary() -> frozenset[str]:
    """Give the words of the shipped formats, signatures and queries, in lower case.

    Words of sample lines count when they stand in several files: names do not.
    """
    found: set[str] = {"true", "false", "null", "nan", "infinity"}
    seen: collections.Counter[str] = collections.Counter()
    for name, text in _texts():
        found.update(_words(name))
        if name.endswith(".toml"):
            seen.update(set(_words(text)))
            found.update(_words(" ".join(_said(tomllib.loads(text)))))
        else:
            found.update(_words(text))
    found.update(word for word, files in seen.items() if files >= _FILES)
    return frozenset(found)


def _said(value: object) -> Iterator[str]:
    """Give the names and texts of a definition, but not those of its samples."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in _SAMPLES:
                yield key
                yield from _said(one)
    elif isinstance(value, list):
        for one in value:
            yield from _said(one)
    elif isinstance(value, str):
        yield value


def _words(text: str) -> Iterator[str]:
    for word in regex.findall(r"[^\W_]+", text):
        if regex.fullmatch(r"\p{L}{2,}\d{0,2}|v\d", word):
            yield word.lower()


def _texts() -> Iterator[tuple[str, str]]:
    def walk(folder: Traversable) -> Iterator[tuple[str, str]]:
        for entry in folder.iterdir():
            if entry.is_dir():
                if entry.name != "cases":
                    yield from walk(entry)
            elif entry.name.endswith((".toml", ".sql")):
                yield entry.name, entry.read_text("utf-8")

    yield from walk(assets.builtin("parsers"))
    yield from walk(assets.builtin("queries"))


def arrow(values: pl.Series) -> pa.Table:
    """Give texts as a table of one column, `value`, for a database to hash."""
    return pa.table({"value": values.to_arrow()})
