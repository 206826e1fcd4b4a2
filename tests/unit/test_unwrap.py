"""Whatever is around a log, its records come out as if nothing were."""

import json
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from tests.unit import wrapping

from faultlayer import find, parse

HARNESS = """\
[INFO] [2026-11-30 05:26:38,101] harness.server: request accepted request_id=r-1 user=u-1
[ERROR] [2026-11-30 05:26:39,004] harness.server: Request failed with status 500 request_id=r-1
Traceback (most recent call last):
  File "/opt/harness/server.py", line 10, in handle
    raise EngineDeadError("é")
vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.
[INFO] [2026-11-30 05:26:41,250] harness.server: request completed request_id=r-2 status=200
""".splitlines()
NESTS = (
    ("filebeat", "docker", "cri"),
    ("filebeat", "docker", "cri", "syslog"),
    ("elastic", "syslog5424"),
    ("journald", "compose"),
    ("journald", "docker"),
    ("loki", "cri"),
    ("kubectl", "syslog_iso"),
    ("stamped", "cri"),
    ("cloudwatch", "docker"),
    ("fluentbit_stdout", "syslog"),
)


@cache
def definitions() -> parse.Definitions:
    """Give the built-in definitions."""
    return parse.load_definitions()


def run(
    folder: Path, text: str | bytes, block_bytes: int = 1 << 20, year: int = 2026
) -> tuple[pl.DataFrame, pl.DataFrame, parse.SourceResult]:
    """Parse text; give events, rejects and the row of `sources`, all accounted for."""
    data = text.encode() if isinstance(text, str) else text
    (folder / "any.log").write_bytes(data)
    source = find.find([str(folder / "any.log")]).sources[0]
    detection = parse.sniff(source, definitions())
    events, rejects = folder / "events.parquet", folder / "rejects.parquet"
    result = parse.parse_source(
        source,
        detection,
        definitions(),
        parse.ParseOptions(year),
        events,
        rejects,
        block_bytes=block_bytes,
    )
    found, lost = pl.read_parquet(events), pl.read_parquet(rejects)
    for column, whole, blank in (
        ("byte_length", len(data), result.blank_bytes),
        ("lines", result.lines, result.blank_lines),
    ):
        booked = sum(int(one.get_column(column).sum()) for one in (found, lost))
        assert booked + blank == whole, column
    return found, lost, result


def records(events: pl.DataFrame) -> list[tuple[object, ...]]:
    """Give what the program wrote: nothing of that is the wrapper's."""
    names = ("ts_raw", "kind", "severity", "request_id", "message")
    return events.select(names).rows()


@pytest.mark.parametrize("ways", [*((way,) for way in wrapping.WRAPS), *NESTS], ids=str)
def test_wrapped_lines_give_the_records_of_bare_ones(
    tmp_path: Path, ways: tuple[str, ...]
) -> None:
    """Traceback, stamps and ids are those of the program, at any depth."""
    plain, _, _ = run(tmp_path, "\n".join(HARNESS) + "\n")
    events, rejects, result = run(tmp_path, wrapping.wrapped(HARNESS, *ways))
    assert [row[3] for row in records(plain)] == ["r-1", "r-1", "r-2"]
    assert records(events) == records(plain)
    assert len(rejects) == 0
    assert len(str(result.wrapper).split(" > ")) >= len(ways)


@pytest.mark.parametrize("kind", wrapping.DOCUMENTS)
def test_documents_give_the_records_of_bare_lines(tmp_path: Path, kind: str) -> None:
    """A query's answer or a journal's export is as good as the lines in it."""
    plain, _, _ = run(tmp_path, "\n".join(HARNESS) + "\n")
    events, rejects, _ = run(tmp_path, wrapping.DOCUMENTS[kind](HARNESS))
    assert records(events) == records(plain)
    assert len(rejects) == 0


def test_records_of_a_query_keep_their_lines(tmp_path: Path) -> None:
    """What is told backward is turned round; each record still says where it stands."""
    events, _, _ = run(tmp_path, wrapping.DOCUMENTS["newest_first"](HARNESS))
    assert events.select("line", "lines").rows() == [(7, 1), (6, 5), (1, 1)]
    assert events.get_column("event_id").is_sorted()


def test_a_clock_that_was_set_back_does_not_turn_a_log_round(tmp_path: Path) -> None:
    """One step back among many forth."""
    text = wrapping.wrapped(HARNESS * 2, "docker")
    events, _, _ = run(tmp_path, text)
    assert events.get_column("line").to_list() == [1, 2, 7, 8, 9, 14]
    twice = wrapping.wrapped(HARNESS[:1] * 3, "docker")
    events, _, _ = run(tmp_path, twice + twice)
    assert events.get_column("line").to_list() == [1, 2, 3, 4, 5, 6]


