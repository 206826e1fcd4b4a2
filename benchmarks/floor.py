"""The floor: a bare polars pipeline that reads, splits, types and writes.

`floor.py ACCESS_LOG OUT.parquet` reads harness_full lines, keeps those whose
literals all fit, and writes 14 typed columns (zstd level 1). It keeps no offsets, ids are not
normalised, and a line that does not fit is lost: what `faultlayer analyze` does
beyond this is what the ratio in run.py measures.
"""

import sys

import polars as pl

# "addr - user [time] " "request" " status bytes " "referer" " " "agent" " rt=... uct=" ...
LITERALS = {4: " ", 8: " uht=", 10: " urt="}
PIECES = 13
TIME = "%d/%b/%Y:%H:%M:%S %z"


def last_number(piece: pl.Expr) -> pl.Expr:
    """Give the last item of an upstream list in seconds; `-` is null."""
    plain = piece.cast(pl.Float64, strict=False)
    several = piece.str.contains(",", literal=True)
    last = piece.str.split(", ").list.last().cast(pl.Float64, strict=False)
    return pl.when(several).then(last).otherwise(plain)


def dash(piece: pl.Expr) -> pl.Expr:
    """Give null for nginx's `-`."""
    return pl.when(piece != "-").then(piece)


def pipeline(path: str) -> pl.LazyFrame:
    """Give the 14 typed columns of the lines that fit."""
    piece = [pl.col(f"field_{i}") for i in range(PIECES + 1)]
    split = (
        pl.scan_lines(path, name="line")
        .select(pl.col("line").str.splitn('"', PIECES + 1))
        .unnest("line")
    )
    fits = pl.all_horizontal(
        [piece[number] == text for number, text in LITERALS.items()]
        + [
            piece[0].str.ends_with("] "),
            piece[2].str.ends_with(" "),
            piece[6].str.starts_with(" rt="),
            piece[6].str.ends_with(" uct="),
            piece[12].str.starts_with(" req_id="),
            piece[13].is_null(),
            piece[0].str.head(-29).str.count_matches(" ", literal=True) == 3,
        ]
    )
    # "addr - user": a torn line that runs into the next one has more words
    head = piece[0].str.head(-29).str.splitn(" ", 4)
    tail = piece[12].str.slice(8).str.splitn(" quota_used=", 2)
    return split.filter(fits).select(
        addr=head.struct.field("field_0"),
        user=dash(head.struct.field("field_2")),
        ts=piece[0]
        .str.tail(28)
        .str.head(26)
        .str.to_datetime(TIME, time_unit="us", strict=False, cache=True),
        request=piece[1],
        status=piece[2].str.slice(1, 3).cast(pl.Int16, strict=False),
        bytes=piece[2].str.slice(5).str.head(-1).cast(pl.Int64, strict=False),
        referer=dash(piece[3]),
        agent=dash(piece[5]),
        rt=piece[6].str.slice(4).str.head(-5).cast(pl.Float64, strict=False),
        uct=last_number(piece[7]),
        uht=last_number(piece[9]),
        urt=last_number(piece[11]),
        request_id=dash(tail.struct.field("field_0")),
        quota_used=tail.struct.field("field_1").cast(pl.Float64, strict=False),
    )


if __name__ == "__main__":
    pipeline(sys.argv[1]).sink_parquet(
        sys.argv[2], compression="zstd", compression_level=1
    )
