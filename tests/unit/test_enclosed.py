"""A record that a line of its own closes holds all lines before it, whatever they are."""

import json
from pathlib import Path

import polars as pl
import pytest

from faultlayer import parse
from faultlayer.find import Source

_HEAD = (
    "2026-01-02T03:04:05.052367Z ERROR shard-manager: text_generation_launcher: "
    "Shard complete standard error output:"
)
_NEXT = (
    "2026-01-02T03:04:06.000000Z  INFO text_generation_launcher: Shutting down shards"
)
_INSIDE = """
Some words of a library
Traceback (most recent call last):
  File "server.py", line 1, in serve
2026-01-02 03:04:02.100 | INFO | text_generation_server.cli:serve:80 - own words
 more words
[rank0]: and of another
"""


def events(
    text: str, folder: Path, *, block_bytes: int = 8 << 20
) -> tuple[list[tuple[int, int, str]], int]:
    """Give line, number of lines and message of the events of a text, and the rejects."""
    path = folder / "shard.log"
    path.write_text(text)
    known = parse.load_definitions()
    source = Source(1, path.name, None, path, "", path.name, "")
    found = parse.sniff(source, known)
    out = (folder / "events.parquet", folder / "rejects.parquet")
    options = parse.ParseOptions(2026)
    result = parse.parse_source(
        source, found, known, options, *out, block_bytes=block_bytes
    )
    rows = pl.read_parquet(out[0]).select("line", "lines", "message").rows()
    return rows, result.rejects


@pytest.mark.parametrize("block_bytes", [40, 100, 300, 8 << 20])
def test_all_lines_up_to_the_closing_one_are_one_record(
    tmp_path: Path, block_bytes: int
) -> None:
    """Words, a traceback, another logger: none ends it, wherever blocks end."""
    text = f"{_NEXT}\n{_HEAD}\n{_INSIDE} rank=0\n{_NEXT}\n"
    rows, rejects = events(text, tmp_path, block_bytes=block_bytes)
    assert rejects == 0
    assert [(line, lines) for line, lines, _ in rows] == [(1, 1), (2, 9), (11, 1)]
    assert json.dumps(rows[1][2]).count("own words") == 1


def test_a_record_that_nothing_closes_ends_at_the_next(tmp_path: Path) -> None:
    """Without its closing line it is framed like any other."""
    rows, _ = events(f"{_HEAD}\n\nsome words\n{_NEXT}\n rank=0\n", tmp_path)
    assert [line for line, _, _ in rows] == [1, 4]


def test_a_closing_line_that_is_too_far_closes_nothing(tmp_path: Path) -> None:
    """After a thousand lines a record has ended."""
    words = "".join(f"word {number}\n" for number in range(1000))
    rows, rejects = events(f"{_HEAD}\n{words} rank=0\n", tmp_path)
    assert (len(rows), rejects) == (1, 1001)
