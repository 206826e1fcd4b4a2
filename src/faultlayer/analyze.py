"""The main job: from a folder of logs to a case with a verdict per failed request."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from faultlayer import (
    assets,
    clock_ids,
    copies,
    database,
    find,
    found_formats,
    intake,
    parse,
    queries,
    schema,
)
from faultlayer.case import Case, CaseWriter
from faultlayer.classify import Classifier
from faultlayer.clocks.wishes import Wishes
from faultlayer.own_rules import Own
from faultlayer.parse import Definitions, SourceResult
from faultlayer.stated import Stated

#: Memory for the SQL stages; what does not fit spills into the case folder. The logs of
#: several layers are joined by request, and spilled joins take half as long again; by
#: then reading has needed more than that already.
MEMORY = "128MB"
JOINED_MB = 320

#: From so many events of several layers on each gets more, since spilling costs more.
MANY = 7_000_000
EVENT_BYTES = 600


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
    progress: intake.Progress | None = None,
) -> Case:
    """Read logs and write a case; the old case at `case_dir` stays until it is whole.

    Raises SourceError when nothing can be read, CaseError when nothing can be written,
    DefinitionError when a format or rule is wrong.
    """
    options = options or AnalyzeOptions()
    progress = progress or intake.Silence()
    definitions = options.definitions or parse.load_definitions()
    with CaseWriter(case_dir) as writer:
        found = find.find(paths, writer.spill, options.limits, progress.step)
        sources = found.sources
        definitions = found_formats.among(sources, definitions)
        workers = options.workers or min(4, os.cpu_count() or 1)
        results = intake.read(
            sources, definitions, writer, options.overrides, progress, workers
        )
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
                "taken_over": sum(result.taken_over for result in results),
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
