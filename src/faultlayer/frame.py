"""Joins lines to records: tracebacks, repeated prefixes, processes that write in turns."""

from typing import Final

import polars as pl

# A record ends when this many lines of its file came after its last one, so that a
# process that fell silent holds nothing back.
REACH: Final = 1000
# What is longer is cut: a record has to fit into memory.
LONGEST: Final = 5000

_MARK: Final = "Traceback (most recent call last)"
_CHAIN: Final = (
    r"^(?:During handling of the above exception|The above exception was the direct "
    r"cause|Caused by: |\.\.\. \d+ (?:more|common frames)|Suppressed: )"
)
_EXCEPTION: Final = (
    r"^(?:[A-Za-z_][\w$]*\.)*[A-Za-z_]\w*"
    r"(?:Error|Exception|Warning|Interrupt|Exit|Timeout|Exhausted|Failure)(?:: |:?$)"
)
_URGENT: Final = ("warning", "error", "critical")

NOTHING: Final = -1  # belongs to no record
BLANK: Final = -2


def shapes(body: pl.Expr) -> pl.Expr:
    """Tell what a line looks like: B(lank) I(ndented) T(raceback) X (chain) E(xception) N."""
    first = body.str.head(1)
    return (
        pl.when(body.str.strip_chars() == "")
        .then(pl.lit("B"))
        .when(first.is_in([" ", "\t", "^", "~", "|"]))
        .then(pl.lit("I"))
        .when(body.str.starts_with(_MARK))
        .then(pl.lit("T"))
        .when(body.str.contains(_CHAIN))
        .then(pl.lit("X"))
        .when(body.str.contains(_EXCEPTION))
        .then(pl.lit("E"))
        .otherwise(pl.lit("N"))
    )


def records(lines: pl.DataFrame) -> pl.Series:
    """Give each line the index of the line that its record begins with.

    `lines` has: line (number), stream, body (text after the head), and for lines that a
    pattern took: taken, weak, single, more, severity, process, header (text that is
    repeated on each line of one record). `NOTHING` marks lines of no record, `BLANK` empty ones.
    """
    frame = lines.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"),
        "line",
        pl.concat_str(
            pl.col("stream").cast(pl.String), pl.col("process").fill_null(""), separator="\x00"
        ).alias("group"),
        shapes(pl.col("body")).alias("shape"),
        pl.col("body").str.contains(_MARK, literal=True).alias("opens"),
        "taken",
        pl.col("taken").and_(~pl.col("weak")).alias("strong"),
        "single",
        "more",
        pl.col("severity").is_in(_URGENT).fill_null(value=False).alias("urgent"),
        pl.col("severity").is_null().alias("plain"),
        "header",
    )
    if frame.get_column("group").n_unique() > 1:
        frame = frame.sort("group", "row", maintain_order=True)
    state = _states(_segments(frame))
    return state.sort("row").get_column("record")


def _segments(frame: pl.DataFrame) -> pl.DataFrame:
    """Number the stretches from one head to the next within a process."""
    within = pl.col("group") == pl.col("group").shift()
    near = (pl.col("line") - pl.col("line").shift()) <= REACH
    same = pl.col("header").eq(pl.col("header").shift()).fill_null(value=False)
    begins = ~(within & near).fill_null(value=False) | (pl.col("strong") & ~same)
    frame = frame.with_columns(begins.alias("begins"))
    frame = frame.with_columns(
        pl.col("begins").cum_sum().alias("segment"),
        # A prefix with nothing after it goes on with the record: it is no blank line.
        pl.when((pl.col("shape") == "B") & pl.col("taken"))
        .then(pl.lit("I"))
        .otherwise("shape")
        .alias("shape"),
    )
    seen = pl.when(pl.col("shape") != "B").then("shape")
    head = pl.col("begins") & pl.col("strong")
    return frame.with_columns(
        seen.forward_fill().shift().over("segment").alias("before"),
        seen.backward_fill().shift(-1).over("segment").alias("after"),
        (pl.col("opens").cum_sum() - pl.col("opens")).over("segment").alias("marks"),
        (pl.col("shape") != "B").cum_sum().over("segment").alias("nth"),
        (head & (pl.col("urgent") | pl.col("plain")) & ~pl.col("single"))
        .first()
        .over("segment")
        .alias("troubled"),
        (head & pl.col("urgent") & ~pl.col("single"))
        .first()
        .over("segment")
        .alias("alarmed"),
    )


