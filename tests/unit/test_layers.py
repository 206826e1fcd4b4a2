"""Whose log it is: only what speaks for a layer makes it one."""

import polars as pl
import pytest

from faultlayer import detect, layers, lines, parse
from faultlayer.blocks import Block

NONE = pl.Series([], dtype=pl.String)


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("logs/harness/app.log", "harness"),
        ("logs/gw-1/stdout.log", "harness"),
        ("pods/ai_vllm-7b-0_6e1f/main/0.log", "model"),
        ("logs/billing/app.log", "quota"),
        ("logs/batch/train.log", None),
        ("logs/app.log", None),
    ],
)
def test_folders_and_names_tell(path: str, layer: str | None) -> None:
    """A path without a word of a layer tells nothing."""
    assert layers.of(path, NONE, NONE, None) == layer


def test_loggers_decide_where_paths_contradict_themselves() -> None:
    """Without them the name nearest to the file counts."""
    path = "logs/gateway-a/engine.log"
    mine = pl.Series(["harness.engine", "harness.router", "engine.core"])
    assert layers.of(path, mine, NONE, None) == "harness"
    assert layers.of(path, NONE, NONE, None) == "model"


def test_loggers_tell_where_the_path_does_not() -> None:
    """As many for one layer as for another tell nothing."""
    path = "logs/app.log"
    assert layers.of(path, pl.Series(["gateway.api"]), NONE, None) == "harness"
    both = pl.Series(["gateway.api", "vllm.core"])
    assert layers.of(path, both, NONE, None) is None


def test_rows_of_nobody_are_the_hosts() -> None:
    """Streams are told apart."""
    rows = pl.DataFrame({"message": ["a", "b"]})
    placed = layers.placed(rows, pl.Series(["x", "y"]), {"x": "quota"})
    assert placed.get_column("layer").to_list() == ["quota", "host"]
    assert placed.get_column("component").to_list() == ["quota", "app"]


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-30 05:26:38,269 [INFO] loading part",
        "[2026-11-30 05:26:38] [INFO] loading part",
        "2026-11-30 05:26:38 INFO loading part",
        "2026-11-30 05:26:38,269 ERROR: loading part",
    ],
)
def test_a_stamp_before_a_level_is_nobodys_wrapper(line: str) -> None:
    """What any program writes is not cut to look like the harness's own lines."""
    block = Block(f"{line}\n".encode() * 6, 0, 1, last=True)
    found = detect.choose(lines.lines_of(block), parse.load_definitions())
    assert found.wrapper is None
    assert [names[0][0] for names in found.streams.values()] == ["stamped"]
