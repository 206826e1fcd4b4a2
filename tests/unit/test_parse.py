"""A source becomes events: records, stamps, wrappers, accounts, the file itself."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from faultlayer import find, parse, schema
from faultlayer.errors import UsageError


@cache
def definitions() -> parse.Definitions:
    """Give the built-in definitions."""
    return parse.load_definitions()


def run(
    folder: Path, text: str, name: str = "any.log", year: int = 2026
) -> tuple[pl.DataFrame, pl.DataFrame, parse.SourceResult]:
    """Parse text from a file; give events, rejects and the row of `sources`."""
    (folder / name).write_text(text, "utf-8")
    source = find.find([str(folder / name)]).sources[0]
    detection = parse.sniff(source, definitions())
    events, rejects = folder / "events.parquet", folder / "rejects.parquet"
    options = parse.ParseOptions(year)
    result = parse.parse_source(
        source, detection, definitions(), options, events, rejects
    )
    return pl.read_parquet(events), pl.read_parquet(rejects), result


VLLM = """\
(APIServer pid=1) INFO 11-20 02:00:13 [async_llm.py:344] Added request chatcmpl-r-1.
(APIServer pid=1) INFO 11-20 02:00:13 [async_llm.py:344] Added request chatcmpl-r-2.
(EngineCore_DP0 pid=271) ERROR 11-20 02:00:14 [core.py:842] EngineCore encountered a fatal error.
(EngineCore_DP0 pid=271) ERROR 11-20 02:00:14 [core.py:842] Traceback (most recent call last):
(APIServer pid=1) ERROR 11-20 02:00:14 [async_llm.py:525] AsyncLLM output_handler failed.
(EngineCore_DP0 pid=271) ERROR 11-20 02:00:14 [core.py:842]   File "core.py", line 833, in x
(APIServer pid=1) ERROR 11-20 02:00:14 [async_llm.py:525] Traceback (most recent call last):
(EngineCore_DP0 pid=271) ERROR 11-20 02:00:14 [core.py:842] RuntimeError: CUDA error: x
(EngineCore_DP0 pid=271) ERROR 11-20 02:00:14 [core.py:842] CUDA kernel errors might be late.
(APIServer pid=1) ERROR 11-20 02:00:14 [async_llm.py:525] EngineDeadError: dead.
(APIServer pid=1) INFO:     10.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 500 Error
"""


def test_processes_that_write_in_turns_are_told_apart(tmp_path: Path) -> None:
    """Two tracebacks line by line are two records; two requests of a second are two."""
    events, rejects, result = run(tmp_path, VLLM)
    assert events.get_column("line").to_list() == [1, 2, 3, 5, 11]
    assert events.get_column("lines").to_list() == [1, 1, 5, 3, 1]
    assert events.get_column("request_id").to_list()[:2] == ["r-1", "r-2"]
    assert len(rejects) == 0
    assert (result.format, result.layer, result.zoned) == ("vllm", "model", False)


@pytest.mark.parametrize(("many", "beside"), [(1, 0), (1, 1), (1, 99), (70, 700)])
def test_what_a_message_tells_is_kept_whatever_stands_beside_it(
    tmp_path: Path, many: int, beside: int
) -> None:
    """Also where the format names the other records, and has no column for it."""
    access = 'INFO:     10.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    told = "INFO:root: Successfully loaded model deepseek-v2-7b\n"
    events, _, _ = run(tmp_path, access * beside + told * many + VLLM)
    found = events.drop_nulls("model").select("line", "kind", "model").rows()
    lines = range(beside + 1, beside + many + 1)
    assert found == [(line, "engine_ready", "deepseek-v2-7b") for line in lines]


def test_a_record_without_a_stamp_borrows_one(tmp_path: Path) -> None:
    """That of the record before; its precision is the distance to the next one."""
    text = (
        "[PLUGIN] Connected to milvus\n"
        "[INFO] [2026-11-20 02:00:00,000] harness.x: a\n"
        "[PLUGIN] Connected to milvus\n"
        "[INFO] [2026-11-20 02:00:02,500] harness.x: b\n"
        "[PLUGIN] Connected to milvus\n"
    )
    events, _, result = run(tmp_path, text)
    seconds = events.get_column("ts_raw").dt.second().to_list()
    assert seconds == [0, 0, 0, 2, 2]
    assert events.get_column("borrowed").to_list() == [True, False, True, False, True]
    precisions = events.get_column("ts_precision_us").to_list()
    assert precisions == [None, 1000, 2_500_000, 1000, None]
    assert result.precision_us == 1000


def test_a_new_year_passes_within_a_log(tmp_path: Path) -> None:
    """Stamps have no year; it turns with them."""
    text = "".join(
        f"INFO {stamp} engine.py:1] Added request r-{stamp[-2:]}.\n"
        for stamp in ("12-31 23:59:58", "12-31 23:59:59", "01-01 00:00:00")
    )
    events, _, _ = run(tmp_path, text, year=2025)
    years = events.get_column("ts_raw").dt.year().to_list()
    assert years == [2025, 2025, 2026]


def test_a_stream_whose_first_stamp_has_no_year_has_that_of_its_others(
    tmp_path: Path,
) -> None:
    """Several logs in one file: the year stands with any of them."""
    file = tmp_path / "stack.log"
    file.write_text(
        f"{VLLM}[INFO] [2025-11-20 02:00:14,004] harness.server: request accepted"
        " request_id=r-3 user=u-204 model=m stream=false\n"
    )
    detection = parse.sniff(find.find([str(file)]).sources[0], definitions())
    assert detection.dated
    assert str(detection.first_ts) == "2025-11-20 02:00:14.004000"


def test_a_stream_in_another_zone_is_told_by_the_streams_beside_it(
    tmp_path: Path,
) -> None:
    """What compose puts in one file has no stamps of its own; nginx writes its zone."""
    text = "".join(
        f'nginx-1    | 10.0.0.7 - - [20/Nov/2026:17:00:0{second} +0000] "GET / HTTP/1.1"'
        ' 200 8 "-" "curl/8"\n'
        f"gateway-1  | [INFO] [2026-11-21 02:00:0{second},500] harness.server: request"
        f" accepted request_id=r-{second} user=u-204 model=m stream=false\n"
        for second in range(1, 5)
    )
    events, _, _ = run(tmp_path, text)
    gateway = events.filter(pl.col("component") == "harness").get_column("ts_raw")
    assert [str(ts) for ts in gateway.head(1)] == ["2026-11-20 17:00:01.500000"]
    # Too far from any zone: another clock, or no order of time.
    events, _, _ = run(tmp_path, text.replace("02:00", "02:07"), "other.log")
    gateway = events.filter(pl.col("component") == "harness").get_column("ts_raw")
    assert [str(ts) for ts in gateway.head(1)] == ["2026-11-21 02:07:01.500000"]


def test_the_zone_of_a_stream_is_told_by_the_few_lines_of_it_that_have_stamps(
    tmp_path: Path,
) -> None:
    """Most of what an engine writes to stderr has none; what has one is as local."""
    text = "".join(
        f"2026-11-30T14:47:2{second}.159315887+08:00 stderr F {line}\n"
        for second, line in enumerate(
            (
                "INFO:     Started server process [1]",
                "INFO:     Waiting for application startup.",
                "INFO:     Application startup complete.",
                "W1130 14:47:23.065703 1142 torch/utils/cpp_extension.py:2425] no arch.",
            )
        )
    )
    events, rejects, _ = run(tmp_path, text)
    assert len(rejects) == 0
    assert [str(ts) for ts in events.get_column("ts_raw")][2:] == [
        "2026-11-30 06:47:22.159315",
        "2026-11-30 06:47:23.065703",
    ]


def test_docker_parts_are_joined_and_streams_kept_apart(tmp_path: Path) -> None:
    """A line that Docker cut is one record; the other stream writes in between."""

    def line(log: str, stream: str, second: str) -> str:
        return f'{{"log":"{log}","stream":"{stream}","time":"2026-11-30T06:00:{second}Z"}}\n'

    text = (
        line(r"[INFO] [2026-11-30 14:00:01,000] harness.x: a\n", "stdout", "01.1")
        + line(
            "[INFO] [2026-11-30 14:00:02,000] harness.x: request acc", "stdout", "02.1"
        )
        + line(r"INFO:     Started server process [1]\n", "stderr", "02.2")
        + line(r"epted request_id=r-1\n", "stdout", "02.3")
    )
    events, rejects, result = run(tmp_path, text, "1-json.log")
    assert len(rejects) == 0
    rows = events.select("line", "lines", "message", "request_id", "ts_raw").rows()
    assert [row[:4] for row in rows] == [
        (1, 1, "a", None),
        (2, 2, "request accepted request_id=r-1", "r-1"),
        (3, 1, "Started server process [1]", None),
    ]
    assert [row[4].isoformat() for row in rows] == [
        "2026-11-30T06:00:01",  # the wrapper tells the zone: UTC+8
        "2026-11-30T06:00:02",
        "2026-11-30T06:00:02.200000",
    ]
    assert (result.wrapper, result.zoned) == ("docker_json", True)


def test_a_stamp_of_a_second_takes_the_finer_one_of_the_wrapper(tmp_path: Path) -> None:
    """Not when the line was written long after its stamp, or where no fraction is left."""
    text = (
        "2026-11-20T02:00:13.250000000Z stdout F INFO 11-20 02:00:13 [a.py:1] Added request a1.\n"
        "2026-11-20T02:00:19.000000000Z stdout F INFO 11-20 02:00:14 [a.py:1] Added request a2.\n"
        "2026-11-20T02:00:15.000000203Z stdout F INFO 11-20 02:00:15 [a.py:1] Added request a3.\n"
        "2026-11-20T02:00:16.000000203Z stdout F INFO:     Started server process [1]\n"
    )
    events, _, _ = run(tmp_path, text, "0.log")
    rows = events.select("ts_raw", "ts_precision_us").rows()
    assert rows[0][0].isoformat() == "2026-11-20T02:00:13.250000"
    assert [row[1] for row in rows] == [1, 1_000_000, 1_000_000, 1_000_000]
    assert rows[1][0].isoformat() == "2026-11-20T02:00:14"


def test_filebeat_time_is_when_it_read(tmp_path: Path) -> None:
    """The line's own stamp counts; files of one shipper are streams of their own."""
    text = (
        '{"@timestamp":"2026-11-16T11:00:07.032Z","message":"[INFO] [2026-11-16 11:00:01,004]'
        ' harness.x: a","log":{"offset":1,"file":{"path":"/h.log"}},"host":{"name":"gw-1"}}\n'
        '{"@timestamp":"2026-11-16T11:00:07.033Z","message":"INFO 11-16 11:00:02 [a.py:1] Added'
        ' request r-1.","log":{"offset":1,"file":{"path":"/m.log"}},"host":{"name":"gw-1"}}\n'
    )
    events, _, result = run(tmp_path, text, "x.ndjson")
    assert events.get_column("ts_raw").dt.second().to_list() == [1, 2]
    assert events.get_column("layer").to_list() == ["harness", "model"]
    assert result.host == "gw-1"


