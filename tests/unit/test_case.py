"""A case is whole or absent, opens with clear words, and its views are right."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from faultlayer import database, schema
from faultlayer.case import Case, CaseWriter, open_case
from faultlayer.errors import CaseError

Build = Callable[..., Case]
START = datetime(2026, 11, 30, 14, 20)  # noqa: DTZ001 - cases hold UTC without a zone


def rows(case: Case, sql: str, *, sandbox: bool = False) -> list[tuple[Any, ...]]:
    """Run a query over a case."""
    con = database.connect()
    database.attach_views(con, case.path, sandbox=sandbox)
    return con.execute(sql).fetchall()


def entries(folder: Path) -> list[str]:
    """List a folder with its hidden files."""
    return sorted(path.name for path in folder.iterdir())


def test_a_finished_case_opens(build_case: Build, tmp_path: Path) -> None:
    """What finish gives back is what open_case reads."""
    built = build_case()
    assert open_case(tmp_path / "case").manifest == built.manifest
    assert entries(tmp_path) == ["case"]


def test_the_books_balance(build_case: Build) -> None:
    """The manifest holds the sums, and no source is off."""
    assert build_case().manifest["conservation"] == {
        "bytes": 401,
        "lines": 5,
        "event_records": 4,
        "continuation_lines": 0,
        "reject_records": 0,
        "reject_lines": 0,
        "blank_lines": 1,
        "off": [],
    }


def test_a_lost_record_is_named(build_case: Build, tmp_path: Path) -> None:
    """A source whose bytes are not all booked stands in the manifest."""
    case = build_case()
    sources = rows(case, "SELECT * FROM sources ORDER BY source_id")
    names = [column.name for column in schema.SOURCES]
    short = [dict(zip(names, row, strict=True)) for row in sources]
    short[1]["bytes"] += 7
    off = build_case(tmp_path / "off", sources=short).manifest["conservation"]["off"]
    assert [(item["path"], item["bytes"], item["booked_bytes"]) for item in off] == [
        ("logs/engine.log", 207, 200)
    ]


@pytest.mark.parametrize("sandbox", [False, True])
def test_events_are_in_corrected_time(build_case: Build, *, sandbox: bool) -> None:
    """The view moves each source by its clock and widens the error by its bounds."""
    sql = "SELECT ts, ts_raw, ts_error_us FROM events ORDER BY ts, event_id"
    assert rows(build_case(), sql, sandbox=sandbox) == [
        (START + timedelta(seconds=3.5), START + timedelta(seconds=2), 5000),
        (START + timedelta(seconds=5.5), START + timedelta(seconds=5.5), 1000),
        (START + timedelta(seconds=5.5), START + timedelta(seconds=4), 5000),
        (START + timedelta(seconds=6), START + timedelta(seconds=6), 1000),
    ]


def clock(**own: Any) -> dict[str, Any]:
    """Give a segment of the engine's clock."""
    return {
        "clock_id": "clock-2",
        "segment": 0,
        "anchor_ts": START,
        "offset_us": 0,
        "drift_ppm": 0.0,
        "lo_us": -1000,
        "hi_us": 1000,
        "status": "tied",
        **own,
    }


def engine_times(case: Case) -> list[tuple[Any, ...]]:
    """Give time and error of the engine's two records, read at +2 s and +4 s."""
    return rows(
        case,
        "SELECT ts, ts_error_us FROM events WHERE source_id = 2 ORDER BY event_id",
    )


def test_drift_is_taken_out(build_case: Build) -> None:
    """A clock that runs 1 % fast is slowed down around its anchor."""
    case = build_case(clocks=[clock(drift_ppm=10_000.0)])
    assert engine_times(case) == [
        (START + timedelta(microseconds=round(2e6 / 1.01)), 2000),
        (START + timedelta(microseconds=round(4e6 / 1.01)), 2000),
    ]


def test_each_segment_holds_in_its_own_time(build_case: Build) -> None:
    """A clock set forward by 1 s at +2.5 s: readings before and after differ."""
    step = START + timedelta(seconds=2.5)
    case = build_case(
        clocks=[
            clock(valid_to=step),
            clock(segment=1, valid_from=step, offset_us=10**6, lo_us=0, hi_us=10**6),
        ]
    )
    assert engine_times(case) == [
        (START + timedelta(seconds=2), 2000),
        (START + timedelta(seconds=3), 1_001_000),
    ]


