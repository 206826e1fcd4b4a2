"""Stamps that count from a start, and months without a leading zero."""

from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from faultlayer import parse, stamps
from faultlayer.find import Source


@pytest.mark.parametrize(
    ("text", "ts"),
    [
        ("0.41.568.358", "1970-01-01T00:00:41.568358"),
        ("135.02.003.004", "1970-01-01T02:15:02.003004"),
        ("10.0.41.56", None),
        ("0.41.568", None),
    ],
)
def test_minutes_seconds_milliseconds_microseconds(text: str, ts: str | None) -> None:
    """What llama.cpp writes looks like an address, and an address is no stamp."""
    found = stamps.read(pl.Series([text]), ["uptime_m_s_ms_us"])
    assert found.item(0, "ts") == (datetime.fromisoformat(ts) if ts else None)
    assert (found.item(0, "precision"), found.item(0, "zoned")) == (1, False)


@pytest.mark.parametrize(
    ("text", "month", "day"), [("219", 2, 19), ("1103", 11, 3), ("409", 4, 9)]
)
def test_a_month_may_lack_its_zero(text: str, month: int, day: int) -> None:
    """PyTorch writes three digits until September."""
    found = stamps.read(pl.Series([f"{text} 04:05:06.1"]), ["%m%d %H:%M:%S%.f"])
    ts = found.item(0, "ts")
    assert (ts.month, ts.day, found.item(0, "yearless")) == (month, day, True)


def test_a_wrapper_knows_the_time_better_than_a_count(tmp_path: Path) -> None:
    """A count from the start gives way to the runtime's stamp; no zone is made of it."""
    path = tmp_path / "engine.log"
    path.write_text(
        "".join(
            f'{{"log":"{count} I srv  update_slots: all slots are idle\\n",'
            f'"stream":"stderr","time":"2026-11-23T17:{minute}:09.5Z"}}\n'
            for count, minute in (("7.02.000.000", "02"), ("9.02.000.000", "04"))
        )
    )
    known = parse.load_definitions()
    source = Source(1, path.name, None, path, "", path.name, "")
    found = parse.sniff(source, known)
    out = (tmp_path / "events.parquet", tmp_path / "rejects.parquet")
    result = parse.parse_source(source, found, known, parse.ParseOptions(2026), *out)
    assert (result.format, result.zoned) == ("llama_cpp", True)
    assert pl.read_parquet(out[0]).get_column("ts_raw").cast(pl.String).to_list() == [
        "2026-11-23 17:02:09.500000",
        "2026-11-23 17:04:09.500000",
    ]


def test_a_count_from_the_start_tells_no_year(tmp_path: Path) -> None:
    """Syslog has no year, and what the kernel counts since the boot is no date."""
    path = tmp_path / "syslog"
    path.write_text(
        "Jan 24 09:00:01 gpu5 kernel: [812311.113202] eth0: link becomes ready\n"
        "Jan 24 09:01:40 gpu5 systemd[1]: Started Session 44 of user root.\n"
    )
    source = Source(1, path.name, None, path, "", path.name, "")
    found = parse.sniff(source, parse.load_definitions())
    assert (found.wrapper, found.dated) == ("syslog", False)
    assert (found.first_ts.month, found.first_ts.day) == (1, 24)  # type: ignore[union-attr]
