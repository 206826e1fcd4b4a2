"""The main job: from a folder of logs to a case with a verdict per failed request."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import pyarrow as pa

from faultlayer import (
    assets,
    clock_ids,
    copies,
    database,
    find,
    found_formats,
    parse,
    queries,
    schema,
    sent_to,
)
from faultlayer.case import Case, CaseWriter
from faultlayer.classify import Classifier
from faultlayer.clocks.wishes import Wishes
from faultlayer.own_rules import Own
from faultlayer.parse import Definitions, Detection, ParseOptions, SourceResult
from faultlayer.stated import Stated

T = TypeVar("T")
R = TypeVar("R")

#: Memory for the SQL stages; what does not fit spills into the case folder. The logs of
#: several layers are joined by request, and spilled joins take half as long again; by
#: then reading has needed more than that already.
MEMORY = "128MB"
JOINED_MB = 320

#: From so many events of several layers on each gets more, since spilling costs more.
MANY = 7_000_000
EVENT_BYTES = 600


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


@dataclass(frozen=True, slots=True)
class AnalyzeOptions:
    """What a user may say beside the paths; `definitions` in place of the built-in ones."""

    overrides: Sequence[tuple[str, str]] = ()
    workers: int | None = None
    memory: str | None = None
    command: str = ""
    definitions: Definitions | None = None
    limits: find.Limits | None = None
    clocks: Wishes | None = None
    stated: Stated | None = None
    rules: Own | None = None


def analyze(
    paths: Sequence[str],
    case_dir: Path,
    options: AnalyzeOptions | None = None,
    progress: Progress | None = None,
) -> Case:
    """Read logs and write a case; the old case at `case_dir` stays until it is whole.

    Raises SourceError when nothing can be read, CaseError when nothing can be written,
    DefinitionError when a format or rule is wrong.
    """
    options = options or AnalyzeOptions()
    progress = progress or Silence()
    definitions = options.definitions or parse.load_definitions()
    with CaseWriter(case_dir) as writer:
        found = find.find(paths, writer.spill, options.limits, progress.step)
        sources = found.sources
        definitions = found_formats.among(sources, definitions)
        workers = options.workers or min(4, os.cpu_count() or 1)
        results = _read(sources, definitions, options, writer, progress, workers)
        copies.settle(results, sources, writer.events_path, writer.rejects_path)
        _write_sources(writer, results)
        con = database.connect(
            memory_limit=options.memory or _memory(results),
            # Of these queries more threads make more CPU time, and few of them faster.
            threads=max(1, workers // 2),
            temp_dir=writer.spill,
        )
        try:
            classifier = Classifier(
                con,
                writer.path,
                queries.library(assets.builtin("queries")).with_own(
                    options.rules.queries if options.rules else ()
                ),
                timing(definitions),
                writer.spill,
                options.clocks,
                options.stated,
                grows=options.memory is None,
            )
            classifier.run(progress.step)
            assumed = classifier.assumed()
            values = classifier.values()
        finally:
            con.close()
        progress.step("writing")
        return writer.finish(
            {
                "command": options.command,
                "paths": list(paths),
                "skipped": [list(item) for item in found.skipped],
                "lost": [list(item) for item in found.lost],
                "assumed": assumed,
                "values": values,
                "layers": _layers(options.stated),
                "replaced": options.rules.replaced if options.rules else [],
                "clock_checks": classifier.checks,
                "definitions": assets.hashes()
                | _own(options.definitions)
                | (options.rules.hashes if options.rules else {}),
            },
            files={s.source_id: s.archive or s.file for s in sources if s.file},
        )


def _memory(results: Sequence[SourceResult]) -> str:
    """Say how much memory the SQL stages have when the user does not."""
    layers = {result.layer for result in results if result.events}
    if len(layers) > 1:
        return joined_memory(sum(result.events for result in results))
    return MEMORY


def joined_memory(events: int) -> str:
    """Say how much memory the SQL stages have for so many events of several layers."""
    more = max(0, events - MANY) * EVENT_BYTES // 1_000_000
    return f"{JOINED_MB + more}MB"


def _layers(stated: Stated | None) -> dict[str, list[str]]:
    """Give the layers that a user set: layer and place by pattern of causes."""
    return {glob: list(said) for glob, said in (stated or Stated()).layers.items()}


def _own(definitions: Definitions | None) -> dict[str, str]:
    """Give the hashes of the formats that a user gave, by their paths."""
    formats = definitions.formats if definitions is not None else ()
    return {
        one.path: hashlib.sha256(one.text.encode()).hexdigest()
        for one in formats
        if one.given
    }


def _read(
    sources: Sequence[find.Source],
    definitions: Definitions,
    options: AnalyzeOptions,
    writer: CaseWriter,
    progress: Progress,
    workers: int,
) -> list[SourceResult]:
    """Sniff all heads, settle the year of stamps without one, then parse everything."""
    progress.start(len(sources), sum(source.size for source in sources))
    stop = threading.Event()
    detections = list(
        _map(
            lambda source: parse.sniff(source, definitions, options.overrides),
            sources,
            workers,
            stop,
        )
    )
    year = _year(detections)
    engines = sent_to.pattern(_engines(sources, detections, definitions))

    def one(item: tuple[find.Source, Detection]) -> SourceResult:
        source, detection = item

        def tell(size: int) -> None:
            if stop.is_set():
                raise _StoppedError
            progress.read(source.path, size)

        return parse.parse_source(
            source,
            detection,
            definitions,
            ParseOptions(year=year(detection), engines=engines),
            writer.events_path(source.source_id),
            writer.rejects_path(source.source_id),
            tell=tell,
        )

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
    sources: Sequence[find.Source],
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


def _write_sources(writer: CaseWriter, results: Sequence[SourceResult]) -> None:
    clocks = clock_ids.assign(results)
    rows = [
        {**result.row(), "clock_id": clocks[result.source_id]} for result in results
    ]
    writer.write(
        "sources", pa.Table.from_pylist(rows, schema=schema.arrow(schema.SOURCES))
    )


def timing(definitions: Definitions) -> pa.Table | None:
    """Give what kinds of records tell of the time of their request, for the clocks."""
    found = definitions.signatures
    return found.table().to_arrow() if found is not None else None