def test_what_the_wrapper_tells_is_kept(tmp_path: Path) -> None:
    """Time of writing, pod, container and stream stand beside the program's own."""
    line = "[INFO] [2026-11-30 05:26:38,101] harness.server: a"
    text = wrapping.wrapped([line], "fluentbit")
    events, _, result = run(tmp_path, text)
    row = events.select("ts_raw", "ts_outer", "host", "origin", "output").row(0)
    assert [str(value) for value in row] == [
        "2026-11-30 05:26:38.101000",
        "2026-11-30 05:26:38.150000",
        "gw-0",
        "gw",
        "stderr",
    ]
    assert result.host == "gw-0"


PROGRAMS = """\
Nov 30 05:26:38 gpu-1 systemd[1]: Starting vllm.service - vLLM engine...
Nov 30 05:26:38 gpu-1 vllm[812]: INFO:     Started server process [1]
Nov 30 05:26:39 gpu-1 kernel: [ 4176.010237] Memory cgroup out of memory: Killed process 812 (VLLM) total-vm:1kB
Nov 30 05:26:39 gpu-1 vllm[812]: INFO 11-30 05:26:39 [async_llm.py:344] Added request r-1.
Nov 30 05:26:39 gpu-1 nginx[31]: 2026/11/30 05:26:39 [error] 31#31: *1 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 10.0.0.1
Nov 30 05:26:40 gpu-1 job[55]: Traceback (most recent call last):
Nov 30 05:26:40 gpu-1 cron[77]: (root) CMD (true)
Nov 30 05:26:40 gpu-1 job[55]: KeyError: 'k'
-- Boot 4f1c2a9be5d04c4bb6a0c7a1b2c3d4e5 --
"""


def test_each_program_of_a_host_has_its_own_formats(tmp_path: Path) -> None:
    """The kernel is the kernel, lines without a mark in an engine's are the engine's.

    What no format knows is an event of the host, with the program's name.
    """
    events, rejects, _ = run(tmp_path, PROGRAMS)
    rows = events.select("line", "lines", "component", "origin", "kind").rows()
    assert rows == [
        (1, 1, "host", "systemd", "other"),
        (2, 1, "vllm", "vllm", "other"),
        (3, 1, "kernel", "kernel", "host_oom_kill"),
        (4, 1, "vllm", "vllm", "request_added"),
        (5, 1, "nginx", "nginx", "upstream_timeout"),
        (6, 2, "host", "job", "other"),
        (7, 1, "host", "cron", "other"),
        (9, 1, "host", "job", "other"),
    ]
    assert len(rejects) == 0
    assert set(events.get_column("layer")) == {"host", "model", "harness"}


def test_seconds_since_boot_do_not_date_a_kernel_line(tmp_path: Path) -> None:
    """Syslog's stamp does; the kernel's own is kept as an attribute."""
    events, _, _ = run(tmp_path, PROGRAMS)
    kernel = events.filter(component="kernel").row(0, named=True)
    assert str(kernel["ts_raw"]) == "2026-11-30 05:26:39"
    assert kernel["ts_precision_us"] == 1_000_000
    assert "4176.010237" in kernel["attrs"]


def test_one_zoned_line_tells_the_zone_of_syslog(tmp_path: Path) -> None:
    """Nginx writes its zone; so the kernel's lines and those of naive programs are UTC."""
    access = (
        '10.0.0.1 - - [30/Nov/2026:05:26:39 +0000] "GET / HTTP/1.1" 200 8 "-" "curl"'
    )
    text = (
        f"Nov 30 13:26:39 gpu-1 nginx[31]: {access}\n"
        "Nov 30 13:26:40 gpu-1 kernel: NVRM: Xid (PCI:0000:83:00): 79, GPU has fallen off\n"
        "Nov 30 13:26:41 gpu-1 vllm[8]: INFO 11-30 05:26:41 [a.py:1] Added request r-1.\n"
        "Nov 30 13:26:42 gpu-1 gw[9]: [INFO] [2026-11-30 13:26:42,004] harness.x: b\n"
    )
    events, _, result = run(tmp_path, text)
    stamps = [f"{one:%H:%M:%S.%f}" for one in events.get_column("ts_raw")]
    assert stamps == [
        "05:26:39.000000",
        "05:26:40.000000",
        "05:26:41.000000",
        "05:26:42.004000",
    ]
    assert result.zoned is True


def test_a_new_year_passes_within_syslog(tmp_path: Path) -> None:
    """A program that begins to write after it does not fall back into the old year."""
    text = (
        "Dec 31 23:59:58 gw-1 systemd[1]: a\n"
        "Dec 31 23:59:59 gw-1 gw[1]: [INFO] [2025-12-31 23:59:59,004] harness.x: b\n"
        "Jan  1 00:00:01 gw-1 sshd[2]: c\n"
    )
    events, _, _ = run(tmp_path, text, year=2025)
    assert events.get_column("ts_raw").dt.year().to_list() == [2025, 2025, 2026]


