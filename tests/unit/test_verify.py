"""`verify` notices whatever was changed, lost or added."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from faultlayer import schema, verify
from faultlayer.case import Case, CaseWriter, open_case

Build = Callable[..., Case]


def test_a_sound_case(build_case: Build) -> None:
    """Nothing to say."""
    assert verify.differences(build_case()) == []


def test_what_a_person_puts_beside_it_is_no_difference(build_case: Build) -> None:
    """Notes, a report, an export."""
    case = build_case()
    (case.path / "notes.md").write_text("x")
    (case.path / "export.parquet").write_text("x")
    assert verify.differences(case) == []


def test_changes_are_named(build_case: Build) -> None:
    """One flipped byte, a missing file, an added file, a longer file."""
    case = build_case()
    verdicts = case.path / "verdicts.parquet"
    data = bytearray(verdicts.read_bytes())
    data[50] ^= 1
    verdicts.write_bytes(bytes(data))
    (case.path / "clocks.parquet").unlink()
    (case.path / "events" / "00009.parquet").write_bytes(b"x")
    size = (case.path / "aliases.parquet").stat().st_size
    with (case.path / "aliases.parquet").open("ab") as file:
        file.write(b"x")
    assert verify.differences(case) == [
        f"aliases.parquet has {size + 1} bytes, not {size}",
        "clocks.parquet is missing",
        "verdicts.parquet has changed: its hash differs",
        "events/00009.parquet is not in the manifest",
    ]


def test_an_edited_manifest_is_noticed(build_case: Build) -> None:
    """Sums that do not follow from the tables."""
    case = build_case()
    case.manifest["conservation"]["lines"] = 6
    case.manifest["sources"][0]["sha256"] = "1" * 64
    assert verify.differences(case) == [
        "conservation: lines is 5, the manifest says 6",
        "logs/harness_access.log: its hash in sources and manifest differ",
    ]


@pytest.fixture
def sourced(tmp_path: Path) -> tuple[Case, Path]:
    """Give a case that knows where its first source was read from."""
    log = tmp_path / "harness_access.log"
    log.write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    source = {
        "source_id": 1, "path": "logs/harness_access.log", "sha256": empty, "bytes": 0,
        "lines": 0, "events": 0, "rejects": 0, "blank_lines": 0, "blank_bytes": 0,
    }  # fmt: skip
    whole = [{column.name: source.get(column.name) for column in schema.SOURCES}]
    with CaseWriter(tmp_path / "case") as writer:
        writer.write(
            "sources", pa.Table.from_pylist(whole, schema=schema.arrow(schema.SOURCES))
        )
        return writer.finish({}, files={1: log}), log


def test_inputs_are_hashed_again(sourced: tuple[Case, Path]) -> None:
    """Unchanged, changed, gone."""
    case, log = sourced
    assert verify.differences(open_case(case.path), sources=True) == []
    log.write_bytes(b"x")
    assert verify.differences(case, sources=True) == [
        "source logs/harness_access.log has changed since it was analyzed"
    ]
    log.unlink()
    assert verify.differences(case, sources=True) == [
        "source logs/harness_access.log cannot be read: No such file or directory"
    ]
