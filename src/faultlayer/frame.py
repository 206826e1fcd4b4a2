"""Joins lines to records: tracebacks, repeated prefixes, processes that write in turns."""

from typing import Final

import polars as pl

# A record ends when this many lines of its file came after its last one, so that a
# process that fell silent holds nothing back.
REACH: Final = 1000
# What is longer is cut: a record has to fit into memory.
LONGEST: Final = 5000
_MESSAGE_BYTES: Final = 4096
_HEAD_CHARS: Final = 3072  # kept of a longer message
_TAIL_CHARS: Final = 1024
# Heads that hide behind one another within one stretch of lines.
_ROUNDS: Final = 20

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
    repeated on each line of one record); `enclosed` lines go on with the record before
    them, whatever they look like. `NOTHING` marks lines of no record, `BLANK`
    empty ones.
    """
    frame = lines.select(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("row"),
        "line",
        "header",
        "body",
        "taken",
        pl.col("taken").and_(~pl.col("weak")).alias("strong"),
        "single",
        "more",
        "enclosed",
        "severity",
        group_of(lines).alias("group"),
    )
    if frame.get_column("group").n_unique() > 1:
        frame = frame.sort("group", "row", maintain_order=True)
    within = pl.col("group") == pl.col("group").shift()
    near = (pl.col("line") - pl.col("line").shift()) <= REACH
    same = pl.col("header").eq(pl.col("header").shift()).fill_null(value=False)
    begins = ~(within & near).fill_null(value=False) | (pl.col("strong") & ~same)
    frame = frame.with_columns(begins.alias("begins"))
    # A head that another one follows is a record; nearly all are, and need no more.
    frame = frame.with_columns(_alone().alias("alone"))
    record = frame.get_column("row")
    rest = frame.filter(~pl.col("alone"))
    if len(rest):
        found = _resolved(rest)
        at = (~frame.get_column("alone")).arg_true()
        record = record.clone().scatter(at, found)
    if record.is_empty() or frame.get_column("row").is_sorted():
        return record.alias("record")
    order = frame.select("row", record.alias("record")).sort("row")
    return order.get_column("record")


def _resolved(frame: pl.DataFrame) -> pl.Series:
    """Find the records of lines; what a line is depends on its record's head alone.

    So each head that is found is a new beginning, and the lines after it are looked at
    again: blocks that begin with it come to the same.
    """
    record = frame.get_column("row")
    places = pl.int_range(len(frame), dtype=pl.UInt32, eager=True)
    for _ in range(_ROUNDS):
        frame = _states(_segments(frame))
        fresh = pl.col("fresh") & ~pl.col("begins")
        if not frame.select(fresh.any()).item():
            break
        first = fresh & (_since(fresh, pl.col("begins")) == 0)
        settled = fresh & (
            (pl.col("shape") == "T")
            | (pl.col("shape").is_in(["N", "E"]) & (pl.col("marks") == 0))
        )
        frame = frame.with_columns((pl.col("begins") | first | settled).alias("begins"))
        open_ = frame.select(~_alone()).to_series()
        frame, places = frame.filter(open_), places.filter(open_)
    if frame.is_empty():
        return record
    # What is too long is cut, at the same line wherever the block began.
    begun = pl.col("begins") | pl.col("fresh")
    far = (_since(pl.col("row").is_not_null(), begun) >= LONGEST) & (
        pl.col("record") >= 0
    )
    cut = pl.when(far).then(pl.lit(NOTHING, pl.Int64)).otherwise("record")
    found = frame.select(cut.alias("record")).to_series()
    return record.clone().scatter(places, found)


def _alone() -> pl.Expr:
    """Tell heads that another one follows: they are records, and need no look."""
    alone = pl.col("begins") & pl.col("strong")
    return alone & pl.col("begins").shift(-1).fill_null(value=True)


def group_of(lines: pl.DataFrame) -> pl.Expr:
    """Tell processes of a stream apart: each has records of its own."""
    process = pl.col("process").fill_null("")
    stream = lines.get_column("stream")
    if len(stream) and not stream.null_count() and (stream == stream[0]).all():
        return process
    return pl.concat_str("stream", process, separator="\x00")


def _since(value: pl.Expr, start: pl.Expr) -> pl.Expr:
    """Count what came before a line since the last `start`."""
    before = value.cast(pl.Int64).cum_sum() - value.cast(pl.Int64)
    return before - pl.when(start).then(before).forward_fill()


def _segments(frame: pl.DataFrame) -> pl.DataFrame:
    """Describe the stretches from one head to the next within a process."""
    urgent = pl.col("severity").is_in(_URGENT).fill_null(value=False)
    frame = frame.with_columns(
        pl.when("enclosed")
        .then(pl.lit("I"))
        .otherwise(shapes(pl.col("body")))
        .alias("shape"),
        pl.col("body").str.contains(_MARK, literal=True).alias("opens"),
        urgent.alias("urgent"),
    )
    # A prefix with nothing after it goes on with the record: it is no blank line.
    blank, begins = pl.col("shape") == "B", pl.col("begins")
    frame = frame.with_columns(
        pl.when(blank & pl.col("taken"))
        .then(pl.lit("I"))
        .otherwise("shape")
        .alias("shape")
    )
    seen = pl.when(~blank).then("shape")
    head = begins & pl.col("strong") & ~pl.col("single")
    plain = pl.col("severity").is_null()
    return frame.with_columns(
        pl.when(begins)
        .then(None)
        .otherwise(
            pl.when(begins & blank)
            .then(pl.lit(""))
            .otherwise(seen)
            .forward_fill()
            .shift()
        )
        .alias("before"),
        pl.when(begins)
        .then(pl.lit(""))
        .otherwise(seen)
        .backward_fill()
        .shift(-1)
        .alias("after"),
        _since(pl.col("opens"), begins).alias("marks"),
        (_since(~blank, begins) + (~blank).cast(pl.Int64)).alias("nth"),
        pl.when(begins)
        .then(head & (pl.col("urgent") | plain))
        .forward_fill()
        .alias("troubled"),
        pl.when(begins).then(head & pl.col("urgent")).forward_fill().alias("alarmed"),
    )


def _states(frame: pl.DataFrame) -> pl.DataFrame:
    """Decide for each line: a new record, the next line of one, or neither."""
    shape, taken = pl.col("shape"), pl.col("taken")
    # The text before a second traceback of one prefix is the head of another record.
    headline = (
        (shape == "N")
        & (pl.col("after") == "T")
        & (pl.col("marks") > 0)
        & pl.col("strong")
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
    edge = (pl.col("begins") | pl.col("headline") | mark).fill_null(value=False)
    frame = frame.with_columns(edge.alias("edge"))
    frame = frame.with_columns(
        (_since(pl.col("opens"), pl.col("edge")) > 0).alias("open")
    )
    goes_on = (
        pl.when(shape.is_in(["I", "X", "T"]))
        .then(pl.lit(value=True))
        .when(shape == "E")
        .then(pl.col("open") | pl.col("alarmed"))
        .otherwise(pl.col("open") | pl.col("more"))
    )
    blank = shape == "B"
    fresh = taken & (pl.col("edge") | ~goes_on)
    lost = ~taken & ~blank & (pl.col("edge") | ~goes_on)
    frame = _settled(frame.with_columns(fresh.alias("fresh"), lost.alias("lost")))
    # A line that would go on with what is no record, or with one that has ended, begins
    # one where it can.
    stranded = (
        taken & ~pl.col("fresh") & (pl.col("closed") | (pl.col("record") == NOTHING))
    )
    frame = frame.with_columns(stranded.alias("stranded"))
    if frame.get_column("stranded").any():
        run = (pl.col("fresh") | pl.col("lost") | pl.col("edge")).cum_sum()
        first = pl.col("stranded") & (pl.col("stranded").cum_sum().over(run) == 1)
        frame = _settled(frame.with_columns((pl.col("fresh") | first).alias("fresh")))
    ends = pl.col("closed") & ~pl.col("fresh")
    lines = pl.when(ends).then(pl.lit(NOTHING, pl.Int64)).otherwise("record")
    frame = frame.with_columns(lines.alias("record"))
    # An empty line belongs to a record whose next line goes on with it.
    boundary = pl.when(pl.col("begins")).then(pl.lit(BLANK, pl.Int64))
    later = boundary.otherwise(pl.when(~blank).then("record")).backward_fill()
    inside = blank & ~pl.col("begins") & (later.shift(-1) == pl.col("record"))
    inside &= pl.col("record") >= 0
    return frame.with_columns(
        pl.when(blank & ~inside.fill_null(value=False))
        .then(pl.lit(BLANK, pl.Int64))
        .otherwise("record")
        .alias("record"),
    )


def _settled(frame: pl.DataFrame) -> pl.DataFrame:
    """Carry each decision on to the lines that go on with it."""
    fresh, lost = pl.col("fresh"), pl.col("lost")
    # Each process begins with an edge, so nothing is carried from one to another.
    nothing = lost | ((pl.col("shape") == "B") & pl.col("edge"))
    return frame.with_columns(
        pl.when(fresh)
        .then("row")
        .when(nothing)
        .then(pl.lit(NOTHING, pl.Int64))
        .forward_fill()
        .alias("record"),
        pl.when(fresh)
        .then("single")
        .when(nothing)
        .then(pl.lit(value=False))
        .forward_fill()
        .alias("closed"),
    )


def join(
    lines: pl.DataFrame, record: pl.Series, tails: pl.Series, body: pl.Series
) -> tuple[pl.DataFrame, pl.Series | None]:
    """Add the further lines (`tails`) of records to their heads; give their text too.

    `lines` has lines, byte_length and rest; the text is null where there is none.
    """
    if not len(tails):
        return lines, None
    further = pl.DataFrame(
        {
            "row": record.gather(tails),
            "more_lines": lines.get_column("lines").gather(tails),
            "more_bytes": lines.get_column("byte_length").gather(tails),
            "body": body.gather(tails),
            "rest": lines.get_column("rest").gather(tails),
        }
    )
    text = pl.concat_str("body", "rest", separator="\n", ignore_nulls=True)
    sums = further.group_by("row", maintain_order=True).agg(
        pl.col("more_lines").sum(),
        pl.col("more_bytes").sum(),
        text.str.join("\n").alias("text_"),
    )
    joined = (
        lines.with_columns(pl.int_range(len(lines), dtype=pl.Int64).alias("row"))
        .join(sums, on="row", how="left", maintain_order="left")
        .with_columns(
            (pl.col("lines") + pl.col("more_lines").fill_null(0)).cast(pl.Int32),
            pl.col("byte_length") + pl.col("more_bytes").fill_null(0),
        )
    )
    more = joined.get_column("text_")
    return joined.select(lines.columns), more


def whole(first: pl.Series, further: pl.Series | None) -> pl.Series:
    """Give all of each record, of its first lines and what `join` found below them."""
    if further is None:
        return first
    frame = pl.DataFrame({"first": first, "further": further})
    both = pl.concat_str("first", "further", separator="\n", ignore_nulls=True)
    return frame.select(both).to_series()


def shortened(text: pl.Series) -> pl.Series:
    """Give long messages their head and tail: a traceback ends with its exception."""
    long = (text.str.len_bytes() > _MESSAGE_BYTES).arg_true()
    if not len(long):
        return text
    whole = pl.col("text")
    some = text[long].to_frame("text")
    cut = whole.str.len_chars().cast(pl.Int64) - _HEAD_CHARS - _TAIL_CHARS
    mark = pl.concat_str(pl.lit("\n[... "), cut, pl.lit(" characters left out ...]\n"))
    both = pl.concat_str(whole.str.head(_HEAD_CHARS), mark, whole.str.tail(_TAIL_CHARS))
    short = some.select(pl.when(cut > 0).then(both).otherwise(whole)).to_series()
    return text.clone().scatter(long, short)