def test_a_format_that_begins_later_is_found(tmp_path: Path) -> None:
    """The log_format was changed long after the first lines."""
    combined = (
        '10.0.0.1 - - [30/Nov/2026:05:26:44 +0000] "GET / HTTP/1.1" 200 8 "-" "curl"'
    )
    full = f'{combined} rt=0.1 uct="-" uht="-" urt="-" req_id=r-late quota_used=-'
    events, rejects, result = run(tmp_path, f"{combined}\n" * 4000 + f"{full}\n")
    assert len(rejects) == 0
    assert events.item(4000, "request_id") == "r-late"
    assert result.format == "nginx_combined, nginx_harness_full"


def test_nul_bytes_before_a_line_do_not_hide_it(tmp_path: Path) -> None:
    """Copytruncate leaves them; a line of nothing else is a reject."""
    line = "[INFO] [2026-11-20 02:00:00,000] harness.x: a\n"
    events, rejects, _ = run(tmp_path, "\x00" * 50 + line + "\x00" * 9 + "\n" + line)
    assert events.get_column("byte_length").to_list() == [50 + len(line), len(line)]
    assert rejects.get_column("reason").to_list() == ["NUL bytes"]


def test_settings_and_comments_are_not_the_same(tmp_path: Path) -> None:
    """A limit that is commented out is no limit."""
    text = "server:\n  max_concurrent_requests: 4\n  # max_concurrent_requests: 16\n"
    events, _, _ = run(tmp_path, text, "harness.yaml")
    kinds = events.get_column("kind").to_list()
    assert kinds == ["config_setting", "config_setting", "config_comment"]
    assert events.item(1, "attrs") == '{"key":"max_concurrent_requests","value":"4"}'