def test_segments_never_double_a_record(build_case: Build) -> None:
    """A clock set back shows some readings twice; each record stays one row."""
    step = START + timedelta(seconds=3.5)
    case = build_case(
        clocks=[
            clock(valid_to=step),
            clock(segment=1, valid_from=step, offset_us=-3_000_000),
        ]
    )
    assert len(engine_times(case)) == 2


def test_lines_tell_where_a_clock_was_set_back(build_case: Build) -> None:
    """Both records were read after the step's reading, but before its line, or not."""
    step = START + timedelta(seconds=4.5)
    clocks = [
        clock(valid_to=step),
        clock(segment=1, valid_from=step, offset_us=-3_000_000),
    ]
    assert [ts for ts, _ in engine_times(build_case(clocks=clocks))] == [
        START + timedelta(seconds=5),
        START + timedelta(seconds=7),
    ]
    turns = [{"source_id": 2, "segment": 1, "line": 2}]
    assert [ts for ts, _ in engine_times(build_case(clocks=clocks, turns=turns))] == [
        START + timedelta(seconds=2),
        START + timedelta(seconds=7),
    ]


@pytest.mark.parametrize("clocks", [[], [clock(status="untied", offset_us=7)]])
def test_an_untied_clock_stays_as_logged(
    build_case: Build, clocks: list[dict[str, Any]]
) -> None:
    """Without a tie the time is the logged one and the error is unknown."""
    assert engine_times(build_case(clocks=clocks)) == [
        (START + timedelta(seconds=2), None),
        (START + timedelta(seconds=4), None),
    ]


def test_ids_resolve_and_keep_their_spelling(build_case: Build) -> None:
    """The view gives the canonical id and the spelling of the log."""
    sql = "SELECT request_id, raw_request_id FROM events WHERE event_id = 20000000001"
    [(resolved, raw)] = rows(build_case(), sql)
    assert raw == f"{resolved}-0a1b2c3d"


def test_an_alias_with_two_meanings_is_named(build_case: Build) -> None:
    """It would double records, so the manifest says so."""
    twice = [{"alias": "a", "request_id": name, "reason": ""} for name in "bc"]
    off = build_case(aliases=twice).manifest["conservation"]["off"]
    assert off == [{"problem": "alias a has 2 meanings"}]


def test_columns_are_the_contract_and_documented(build_case: Build) -> None:
    """Views have the schema's columns in order, each with its comment."""
    case = build_case()
    con = duckdb.connect(str(case.path / "case.duckdb"), read_only=True)
    for name, columns in database.VIEWS.items():
        found = con.execute(
            "SELECT column_name, comment, data_type FROM duckdb_columns()"
            " WHERE table_name = ? ORDER BY column_index",
            [name],
        ).fetchall()
        assert found == [
            (column.name, column.doc, database.sql_type(column.type))
            for column in columns
        ]


def test_the_catalogue_reads_from_the_case_folder(build_case: Build) -> None:
    """`case.duckdb` opens read-only in its folder, moved or not, with all views."""
    case = build_case()
    moved = case.path.rename(case.path.with_name("moved, [with] 'odd' name"))
    con = database.connect()
    with contextlib.chdir(moved):
        con.execute("ATTACH 'case.duckdb' AS c (READ_ONLY)")
        con.execute("USE c")
        for name in database.VIEWS:
            con.execute(f"SELECT * FROM {name}").fetchall()
        assert con.execute("SELECT count(ts) FROM events").fetchall() == [(4,)]
    assert rows(Case(moved, {}), "SELECT count(*) FROM events") == [(4,)]


def test_a_case_under_construction_can_be_read(tmp_path: Path) -> None:
    """Tables that are not written yet are empty, not missing."""
    with CaseWriter(tmp_path / "case") as writer:
        con = database.connect(temp_dir=writer.spill)
        database.attach_views(con, writer.path)
        for name in database.VIEWS:
            assert con.execute(f"SELECT * FROM {name}").fetchall() == []
    assert entries(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError("bug"), KeyboardInterrupt()])
