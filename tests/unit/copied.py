"""Parses the files of a folder, and settles what was archived twice."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import polars as pl

from faultlayer import copies, parse
from faultlayer.find import find
from faultlayer.parse import SourceResult


def line(second: int, text: str = "", request: str | None = "r") -> str:
    """Give a line of the harness; its request id is its own."""
    of = f" request_id={request}-{second:05d}-aaaa" if request else ""
    stamp = f"2026-11-30 05:{second // 60:02d}:{second % 60:02d},123"
    return f"[INFO] [{stamp}] harness.server: request accepted{of} {text}\n"


def lines(first: int, last: int, text: str = "", request: str | None = "r") -> str:
    """Give a line for each second."""
    return "".join(line(second, text, request) for second in range(first, last))


@cache
def definitions() -> parse.Definitions:
    """Load the formats once."""
    return parse.load_definitions()


class Parsed:
    """The sources of some files, before and after `settle`."""

    def __init__(self, tmp_path: Path, files: Mapping[str, str | bytes]) -> None:
        self.folder = tmp_path
        for name, data in files.items():
            file = tmp_path / "logs" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data if isinstance(data, bytes) else data.encode())
        for kind in ("events", "rejects"):
            (tmp_path / kind).mkdir()
        self.results: list[SourceResult] = []
        sources = find([str(tmp_path / "logs")]).sources
        for source in sources:
            detection = parse.sniff(source, definitions())
            self.results.append(
                parse.parse_source(
                    source,
                    detection,
                    definitions(),
                    parse.ParseOptions(2026),
                    self.events(source.source_id),
                    self.rejects(source.source_id),
                )
            )
        self.before = self.sums()
        copies.settle(self.results, sources, self.events, self.rejects)

    def events(self, number: int) -> Path:
        """Give the place of the events of a source."""
        return self.folder / "events" / f"{number:05d}.parquet"

    def rejects(self, number: int) -> Path:
        """Give the place of its rejects."""
        return self.folder / "rejects" / f"{number:05d}.parquet"

    def sums(self) -> list[tuple[int, int]]:
        """Give bytes and lines of each source, as its rows add up."""
        found = []
        for result in self.results:
            events = pl.read_parquet(self.events(result.source_id))
            rejects = pl.read_parquet(self.rejects(result.source_id))
            assert (result.events, result.rejects) == (len(events), len(rejects))
            assert result.records == result.events + result.rejects
            parts = (events, rejects)
            sums = {
                column: sum(int(part[column].sum()) for part in parts)
                for column in ("byte_length", "lines")
            }
            found.append(
                (
                    sums["byte_length"] + result.blank_bytes,
                    sums["lines"] + result.blank_lines,
                )
            )
        return found

    def kept(self) -> dict[str, int]:
        """Give how many events each source has left, by path."""
        return {result.path: result.events for result in self.results}

    def check(self) -> None:
        """Check that all bytes and lines are still accounted for."""
        assert self.sums() == self.before
        assert self.before == [(result.bytes, result.lines) for result in self.results]


def kept(tmp_path: Path, files: Mapping[str, str | bytes]) -> dict[str, int]:
    """Parse files, and give what is left of each after a check of the accounts."""
    tmp_path.mkdir(exist_ok=True)
    parsed = Parsed(tmp_path, files)
    parsed.check()
    return parsed.kept()