def test_the_file_has_the_schema_of_the_table(tmp_path: Path) -> None:
    """Types are those of `schema`, however the rows were held; ids have a bloom filter."""
    events, _, _ = run(tmp_path, VLLM)
    found = pq.read_schema(tmp_path / "events.parquet")
    assert found.names == [column.name for column in schema.EVENTS_RAW]
    assert {one.name: one.type for one in found} == {
        column.name: column.type for column in schema.EVENTS_RAW
    }
    assert events.item(0, "event_id") == 10**10 + 1
    chunk = pq.read_metadata(tmp_path / "events.parquet").row_group(0)
    ids = found.names.index("request_id")
    assert not chunk.column(ids).has_dictionary_page
    assert chunk.column(found.names.index("line")).is_stats_set


def test_a_long_message_is_cut_after_it_was_read(tmp_path: Path) -> None:
    """What it means is told from all of it, head and tail of it are kept."""
    tail = "  x\n" * 2000 + "torch.OutOfMemoryError: CUDA out of memory.\n"
    text = (
        "[ERROR] [2026-11-20 02:00:00,000] harness.x: Request failed with status 500\n"
        "Traceback (most recent call last):\n" + tail
    )
    events, _, _ = run(tmp_path, text)
    assert events.item(0, "lines") == 2003
    head, mark, end = events.item(0, "message").rpartition("characters left out ...]\n")
    assert mark
    assert head.startswith("Request failed with status 500\nTraceback")
    assert len(end) == 1024
    assert end.endswith("\ntorch.OutOfMemoryError: CUDA out of memory.")
    assert events.item(0, "kind") == "cuda_oom"


