"""Tells which layer the log of an unknown program is of: its path, loggers and words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

from faultlayer.naming import match
from faultlayer.vocabulary import Signatures

COMPONENTS: Final = {"harness": "harness", "model": "engine", "quota": "quota"}
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "harness": frozenset(
        [
            "harness",
            "gateway",
            "gateways",
            "gw",
            "router",
            "proxy",
            "litellm",
            "oneapi",
            "newapi",
            "edge",
            "authz",
            "ratelimit",
            "ratelimiter",
            "limiter",
            "apigw",
            "relay",
            "bff",
        ]
    ),
    "model": frozenset(
        [
            "model",
            "models",
            "engine",
            "engines",
            "vllm",
            "sglang",
            "tgi",
            "triton",
            "ollama",
            "llama",
            "lmdeploy",
            "xinference",
            "inference",
            "torch",
            "transformers",
        ]
    ),
    "quota": frozenset(["quota", "quotas", "billing", "ledger", "balance", "metering"]),
}
# A record of a request's life or of a refusal, that only this layer writes.
_ENOUGH: Final = 2


def named(text: str) -> str | None:
    """Give the one layer that the words of a name are of, else None."""
    words = {word.rstrip("0123456789") for word in re.split(r"[\W_]+", text.lower())}
    found = [layer for layer, known in _WORDS.items() if words & known]
    return found[0] if len(found) == 1 else None


def of(
    path: str, loggers: pl.Series, messages: pl.Series, signatures: Signatures | None
) -> str | None:
    """Give the layer, or None when nothing tells.

    Folders and file name count first, unless they contradict one another; then the first
    part of the loggers' names, and last whose records the messages are.
    """
    parts = [layer for part in path.split("/") if (layer := named(part))]
    if len(set(parts)) == 1:
        return parts[0]
    names = loggers.drop_nulls().to_list()
    voted = _most(layer for name in names if (layer := _of_logger(name)))
    if voted is not None:
        return voted
    if parts:
        return parts[-1]
    return _by_words(messages, signatures) if signatures else None


def _of_logger(name: str) -> str | None:
    """Give the layer that the first part of a logger's name tells, else all of it."""
    return named(name.partition(".")[0]) or named(name)


def _most(votes: Iterable[str]) -> str | None:
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _by_words(messages: pl.Series, signatures: Signatures) -> str | None:
    """Give the layer that alone knows most of these messages."""
    text = messages.drop_nulls().unique(maintain_order=True)
    if not len(text):
        return None
    counts = {}
    for layer in _WORDS:
        records = pl.DataFrame({"text": text}).with_columns(
            pl.lit(layer).alias("layer"),
            pl.lit(COMPONENTS[layer]).alias("component"),
            pl.lit(None, pl.String).alias("kind"),
        )
        hits, _ = match(records, signatures)
        only = [
            number
            for number, item in enumerate(signatures.items)
            # Of a quota service or of a gateway that asks one: those who refuse are gateways.
            if item.layers == (layer,)
            or (layer == "harness" and item.layers == ("harness", "quota"))
        ]
        rows = hits.filter(pl.col("sig").is_in(only)).get_column("row")
        counts[layer] = rows.n_unique()
    ranked = sorted(counts.items(), key=lambda one: -one[1])
    (first, most), (_, second) = ranked[0], ranked[1]
    return first if most >= _ENOUGH and most > second else None


def main(layers: Mapping[str, str]) -> tuple[str, str]:
    """Give layer and component of a source with such streams: those of most of them."""
    ranked = Counter(layers.values()).most_common(1)
    layer = ranked[0][0] if ranked else "host"
    return layer, COMPONENTS.get(layer, "app")


def placed(
    rows: pl.DataFrame,
    streams: pl.Series,
    layers: Mapping[str, str],
    other: str = "app",
) -> pl.DataFrame:
    """Give rows the layer and component found for their streams.

    Those of all others are of a host, and of the component `other`.
    """
    layer = streams.replace_strict(
        list(layers), list(layers.values()), default="host", return_dtype=pl.String
    )
    component = layer.replace_strict(
        list(COMPONENTS), list(COMPONENTS.values()), default=other
    )
    return rows.with_columns(layer.alias("layer"), component.alias("component"))
