"""Read file names: what rotation added to them, how old they are, who wrote them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Restart of the container, then dated (0) before numbered (1) before live (2), the
# digits of the date, then the number in its direction, then packed before plain.
Age = tuple[int, int, str, int, int]


@dataclass(frozen=True, slots=True)
class Name:
    """A file name without what rotation added, and its age: smaller is older."""

    stem: str
    age: Age


LIVE = Name("", (0, 2, "", 0, 1))

_PACKED = re.compile(r"\.(gz|zst|bz2|xz)$", re.IGNORECASE)
_ARCHIVE = re.compile(
    r"\.(tar(\.(gz|zst|bz2|xz))?|tgz|tbz2?|txz|tzst|zip)$", re.IGNORECASE
)
_STAMP = (
    r"[-._]{1,2}(?P<date>20\d\d(?P<dash>-?)(?:0[1-9]|1[0-2])(?P=dash)"
    r"(?:0[1-9]|[12]\d|3[01])"
    # Time of day, or the seconds of the epoch that logrotate's %s gives.
    r"(?:[-_T]?(?:\d{10}|[012]\d(?:[-:]?[0-5]\d){0,2}))?)Z?"
    r"(?:\.(?P<index>\d{1,6}))?"
)
_DATED = re.compile(rf"(?P<stem>.+?){_STAMP}")
_DATED_INSIDE = re.compile(rf"(?P<stem>.+?){_STAMP}(?P<extension>\.[A-Za-z]\w*)")
_NUMBERED = re.compile(r"(?P<stem>.+)\.(?:(?P<number>\d{1,3})|old)", re.IGNORECASE)
# What an export or `split` cut one log into; letters are parts where there is an .aa.
_PART = re.compile(
    r"(?P<stem>.+?)[-._ ]part[-._ ]?(?P<part>\d{1,4})(?P<extension>\.[A-Za-z]\w*)?",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"(?P<stem>.+)(?P<between>\.|\.part-)(?P<part>[a-z]{2})")
_LOG_NAME = re.compile(
    r".+\.(?:log|jsonl?|ndjson|txt|out|err|csv)"
    r"|boot|cron|daemon|debug|dmesg|maillog|messages|secure|syslog|user",
    re.IGNORECASE,
)

# kubelet: /var/log/pods/<namespace>_<pod>_<uid>/<container>/<restarts>.log
_POD_FOLDER = re.compile(r"[a-z0-9.-]+_(?P<pod>[a-z0-9.-]+)_(?=[a-f-]*\d)[0-9a-f-]{3,}")
_RESTART = re.compile(r"(?P<restart>\d+)\.log")
_CONTAINER_LINE = re.compile(rb'\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP]|\{"log":"')
# kubelet: /var/log/containers/<pod>_<namespace>_<container>-<id>.log
_CONTAINER_FILE = re.compile(r"(?P<pod>[a-z0-9.-]+)_[a-z0-9.-]+_.+-[0-9a-f]{12,64}\..+")

_CONTAINER_ID = re.compile(r"[0-9a-f]{12,64}")
_DATE_ONLY = re.compile(r"[-_.T:0-9]+")
_INSTANCE = re.compile(r".*\d|.+[-_][a-z]", re.IGNORECASE)
# Folders that say where logs are kept, not who wrote them.
_KEPT_IN = re.compile(
    r"archives?|backup|compose|containers?|docker|filebeat|fluent-bit|fluentd|journald?"
    r"|k8s|kubernetes|logs?|old|pods|promtail|rotated|syslog|tmp|var|vector",
    re.IGNORECASE,
)


def read_names(
    names: Sequence[str], *, container_parent: str, heads: Sequence[bytes]
) -> list[Name]:
    """Read the names of one folder's files; `heads` are their first bytes.

    A number at the end means rotation only when something else speaks for it: engine.0
    and engine.1 are two engines, access.log.1 is one old log.
    """
    together = frozenset(names)
    found = [_read_name(name, together) for name in names]
    restarts = [_RESTART.fullmatch(name.stem) for name in found]
    if _POD_FOLDER.fullmatch(container_parent) or any(
        restart and _CONTAINER_LINE.match(head)
        for restart, head in zip(restarts, heads, strict=True)
    ):
        return [
            Name("*.log", (int(restart["restart"]), *name.age[1:])) if restart else name
            for name, restart in zip(found, restarts, strict=True)
        ]
    return found


def _read_name(name: str, together: frozenset[str]) -> Name:
    packed = _PACKED.search(name)
    bare = name[: packed.start()] if packed else name
    plain = int(packed is None)
    dated = _DATED.fullmatch(bare) or _DATED_INSIDE.fullmatch(bare)
    if dated:
        digits = re.sub(r"\D", "", dated["date"]).ljust(18, "0")
        stem = dated["stem"] + (dated.groupdict().get("extension") or "")
        return Name(stem, (0, 0, digits, int(dated["index"] or 0), plain))
    if parted := _PART.fullmatch(bare):
        stem = parted["stem"] + (parted["extension"] or "")
        return Name(stem, (0, 0, parted["part"].rjust(4, "0"), 0, plain))
    cut = _SPLIT.fullmatch(bare)
    if (
        cut
        and _LOG_NAME.fullmatch(cut["stem"])
        and f"{cut['stem']}{cut['between']}aa" in together
    ):
        return Name(cut["stem"], (0, 0, cut["part"], 0, plain))
    numbered = _NUMBERED.fullmatch(bare)
    if numbered and (
        numbered["stem"] in together or _LOG_NAME.fullmatch(numbered["stem"])
    ):
        return Name(numbered["stem"], (0, 1, "", -int(numbered["number"] or 1), plain))
    return Name(bare, (0, 2, "", 0, plain))


def unpacked(archive: str) -> str:
    """Give the name of an archive without what packing added."""
    return _ARCHIVE.sub("", archive)


def archive_stem(archive: str) -> str:
    """Give what the name of an archive says beside the date."""
    bare = unpacked(archive)
    dated = _DATED.fullmatch(bare)
    return dated["stem"] if dated else bare


def packs(archive: str, way: Sequence[Sequence[str]]) -> bool:
    """Tell whether an archive merely packs its only file: app.log.2.zip of app.log."""
    if len(way) != 1 or len(way[0]) != 1 or not _ARCHIVE.search(archive):
        return False
    bare, file = unpacked(archive), way[0][0]
    alike = {bare, _read_name(bare, frozenset()).stem}
    return file in alike or _read_name(file, frozenset()).stem in alike


def label(folders: Sequence[str], stem: str) -> str:
    """Guess the instance from the folders, outermost first, and the set's file name."""
    for folder in reversed(folders):
        if pod := _POD_FOLDER.fullmatch(folder):
            return pod["pod"]
    if pod := _CONTAINER_FILE.fullmatch(stem):
        return pod["pod"]
    telling = [name for name in folders if not _KEPT_IN.fullmatch(name)]
    file = stem.rsplit(".", 1)[0] or stem
    # Docker names <id>-json.log after the container's id, which says nothing.
    container = file.removesuffix("-json")
    named = [*reversed(telling), *([file] if file == container else [])]
    for name in named:
        if _INSTANCE.fullmatch(name) and not (
            _DATE_ONLY.fullmatch(name) or _CONTAINER_ID.fullmatch(name)
        ):
            return name
    guess = telling[-1] if telling else container
    return guess[:12] if _CONTAINER_ID.fullmatch(guess) else guess