def test_the_id_of_a_record_may_stand_in_its_structured_data(tmp_path: Path) -> None:
    """Not an id of a clock or a note there, and never before one of the line itself."""
    head = "<187>1 2026-11-30T05:26:38.100000+00:00 gw-1 harness 42 REQ"
    text = (
        rf'{head} [req@32473 note="a \"b\" \] id=x" id="r-1"] [INFO] [2026-11-30 05:26:38,100] harness.x: a'
        "\n"
        rf'{head} [meta id="7"] [INFO] [2026-11-30 05:26:38,101] harness.x: a'
        "\n"
        rf'{head} [m request_id="r-3"] [INFO] [2026-11-30 05:26:38,102] harness.x: request accepted request_id=r-4'
        "\n"
        rf"{head} - [ERROR] [2026-11-30 05:26:38,103] harness.x: failed#012Traceback (most recent call last):#012  x#012KeyError: 'k'"
        "\n"
    )
    events, _, _ = run(tmp_path, text)
    assert events.get_column("request_id").to_list() == ["r-1", None, "r-4", None]
    assert events.item(3, "message").split("\n") == [
        "failed",
        "Traceback (most recent call last):",
        "  x",
        "KeyError: 'k'",
    ]


def test_parts_are_joined_within_other_wrappers(tmp_path: Path) -> None:
    """Filebeat around CRI around parts of one line; the other stream writes in between."""
    line = "[INFO] [2026-11-30 05:26:38,101] harness.server: request accepted request_id=r-1"
    stamp = wrapping.iso(0)
    parts = [
        f"{stamp} stdout P {line[:30]}",
        f"{stamp} stderr F INFO:     Started server process [1]",
        f"{stamp} stdout P {line[30:70]}",
        f"{stamp} stdout F {line[70:]}",
    ]
    events, rejects, result = run(tmp_path, wrapping.wrapped(parts, "filebeat"))
    assert result.wrapper == "filebeat > cri"
    rows = events.select("line", "lines", "request_id", "output").rows()
    assert rows == [(1, 3, "r-1", "stdout"), (2, 1, None, "stderr")]
    assert len(rejects) == 0


@pytest.mark.parametrize("block_bytes", [1 << 20, 4000])
def test_a_line_without_end_holds_nothing_back(
    tmp_path: Path, block_bytes: int
) -> None:
    """A prompt that was never ended stays one line, wherever the blocks end.

    What comes more than 1000 lines later is not joined to it.
    """

    def line(log: str, stream: str) -> str:
        wrapped = {"log": log, "stream": stream, "time": wrapping.iso(0)}
        return json.dumps(wrapped) + "\n"

    other = line("[INFO] [2026-11-30 05:26:38,101] harness.x: a\n", "stdout")
    first = line("INFO:     half of", "stderr")
    text = first + other * 1200 + line("INFO:     another line\n", "stderr")
    events, rejects, _ = run(tmp_path, text, block_bytes)
    errs = events.filter(output="stderr")
    assert errs.select("line", "message").rows() == [
        (1, "half of"),
        (1202, "another line"),
    ]
    assert len(events) + len(rejects) == 1202


def test_lines_without_a_stamp_go_on_with_the_one_before(tmp_path: Path) -> None:
    """CloudWatch stamps a message once, however many lines it has."""
    text = (
        "2026-11-30T05:26:38.269Z [ERROR] [2026-11-30 05:26:38,101] harness.x: failed\n"
        "Traceback (most recent call last):\n"
        '  File "x.py", line 1, in y\n'
        "KeyError: 'k'\n"
        "2026-11-30T05:26:39.269Z [INFO] [2026-11-30 05:26:39,101] harness.x: b\n"
    )
    for block_bytes in (1 << 20, 90):
        events, rejects, _ = run(tmp_path, text, block_bytes)
        assert events.select("line", "lines").rows() == [(1, 4), (5, 1)]
        assert len(rejects) == 0


def test_what_a_shipper_read_twice_is_counted_once(tmp_path: Path) -> None:
    """After a restart it sends the same place of the same file again.

    A file that began anew has other lines at that place.
    """
    line = (
        "[INFO] [2026-11-30 05:26:38,{:03}] harness.x: request accepted request_id=r-{}"
    )
    first = [line.format(n, n) for n in range(4)]
    text = wrapping.wrapped(first, "filebeat")
    again = "".join(text.splitlines(keepends=True)[2:])
    anew = wrapping.wrapped([line.format(9, 9)], "filebeat")
    events, rejects, result = run(tmp_path, text + again + anew)
    assert events.get_column("request_id").to_list() == [
        "r-0",
        "r-1",
        "r-2",
        "r-3",
        "r-9",
    ]
    assert rejects.select("line", "reason").rows() == [
        (5, "sent before: the same place of the same file"),
        (6, "sent before: the same place of the same file"),
    ]
    assert result.problems == ["2 lines that the shipper sent twice are counted once"]


