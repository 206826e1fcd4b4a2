"""Peels what container runtimes and shippers put around a line, keeping their stamps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any, Final

import polars as pl

from faultlayer import definitions, stamps
from faultlayer.compile import PatternError, regex_plan
from faultlayer.definitions import Reader
from faultlayer.errors import DefinitionError
from faultlayer.jsonl import ROW, json_objects

PARTIALS: Final = ("none", "no_newline", "tag")
# Parts of one line that are joined; Docker cuts at 16 KiB, so this is 64 MiB.
_MOST_PARTS: Final = 4096

#: Columns of what `unwrap` and `plain` give: one row per line of the program inside.
LINES: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "line": pl.Int64,
    "lines": pl.Int32,
    "byte_offset": pl.Int64,
    "byte_length": pl.Int64,
    "text": pl.String,
    "rest": pl.String,
    "outer": pl.Datetime("us"),
    "stream": pl.String,
    "whole": pl.Boolean,
}


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One wrapper file. `json` maps text, time, stream, host, path to keys.

    `finer`: its stamp is the moment of writing, so that it may refine one of 1 s.
    """

    name: str
    title: str
    regex: str
    json: Mapping[str, str]
    partial: str
    finer: bool
    samples: tuple[Mapping[str, Any], ...]
    rejects: tuple[str, ...]
    path: str
    text: str


_JSON: Final = ("text", "time", "stream", "host", "path")


def load(root: Traversable) -> list[Wrapper]:
    """Load `wrappers/*.toml`, by name; raises `DefinitionError` with all problems."""
    found: list[Wrapper] = []
    problems: list[DefinitionError] = []
    folder = root / "wrappers"
    files = folder.iterdir() if folder.is_dir() else ()
    for file in sorted(files, key=lambda one: one.name):
        if file.name.endswith(".toml"):
            reader = Reader(f"parsers/wrappers/{file.name}", file.read_text("utf-8"))
            wrapper = _wrapper(reader)
            problems += reader.problems
            if wrapper:
                found.append(wrapper)
    definitions.raise_all(problems, "definitions are wrong")
    return found


def _wrapper(reader: Reader) -> Wrapper | None:
    raw = reader.parsed()
    if raw is None:
        return None
    top = reader.table(raw, "the file", ("wrapper", "sample", "reject"))
    head = reader.table(
        top.get("wrapper", {}),
        "wrapper",
        ("name", "title", "misses", "url", "regex", "json", "partial", "finer"),
    )
    name = reader.text_of(head, "name")
    if reader.path.rpartition("/")[2] != f"{name}.toml":
        reader.wrong(f"name {name!r} is not that of the file", "name")
    if ("regex" in head) == ("json" in head):
        reader.wrong("a wrapper has one of regex, json", "[wrapper]")
    regex = "".join(reader.texts_of(head, "regex"))
    if regex:
        try:
            fields = regex_plan(regex).fields
        except PatternError as error:
            reader.wrong(str(error), "regex")
            fields = ("text",)
        if "text" not in fields:
            reader.wrong("regex needs the group text", "regex")
    json = reader.table(head.get("json", {}), "json", _JSON)
    if json and not {"text", "time"} <= set(json):
        reader.wrong("json needs text and time", "json")
    partial = reader.text_of(head, "partial", "none")
    if partial not in PARTIALS:
        reader.wrong(f"partial must be one of {', '.join(PARTIALS)}", "partial")
    samples = reader.tables_of(top, "sample", ("line", "expect"))
    if not samples:
        reader.wrong("no [[sample]]")
    rejects = [
        str(one.get("line", "")) for one in reader.tables_of(top, "reject", ("line",))
    ]
    return Wrapper(
        name=name,
        title=reader.text_of(head, "title"),
        regex=regex,
        json=json,
        partial=partial,
        finer=reader.flag_of(head, "finer"),
        samples=tuple(samples),
        rejects=tuple(rejects),
        path=reader.path,
        text=reader.text,
    )


def plain(lines: pl.DataFrame) -> pl.DataFrame:
    """Give physical lines the columns of `LINES`: nothing is around them."""
    return lines.select(
        "line",
        pl.lit(1, pl.Int32).alias("lines"),
        "byte_offset",
        "byte_length",
        "text",
        pl.lit(None, pl.String).alias("rest"),
        pl.lit(None, pl.Datetime("us")).alias("outer"),
        pl.lit("", pl.String).alias("stream"),
        pl.lit(value=True).alias("whole"),
    )


