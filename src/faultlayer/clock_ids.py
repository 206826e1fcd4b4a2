"""Which sources share a clock: the logs of one program in one folder."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from faultlayer.parse import SourceResult


def assign(sources: Iterable[SourceResult]) -> dict[int, str]:
    """Give the clock of every source, by source id.

    Sources of one program in one folder share a clock, unless two rotated sets there
    have the same format: then they come from different instances. Stamps with a zone
    and stamps without get clocks of their own, since the zone is part of the offset.
    """
    groups: dict[tuple[str, str, bool], list[SourceResult]] = defaultdict(list)
    for source in sources:
        folder = _split(source.log_set)[0]
        key = (folder, source.component or "unknown", bool(source.zoned))
        groups[key].append(source)
    zoned = {(folder, program) for folder, program, has_zone in groups if has_zone}
    clocks: dict[int, str] = {}
    for (folder, program, has_zone), members in groups.items():
        sets: dict[str, list[str]] = defaultdict(list)
        for source in sorted(members, key=lambda item: item.log_set):
            known = sets[source.format or ""]
            if source.log_set not in known:
                known.append(source.log_set)
        local = "" if has_zone or (folder, program) not in zoned else " (local time)"
        for source in members:
            number = sets[source.format or ""].index(source.log_set)
            first = _split(source.log_set)[1]
            name = folder if number == 0 else f"{folder}/{first}"
            clocks[source.source_id] = f"{_called(name, program)}{local}"
    return clocks


def _split(log_set: str) -> tuple[str, str]:
    """Give folder and name; members of an archive lie in folders of it."""
    at = max(log_set.rfind("/"), log_set.rfind("!"))
    return log_set[:at] if at >= 0 else ".", log_set[at + 1 :]


def _called(folder: str, program: str) -> str:
    """Name a clock by its folder, and by the program where the folder does not."""
    parts = PurePosixPath(folder).parts
    if program in parts:
        return folder
    return program if folder == "." else f"{folder}:{program}"
