"""Names what access records themselves say of their end: flags, states, details."""

from typing import Final

import polars as pl

from faultlayer import interleave, rows, signatures

# What can only end an exchange that a peer had, and what keeps it from one.
_REACHED: Final = ("upstream_timeout", "upstream_reset", "upstream_closed")
_MISSED: Final = ("connect_refused", "connect_failed", "tls_handshake", "dns_failure")


def name(events: pl.DataFrame, known: signatures.Signatures) -> pl.DataFrame:
    """Put the kinds of each access record's reason after `access` in `kinds`.

    Takes the column `rows.REASON` away. Where nothing else tells it, the reason also
    says whether the peer was reached.
    """
    told = events.select(
        pl.col(rows.REASON).is_not_null() & (pl.col("kind") == "access")
    ).to_series()
    if not told.any():
        return events.drop(rows.REASON)
    part = events.filter(told).with_columns(
        pl.col("text").alias("_text"),
        pl.col(rows.REASON).alias("text"),
        pl.lit(None, pl.String).alias("kind"),
    )
    named = signatures.name_kinds(part, known)
    several = pl.coalesce("kinds", pl.concat_list("kind"))
    named = named.with_columns(
        pl.col("_text").alias("text"),
        pl.lit("access").alias("kind"),
        pl.when(pl.col("kind") != "other")
        .then(pl.concat_list(pl.lit("access"), several))
        .alias("kinds"),
    )
    if "forwarded" in named.columns:
        named = named.with_columns(_forwarded().alias("forwarded"))
    named = named.select(events.columns)
    others = events.filter(~told)
    merged = interleave.in_order([others, named]) if len(others) else named
    return merged.drop(rows.REASON)


def _forwarded() -> pl.Expr:
    said = (
        pl.when(_some(_MISSED))
        .then(pl.lit(value=False))
        .when(_some(_REACHED))
        .then(pl.lit(value=True))
    )
    return pl.coalesce("forwarded", said)


def _some(kinds: tuple[str, ...]) -> pl.Expr:
    return pl.col("kinds").list.eval(pl.element().is_in(kinds)).list.any()