def test_a_program_that_stamps_its_lines_is_not_unwrapped(tmp_path: Path) -> None:
    """Its format takes the lines as they are, though a wrapper would fit as well."""
    line = "Nov 30 05:26:39 gpu-1 kernel: NVRM: Xid (PCI:0000:83:00): 79, GPU has fallen off\n"
    _, _, result = run(tmp_path, line * 3)
    assert (result.wrapper, result.format) == (None, "kernel")


def test_a_log_of_tracebacks_is_not_indented(tmp_path: Path) -> None:
    """What most lines begin with is around all of them, or around none."""
    frames = [f'  File "x.py", line {at}, in f' for at in range(30)]
    lines = [*HARNESS[:3], *frames, "KeyError: 1", *HARNESS[-1:]]
    events, _, result = run(tmp_path, "\n".join(lines * 3) + "\n")
    assert (result.wrapper, result.format) == (None, "harness_app")
    assert events.get_column("lines").to_list() == [1, 33, 1] * 3


def test_the_mark_of_a_files_encoding_is_no_part_of_its_line(tmp_path: Path) -> None:
    """Whoever ships the first line of a file sends its mark along."""
    bare, _, _ = run(tmp_path, wrapping.wrapped(HARNESS, "filebeat"))
    marked = ["\ufeff" + HARNESS[0], *HARNESS[1:]]
    events, rejects, _ = run(tmp_path, wrapping.wrapped(marked, "filebeat"))
    assert (records(events), len(rejects)) == (records(bare), 0)


@pytest.mark.parametrize("ways", [("journald",), ("filebeat", "docker"), ("syslog",)])
def test_blocks_change_nothing(tmp_path: Path, ways: tuple[str, ...]) -> None:
    """The same records come out wherever the file is cut."""
    text = wrapping.wrapped(HARNESS * 5, *ways)
    whole, _, _ = run(tmp_path, text)
    for block_bytes in (100, 700, 1500):
        cut, _, _ = run(tmp_path, text, block_bytes)
        assert cut.rows() == whole.rows()


def test_pods_of_one_file_are_engines_of_their_own(tmp_path: Path) -> None:
    """What kills one of them is no trouble of the other; one pod has its path's name."""
    line = "INFO 11-30 05:26:38 [async_llm.py:344] Added request r-{}."
    two = f"[pod/vllm-0/vllm] {line.format(0)}\n[pod/vllm-1/vllm] {line.format(1)}\n"
    events, _, _ = run(tmp_path, two)
    assert events.get_column("engine").to_list() == ["vllm-0", "vllm-1"]
    events, _, _ = run(tmp_path, two.splitlines(keepends=True)[0] * 2)
    assert events.get_column("engine").to_list() == ["any", "any"]


@pytest.mark.deep
def test_very_many_files_of_one_shipper(tmp_path: Path) -> None:
    """The few that are looked at tell of all: each keeps its records apart."""
    stamp = wrapping.iso(0)
    beats: list[dict[str, object]] = []
    for number in range(60):
        for line in HARNESS[1:6]:
            wrapped = f"{stamp} stdout F {line}"
            beats.append(
                {
                    "@timestamp": "2026-11-30T05:26:40.000Z",
                    "message": wrapped,
                    "log": {"offset": len(beats), "file": {"path": f"/c/{number}.log"}},
                }
            )
    text = "".join(json.dumps(beat) + "\n" for beat in beats)
    events, rejects, result = run(tmp_path, text)
    assert result.wrapper == "filebeat > cri"
    assert events.get_column("lines").to_list() == [5] * 60
    assert set(events.get_column("kind")) == {"engine_dead"}
    assert events.get_column("origin").n_unique() == 60
    assert len(rejects) == 0


def test_access_records_of_a_logger_tell_its_layer(tmp_path: Path) -> None:
    """Exchanges among other records of one program: all of them are the harness's."""
    access = '{"time":"2026-11-30T05:26:4%dZ","msg":"access","rid":"r-%d","path":"/v1/x","status":401}'
    other = (
        '{"time":"2026-11-30T05:26:45Z","level":"ERROR","rid":"r-1","msg":'
        '"litellm.AuthenticationError: OpenAIException - Incorrect API key provided"}'
    )
    lines = [*(access % (number, number) for number in range(4)), other]
    events, _, _ = run(tmp_path, "\n".join(lines) + "\n")
    found = events.select("kind", "layer", "request_id").rows()
    assert found[1] == ("access", "harness", "r-1")
    assert found[4] == ("provider_auth_failed", "harness", "r-1")
