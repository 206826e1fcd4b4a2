"""Reads all sources of a case, in threads: first their heads, then the whole of them."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

from faultlayer import earlier, parse, sent_to
from faultlayer.case import CaseWriter
from faultlayer.members import Source
from faultlayer.parse import Definitions, Detection, ParseOptions, SourceResult

T = TypeVar("T")
R = TypeVar("R")


class Progress(Protocol):
    """Who wants to know how far the work is; all calls may come from any thread."""

    def start(self, files: int, size: int) -> None:
        """Take note of the inputs: so many files of so many stored bytes."""

    def read(self, path: str, size: int) -> None:
        """Take note of so many further stored bytes of a file."""

    def step(self, name: str) -> None:
        """Take note of a stage that begins after reading."""


class Silence:
    """Progress that nobody watches."""

    def start(self, files: int, size: int) -> None:
        """Nothing."""

    def read(self, path: str, size: int) -> None:
        """Nothing."""

    def step(self, name: str) -> None:
        """Nothing."""


def read(
    sources: Sequence[Source],
    definitions: Definitions,
    writer: CaseWriter,
    overrides: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
    workers: int = 1,
) -> list[SourceResult]:
    """Write the events and rejects of all sources, and give their results in order.

    What the older case or a killed run has read alike is taken over. `overrides`: the
    format of the sources that match a glob. Raises `SourceError` when one cannot be read.
    """
    progress = progress or Silence()
    progress.start(len(sources), sum(source.size for source in sources))
    stop = threading.Event()
    detections = list(
        _map(
            lambda source: parse.sniff(source, definitions, overrides),
            sources,
            workers,
            stop,
        )
    )
    year = _year(detections)
    ways = earlier.Ways(definitions)
    notes = earlier.Notes(writer)
    engines = sent_to.pattern(_engines(sources, detections, definitions))

    def one(item: tuple[Source, Detection]) -> SourceResult:
        source, detection = item

        def tell(size: int) -> None:
            if stop.is_set():
                raise _StoppedError
            progress.read(source.path, size)

        number = source.source_id
        places = writer.events_path(number), writer.rejects_path(number)
        way = ways.of(source, detection, year(detection))
        known = notes.take(way, source, engines, *places)
        if known is not None:
            tell(known.file_bytes)
            return known
        said = ParseOptions(year=year(detection), engines=engines)
        result = parse.parse_source(
            source, detection, definitions, said, *places, tell=tell
        )
        asked = (engines or "") if result.asked_engines else None
        notes.note(way, result, asked, *places)
        return result

    return list(_map(one, list(zip(sources, detections, strict=True)), workers, stop))


class _StoppedError(Exception):
    """Another source failed, or the user gave up: this one ends between two blocks."""


def _map(
    function: Callable[[T], R],
    items: Sequence[T],
    workers: int,
    stop: threading.Event,
) -> Iterator[R]:
    """Apply a function to all items in threads; results come in the items' order.

    The first error is raised; what has not begun is left, and `stop` is set for the rest.
    """
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures: list[Future[R]] = [pool.submit(function, item) for item in items]
        try:
            pending: Iterable[Future[R]] = futures
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        except BaseException:  # Ctrl-C too must stop the other threads
            stop.set()
            for future in futures:
                future.cancel()
            raise
        return iter([future.result() for future in futures])


def _engines(
    sources: Sequence[Source],
    detections: Sequence[Detection],
    definitions: Definitions,
) -> set[str]:
    """Give the names that engines' logs have by their places."""
    known = {one.name for one in definitions.formats if one.layer == "model"}
    return {
        name
        for source, detection in zip(sources, detections, strict=True)
        if any(known.intersection(some) for some in detection.formats.values())
        for name in (source.label, *detection.engine_hosts)
    } - parse.NO_ENGINES


def _year(detections: Sequence[Detection]) -> Callable[[Detection], int | None]:
    """Choose the year of year-less stamps: the one nearest to the dated logs."""
    dated = [d.first_ts for d in detections if d.dated and d.first_ts is not None]

    def year(detection: Detection) -> int | None:
        if not dated or detection.first_ts is None:
            return dated[0].year if dated else None
        stamp = detection.first_ts

        def away(candidate: int) -> float:
            try:
                moved = stamp.replace(year=candidate)
            except ValueError:  # 29 February in a year without one
                return float("inf")
            return min(abs((moved - other).total_seconds()) for other in dated)

        years = {d.year + shift for d in dated for shift in (-1, 0, 1)}
        return min(sorted(years), key=away)

    return year
