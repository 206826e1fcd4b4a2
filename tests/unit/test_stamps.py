"""Stamps: zones, resolution, and years that nobody wrote."""

from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from faultlayer import find, parse, stamps
from faultlayer.stamps import Year
from faultlayer.timeline import Timeline

HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("text", "format_", "ts", "precision", "zoned"),
    [
        (
            "30/Nov/2026:13:26:44 +0800",
            "%d/%b/%Y:%H:%M:%S %z",
            "2026-11-30T05:26:44",
            10**6,
            True,
        ),
        (
            "2026-11-30T05:26:38.269Z",
            "%Y-%m-%dT%H:%M:%S%.f%#z",
            "2026-11-30T05:26:38.269",
            1000,
            True,
        ),
        (
            "2026-11-30T05:26:38Z",
            "%Y-%m-%dT%H:%M:%S%.f%#z",
            "2026-11-30T05:26:38",
            10**6,
            True,
        ),
        (
            "2026-11-30 05:28:05,344",
            "%Y-%m-%d %H:%M:%S,%3f",
            "2026-11-30T05:28:05.344",
            1000,
            False,
        ),
        ("1796019821.581", "epoch_s", "2026-11-30T06:23:41.581", 1000, True),
        ("1796019821581", "epoch_ms", "2026-11-30T06:23:41.581", 1000, True),
        ("316.505308", "uptime_s", "1970-01-01T00:05:16.505308", 1, False),
    ],
)
def test_a_stamp_tells_zone_and_resolution(
    text: str,
    format_: str,
    ts: str,
    precision: int,
    zoned: bool,
) -> None:
    """UTC where there is a zone, the naive reading where there is none."""
    row = stamps.read(pl.Series([text]), [format_]).row(0, named=True)
    assert row["ts"] == datetime.fromisoformat(ts)
    assert (row["precision"], row["zoned"]) == (precision, zoned)
    assert not row["yearless"]


def test_the_first_spelling_that_fits_counts() -> None:
    """Rows of several spellings are read one by one; nonsense is null."""
    text = pl.Series(["2026-11-30T05:26:38Z", "1796019821", "soon"])
    found = stamps.read(text, ["%Y-%m-%dT%H:%M:%S%.f%#z", "epoch_s"])
    assert found.get_column("ts").null_count() == 1


def test_a_time_without_a_date_is_no_stamp() -> None:
    """LiteLLM's 14:22:37 may be of any day."""
    assert stamps.read(pl.Series(["14:22:37"]), ["%H:%M:%S"]).item(0, "ts") is None


def _years(stamps_: list[str], state: Year) -> list[str]:
    found = stamps.read(pl.Series(stamps_), ["%m-%d %H:%M:%S"])
    dated = stamps.with_year(
        found.get_column("ts"), found.get_column("yearless"), state
    )
    return [str(one.date()) for one in dated]


def test_the_year_turns_at_a_jump_and_is_carried_over_blocks() -> None:
    """A process that is late writes one more line of the old year."""
    state = Year(2025)
    assert _years(["12-31 23:59:59", "01-01 00:00:01"], state) == [
        "2025-12-31",
        "2026-01-01",
    ]
    assert _years(["12-31 23:59:59", "01-01 00:00:02"], state) == [
        "2025-12-31",
        "2026-01-01",
    ]


def test_the_29th_of_february_is_read_before_the_year_is_known() -> None:
    """In a leap year it stays; elsewhere it is the day before."""
    assert _years(["02-29 12:00:00"], Year(2028)) == ["2028-02-29"]
    assert _years(["02-29 12:00:00"], Year(2026)) == ["2026-02-28"]


def test_the_zone_is_the_commonest_quarter() -> None:
    """One line that was shipped late does not move it."""
    naive = pl.Series(
        [datetime.fromisoformat(f"2026-11-30T13:00:0{n}") for n in range(4)]
    )
    outer = naive.dt.offset_by("-8h").dt.offset_by("2s")
    late = pl.concat([outer.head(3), outer.tail(1).dt.offset_by("40m")])
    assert stamps.zone_us(naive, late) == -8 * 3600 * 10**6


def test_the_time_between_two_stamps() -> None:
    """Zones count, a stamp that cannot be read gives nothing."""
    begin = pl.Series(["2026-11-30T05:26:38.473Z", "2026-11-30T05:26:38.5+08:00", "-"])
    end = pl.Series(
        ["2026-11-30T05:26:40.186641Z", "2026-11-29T21:26:39Z", "2026-11-30T05:26:40Z"]
    )
    assert stamps.span_ms(begin, end).to_list() == [1713.641, 500.0, None]


def test_summer_time_ends_within_a_container_s_log() -> None:
    """Naive stamps of the hour that comes twice are told apart by what stamps each line.

    What a shipper read an hour late is no other zone.
    """
    before = datetime.fromisoformat("2026-10-25T00:59:58")
    after = before + timedelta(hours=1)
    late = timedelta(milliseconds=200)
    rows = pl.DataFrame(
        {
            "stream": "",
            "outer": [before + late, after + late, after + late],
            "outer_us": [1, 1, 3_000_000],
            "outer_zoned": True,
            "ts": before + timedelta(hours=2),
            "precision": 1_000,
            "zoned": False,
            "yearless": False,
        }
    )
    found = Timeline(2026, {"": -2 * HOUR}).add(rows, last=True)
    assert found.get_column("ts_raw").to_list() == [before, after, before]


def test_a_line_inside_tells_the_year_that_syslog_lacks(tmp_path: Path) -> None:
    """An engine's stamps without a year, under syslog's without one, beside nginx's with one."""
    head = "Nov 30 14:0{}:00 llm01 {}: {}"
    access = (
        '10.0.3.7 - - [30/Nov/2026:14:0{}:00 +0900] "POST /v1/completions HTTP/1.1" 200 9'
        ' "-" "curl/8" rt=1.1 uct="0.001" uht="1.1" urt="1.1" req_id=r-{}-abc quota_used=-'
    )
    engine = "(APIServer pid=1) INFO 11-30 14:0{}:00 [core.py:9] r-{}"
    lines = []
    for minute in range(6):
        lines += [
            head.format(minute, "vllm[7]", engine.format(minute, minute)),
            head.format(minute, "nginx", access.format(minute, minute)),
        ]
    (tmp_path / "messages").write_text("\n".join(lines) + "\n")
    source = find.find([str(tmp_path / "messages")]).sources[0]
    found = parse.sniff(source, parse.load_definitions())
    assert found.first_ts is not None
    assert (found.first_ts.year, found.dated) == (2026, True)
