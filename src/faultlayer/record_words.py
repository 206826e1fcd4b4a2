"""Says in words what one record tells, when and where."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from faultlayer import wording
from faultlayer.summary import Values

_LONG = 12


def short_places(records: Sequence[Values]) -> dict[str, str]:
    """Shorten paths to the fewest last parts that tell these files apart."""
    paths = sorted({path_of(record) for record in records})
    short = {}
    for path in paths:
        parts = PurePosixPath(path).parts
        for length in range(1, len(parts) + 1):
            tail = "/".join(parts[-length:])
            same = [p for p in paths if p == tail or p.endswith("/" + tail)]
            if len(same) <= 1:
                break
        short[path] = tail
    return short


def path_of(record: Values) -> str:
    """Give the path of the file that a record stands in."""
    return str(record["path"])


def without_ids(text: str, names: Sequence[str]) -> str:
    """Shorten the request's own id: the whole trace is about it."""
    for name in sorted(names, key=len, reverse=True):
        if len(name) > _LONG:
            text = text.replace(name, name[:8] + "…")
    return text


def error(record: Values) -> str:
    """Say how far the corrected time of a record may be off."""
    if record["borrowed"]:
        return "about"
    return wording.error(record["ts_error_us"])


def what(record: Values) -> str:
    """Say in a line what a record tells, its numbers first."""
    parts = []
    if record["status"] is not None:
        parts.append(str(record["status"]))
    if record["duration_ms"] is not None:
        parts.append(wording.duration(round(record["duration_ms"] * 1000)))
    for key, word in (("plugin", "plugin"), ("pool", "pool")):
        if record[key]:
            parts.append(f"{word} {record[key]}")
    if record["quota_amount"] is not None:
        parts.append(f"amount {record['quota_amount']:g}")
    text = telling(record)
    if any(item.lstrip().startswith("Traceback") for item in text[:3]):
        # The last line of a traceback says what it was.
        parts.append(f"{text[-1].strip()}  ({text[0].strip()})")
    elif text:
        parts.append(text[0])
    return "  ".join(parts)


def telling(record: Values) -> list[str]:
    """Leave out empty lines and those that only underline the one above."""
    return [item for item in record["text"] if item.strip(" ^~|-=+")]