def test_an_interrupted_run_leaves_the_old_case(
    build_case: Build, tmp_path: Path, error: BaseException
) -> None:
    """Whatever ends the run, the old case is as it was and nothing else is left."""
    old = build_case()

    def run() -> None:
        with CaseWriter(tmp_path / "case") as writer:
            writer.events_path(1).write_bytes(b"half")
            raise error

    with pytest.raises(type(error)):
        run()
    assert open_case(tmp_path / "case").manifest == old.manifest
    assert entries(tmp_path) == ["case"]


def test_a_new_case_replaces_the_old_one(build_case: Build, tmp_path: Path) -> None:
    """The old tables are gone; what the user put beside them stays."""
    build_case()
    (tmp_path / "case" / "notes.md").write_text("mine")
    build_case(verdicts=[])
    case = open_case(tmp_path / "case")
    assert rows(case, "SELECT count(*) FROM verdicts") == [(0,)]
    assert (case.path / "notes.md").read_text() == "mine"
    assert entries(tmp_path) == ["case"]


def test_what_is_no_case_is_never_touched(tmp_path: Path) -> None:
    """A folder of something else, or a file, is refused and left alone."""
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "case.json").write_text('{"kind": "something else"}')
    file = tmp_path / "file"
    file.write_text("x")
    for target in (folder, file):
        with pytest.raises(CaseError, match="exists and is no case"):
            CaseWriter(target).__enter__()
    assert entries(tmp_path) == ["file", "photos"]


def test_leftovers_of_killed_runs_go(build_case: Build, tmp_path: Path) -> None:
    """A partial nobody holds is removed, one that is being written stays."""
    for name in (".case.partial-1", ".case.partial-2"):
        (tmp_path / name).mkdir()
    held = (tmp_path / ".case.partial-2" / ".lock").open("ab")
    fcntl.flock(held, fcntl.LOCK_EX)
    build_case()
    held.close()
    assert entries(tmp_path) == [".case.partial-2", "case"]


def test_a_case_lost_between_two_renames_comes_back(
    build_case: Build, tmp_path: Path
) -> None:
    """Killed after the old case went aside: the next run brings it back first."""
    old = build_case()
    (tmp_path / "case").rename(tmp_path / ".case.old-999999999")
    with pytest.raises(ValueError, match="bug"), CaseWriter(tmp_path / "case"):
        raise ValueError("bug")
    assert open_case(tmp_path / "case").manifest == old.manifest


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        RuntimeError("IO Error: could not write: No space left on device"),
    ],
)
def test_a_full_disk_has_a_clear_message(tmp_path: Path, error: Exception) -> None:
    """Whichever library notices it, the user reads that the disk is full."""
    with (
        pytest.raises(CaseError, match="the disk is full; no case was written"),
        CaseWriter(tmp_path / "case"),
    ):
        raise error
    assert entries(tmp_path) == []


@pytest.mark.parametrize("sandbox", [False, True])
def test_a_lost_table_is_not_an_empty_one(build_case: Build, *, sandbox: bool) -> None:
    """Without its verdicts a case would say that nothing failed."""
    case = build_case()
    (case.path / "verdicts.parquet").unlink()
    con = database.connect()
    with con, pytest.raises(CaseError, match=r"damaged: verdicts\.parquet is missing"):
        database.attach_views(con, case.path, sandbox=sandbox)


def test_opening_says_what_is_wrong(build_case: Build, tmp_path: Path) -> None:
    """Missing, a file, foreign and from the future each have their words."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "foreign").mkdir()
    newer = build_case(tmp_path / "newer").path / "case.json"
    newer.write_text(
        newer.read_text().replace(
            f'"schema_version": {schema.VERSION}', '"schema_version": 99'
        )
    )
    said = {}
    for name in ("missing", "file", "foreign", "newer"):
        with pytest.raises(CaseError) as caught:
            open_case(tmp_path / name)
        said[name] = caught.value.message.removeprefix(str(tmp_path / name))
    assert said == {
        "missing": f"no case at {tmp_path / 'missing'}",
        "file": " is no case: a case is a folder",
        "foreign": " is no case: it has no case.json of ours",
        "newer": f" has schema version 99, this faultlayer reads {schema.VERSION}",
    }
