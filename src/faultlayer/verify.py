"""Checks a case against its manifest: hashes, row counts, and that nothing is lost."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from faultlayer import find
from faultlayer.accounts import account
from faultlayer.blocks import open_source
from faultlayer.case import Case, sha256
from faultlayer.errors import CaseError, SourceError


def differences(case: Case, *, sources: bool = False) -> list[str]:
    """List what differs, one sentence each; an empty list means a sound case.

    With `sources` the inputs are hashed again, where they were read from.
    """
    found = list(_files(case))
    if not found:
        found += _accounts(case)
    if sources:
        found += _inputs(case)
    return found


def _files(case: Case) -> Iterator[str]:
    listed = case.manifest.get("files", {})
    there = {
        file.relative_to(case.path).as_posix()
        for file in case.path.rglob("*.parquet")
        if file.relative_to(case.path).parts[0] in {"events", "rejects"}
        or file.parent == case.path
    }
    for name in sorted(listed):
        if name not in there:
            yield f"{name} is missing"
            continue
        wanted = listed[name]
        path = case.path / name
        if path.stat().st_size != wanted["bytes"]:
            yield f"{name} has {path.stat().st_size} bytes, not {wanted['bytes']}"
        elif sha256(path) != wanted["sha256"]:
            yield f"{name} has changed: its hash differs"
        else:
            yield from _rows(path, name, wanted["rows"])
    for name in sorted(there - set(listed)):
        if "/" in name:
            yield f"{name} is not in the manifest"


def _rows(path: Path, name: str, wanted: int) -> Iterator[str]:
    try:
        rows = pq.read_metadata(path).num_rows
    except (OSError, pa.ArrowInvalid):
        yield f"{name} is no Parquet file"
        return
    if rows != wanted:
        yield f"{name} has {rows} rows, not {wanted}"


def _accounts(case: Case) -> Iterator[str]:
    now = account(case.path)
    for off in now["conservation"]["off"]:
        yield off.get("problem") or (
            f"{off['path']}: {off['lines']} lines and {off['bytes']} bytes read,"
            f" {off['booked_lines']} and {off['booked_bytes']} accounted for"
        )
    for key, value in now["conservation"].items():
        then = case.manifest.get("conservation", {}).get(key)
        if key != "off" and value != then:
            yield f"conservation: {key} is {value}, the manifest says {then}"
    hashes = {row["source_id"]: row["sha256"] for row in now["sources"]}
    for source in case.manifest.get("sources", []):
        if hashes.get(source["source_id"]) != source["sha256"]:
            yield f"{source['path']}: its hash in sources and manifest differ"


def _inputs(case: Case) -> Iterator[str]:
    listed = case.manifest.get("sources")
    if listed is None:
        raise CaseError(f"{case.path} does not list its sources")
    archives: dict[str, dict[str, str]] = {}
    for source in listed:
        name, file, member = source["path"], source.get("file"), source["member"]
        if file is None:
            yield f"source {name} was not read from a file and cannot be hashed again"
            continue
        try:
            if member is None:
                digest = sha256(Path(file))
            else:
                if file not in archives:
                    archives[file] = _hashed(file)
                digest = archives[file].get(member, "")
        except OSError as error:
            yield f"source {name} cannot be read: {error.strerror or error}"
            continue
        except SourceError as error:
            yield f"source {name} cannot be read: {error.message}"
            continue
        if digest != source["sha256"]:
            yield f"source {name} has changed since it was analyzed"


def _hashed(archive: str) -> dict[str, str]:
    """Hash the members of an archive; what the analysis was limited to is not known."""
    with TemporaryDirectory(prefix="faultlayer-") as folder:
        found = find.find([archive], Path(folder))
        hashes = {}
        for source in found.sources:
            with open_source(source) as opened:
                for _ in opened:
                    pass
            hashes[source.member or ""] = opened.sha256
        return hashes