def peel(text: pl.Series, wrapper: Wrapper) -> pl.DataFrame:
    """Give row, text, time, stream, tag, host of the lines that the wrapper is around."""
    if wrapper.regex:
        match = regex_plan(wrapper.regex).match(text)
        found = match.fields
        rows = match.rows
        if rows is None:
            rows = pl.int_range(len(text), eager=True, dtype=pl.UInt32)
        found = found.with_columns(rows.cast(pl.Int64).alias(ROW))
    else:
        keys = [key.partition(".")[0] for key in wrapper.json.values()]
        dotted = [key for key in wrapper.json.values() if "." in key]
        objects = json_objects(
            text, list(dict.fromkeys([*keys, *dotted])), others=False
        )
        found = objects.select(
            pl.col(ROW),
            *(_key(key).alias(part) for part, key in wrapper.json.items()),
        ).filter(pl.col("text").is_not_null(), pl.col("time").is_not_null())
    missing = [
        name
        for name in ("time", "stream", "tag", "host", "path")
        if name not in found.columns
    ]
    return found.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)


def _key(key: str) -> pl.Expr:
    name, _, path = key.partition(".")
    if not path:
        return pl.col(name)
    return pl.coalesce(pl.col(name).str.json_path_match(f"$.{path}"), pl.col(key))


def unwrap(lines: pl.DataFrame, wrapper: Wrapper) -> pl.DataFrame:
    """Give the lines inside the wrapper; partial ones joined per stream.

    What the wrapper is not around stays as it is, as a stream of its own. The last parts
    of a line that is not yet whole have `whole` = False.
    """
    found = peel(lines.get_column("text"), wrapper)
    times = stamps.read(found.get_column("time"), _OUTER)
    text = pl.col("text_inner")
    inner = found.select(
        pl.col(ROW),
        pl.col("text").alias("text_inner"),
        pl.concat_str(
            pl.col("host").fill_null(""),
            pl.col("path").fill_null(""),
            pl.col("stream").fill_null(""),
            separator="|",
        )
        .str.strip_chars("|")
        .alias("stream"),
        "tag",
        times.get_column("ts").alias("outer"),
    )
    joined = lines.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64))
    joined = joined.join(inner, on=ROW, how="left", maintain_order="left")
    bare = text.is_null()
    whole: pl.Expr = pl.lit(value=True)
    if wrapper.partial == "no_newline":
        whole = bare | text.str.ends_with("\n")
    elif wrapper.partial == "tag":
        whole = bare | (pl.col("tag").str.head(1) != "P")
    joined = joined.with_columns(
        whole.alias("whole"),
        pl.when(bare).then("text").otherwise(text).alias("text"),
        pl.when(bare).then(pl.lit("?")).otherwise("stream").alias("stream"),
    )
    if not joined.get_column("whole").all():
        joined = _joined(joined)
    else:
        joined = joined.with_columns(pl.lit(1, pl.Int32).alias("lines"))
    ended = pl.col("text").str.strip_suffix("\n").str.strip_suffix("\r")
    joined = joined.with_columns(ended.alias("text"))
    cut = pl.col("text").str.splitn("\n", 2).struct
    return joined.select(
        "line",
        "lines",
        "byte_offset",
        "byte_length",
        cut.field("field_0").str.strip_suffix("\r").alias("text"),
        cut.field("field_1").alias("rest"),
        "outer",
        "stream",
        "whole",
    )


_OUTER: Final = (
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "epoch_s",
)


def _joined(lines: pl.DataFrame) -> pl.DataFrame:
    """Join the parts of each line, in the order of their first parts."""
    begins = pl.col("whole").shift(fill_value=True).over("stream")
    parts = lines.with_columns(begins.cum_sum().over("stream").alias("part"))
    # A line of more parts than can be held is cut, wherever the blocks end.
    nth = pl.int_range(pl.len()).over("stream", "part") // _MOST_PARTS
    return (
        parts.with_columns(nth.alias("piece"))
        .group_by("stream", "part", "piece", maintain_order=True)
        .agg(
            pl.col("line").first(),
            pl.len().cast(pl.Int32).alias("lines"),
            pl.col("byte_offset").first(),
            pl.col("byte_length").sum(),
            pl.col("text").str.join(""),
            pl.col("outer").first(),
            (pl.col("whole").last() | (pl.len() == _MOST_PARTS)).alias("whole"),
        )
        .sort("line")
    )


def streams(lines: pl.DataFrame) -> Sequence[str]:
    """Give the streams of lines, sorted."""
    return sorted(lines.get_column("stream").unique().to_list())