def test_an_override_counts_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    """The user knows better than the first lines."""
    (tmp_path / "x.log").write_text("2026-11-20: 4\n", "utf-8")
    source = find.find([str(tmp_path / "x.log")]).sources[0]
    told = parse.sniff(source, definitions(), [("*.log", "yaml_settings")])
    assert told.formats == {"": ("yaml_settings",)}
    assert told.reason == "yaml_settings: as told"
    with pytest.raises(UsageError, match="no format 'yml'"):
        parse.sniff(source, definitions(), [("*.log", "yml")])


def test_an_empty_file_is_no_problem(tmp_path: Path) -> None:
    """It has no lines, no format and no stamps."""
    events, rejects, result = run(tmp_path, "")
    assert (len(events), len(rejects), result.lines, result.format) == (0, 0, 0, None)


def test_progress_is_told_block_by_block_and_may_end_the_parse(tmp_path: Path) -> None:
    """All that was told is the size of the file; what it raises comes out."""
    file = tmp_path / "any.log"
    file.write_text(VLLM * 400, "utf-8")
    source = find.find([str(file)]).sources[0]
    detection = parse.sniff(source, definitions())
    told: list[int] = []

    def stop(size: int) -> None:
        told.append(size)
        raise KeyboardInterrupt

    def go(tell: Callable[[int], None]) -> parse.SourceResult:
        return parse.parse_source(
            source,
            detection,
            definitions(),
            parse.ParseOptions(2026),
            tmp_path / "events.parquet",
            tmp_path / "rejects.parquet",
            block_bytes=1 << 16,
            tell=tell,
        )

    with pytest.raises(KeyboardInterrupt):
        go(stop)
    assert len(told) == 1
    told.clear()
    go(told.append)
    assert sum(told) == file.stat().st_size
    assert len(told) > 5