def _states(frame: pl.DataFrame) -> pl.DataFrame:
    """Decide for each line: a new record, the next line of one, or neither."""
    shape, taken = pl.col("shape"), pl.col("taken")
    # The text before a second traceback of one prefix is the head of another record.
    headline = (
        (shape == "N") & (pl.col("after") == "T") & (pl.col("marks") > 0) & pl.col("strong")
    )
    frame = frame.with_columns(headline.fill_null(value=False).alias("headline"))
    second = (pl.col("nth") == 2) & (pl.col("before") != "T")  # noqa: PLR2004
    follows_head = pl.col("headline").shift().fill_null(value=False) | (
        second.fill_null(value=False) & pl.col("troubled")
    )
    mark = (
        (shape == "T")
        & (pl.col("before").fill_null("") != "X")
        & ~follows_head
        & ((pl.col("marks") > 0) | ~pl.col("troubled"))
    )
    frame = frame.with_columns((pl.col("begins") | headline | mark).fill_null(value=False).alias("edge"))
    frame = frame.with_columns(pl.col("edge").cum_sum().alias("block"))
    frame = frame.with_columns(
        ((pl.col("opens").cum_sum() - pl.col("opens")).over("block") > 0).alias("open")
    )
    goes_on = (
        pl.when(shape.is_in(["I", "X"]))
        .then(pl.lit(value=True))
        .when(shape == "E")
        .then(pl.col("open") | pl.col("alarmed"))
        .when(shape == "T")
        .then(pl.lit(value=True))
        .otherwise(pl.col("open") | pl.col("more"))
    )
    blank = shape == "B"
    fresh = taken & (pl.col("edge") | ~goes_on)
    lost = ~taken & ~blank & (pl.col("edge") | ~goes_on)
    frame = frame.with_columns(
        fresh.alias("fresh"), lost.alias("lost"), (fresh | lost).alias("decided")
    )
    # A line that would go on with what is no record, or with one that has ended, begins
    # one where it can.
    frame = _settled(frame)
    stranded = (
        taken
        & ~pl.col("fresh")
        & (pl.col("closed") | (pl.col("record") == NOTHING)).fill_null(value=True)
    )
    frame = frame.with_columns(stranded.alias("stranded"))
    if frame.get_column("stranded").any():
        run = pl.col("decided").cum_sum()
        first = pl.col("stranded") & (pl.col("stranded").cum_sum().over(run) == 1)
        frame = frame.with_columns((pl.col("fresh") | first).alias("fresh"))
        frame = _settled(frame)
    fresh = pl.col("fresh")
    ends = pl.col("closed").fill_null(value=True) & ~fresh
    frame = frame.with_columns(
        pl.when(ends & ~blank).then(pl.lit(NOTHING, pl.Int64)).otherwise("record").alias("record")
    )
    # An empty line belongs to a record whose next line goes on with it.
    later = pl.when(~blank).then("record").backward_fill().over("segment")
    inside = blank & ~ends & (later == pl.col("record")) & (pl.col("record") >= 0)
    return frame.select(
        "row",
        pl.when(blank & ~inside.fill_null(value=False))
        .then(pl.lit(BLANK, pl.Int64))
        .otherwise("record")
        .alias("record"),
    )


def _settled(frame: pl.DataFrame) -> pl.DataFrame:
    """Carry each decision on to the lines that go on with it."""
    fresh, lost = pl.col("fresh"), pl.col("lost")
    blank = (pl.col("shape") == "B") & pl.col("edge")
    frame = frame.with_columns(
        pl.when(fresh)
        .then("row")
        .when(lost | blank)
        .then(pl.lit(NOTHING, pl.Int64))
        .alias("start"),
        pl.when(fresh).then("single").when(lost).then(pl.lit(value=False)).alias("shut"),
    )
    return frame.with_columns(
        pl.col("start").forward_fill().over("group").alias("record"),
        pl.col("shut").forward_fill().over("group").alias("closed"),
    )
