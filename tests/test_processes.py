"""Runs in processes of their own: start-up time, signals, pipes, full disks."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LOG = "".join(
    f'192.0.2.{n} - - [12/Nov/2026:22:10:0{n} +0000] "POST /v1/completions HTTP/1.1"'
    f' {status} 960 "-" "curl/8.1" rt=1.909 uct="{up}" uht="{up}" urt="{up}"'
    f" req_id=26fb6a74-1f5f-4573-be36-53ab01be511{n} quota_used=-\n"
    for n, status, up in ((1, 200, "0.002"), (2, 503, "-"), (3, 499, "0.002"))
)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Analyze a log of three lines, once."""
    folder = tmp_path_factory.mktemp("processes")
    (folder / "access.log").write_text(LOG)
    assert finished("analyze", "access.log", "--case", "case", cwd=folder) == 0
    return folder / "case"


def started(*arguments: str, cwd: Path | None = None) -> "subprocess.Popen[str]":
    """Start a command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "faultlayer", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )


def finished(*arguments: str, cwd: Path) -> int:
    """Run a command line in a process of its own and give its exit code."""
    process = started(*arguments, cwd=cwd)
    process.communicate(timeout=60)
    return process.returncode


def cpu_seconds(pid: int) -> float:
    """Give the CPU time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("command", ["", "sql"])
def test_help_is_there_at_once(command: str) -> None:
    """Within 200 ms, and without loading what makes it slow."""
    arguments = [command, "--help"] if command else ["--help"]
    code = (
        f"import sys; from faultlayer.cli import run; run({arguments});"
        "slow = {'polars', 'duckdb', 'pyarrow', 'rich', 'numpy', 'prompt_toolkit'};"
        "heavy = slow & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (ended.returncode, ended.stderr) == (0, "")
    # CPU time: the wall clock depends on what else the machine does.
    taken = after.ru_utime + after.ru_stime - begun.ru_utime - begun.ru_stime
    assert taken < 0.2


def test_stdin(tmp_path: Path) -> None:
    """`-` reads what is piped in; the same once more is not parsed again."""
    for known in (False, True):
        process = started("analyze", "-", "--case", "c", cwd=tmp_path)
        out, err = process.communicate(LOG, timeout=60)
        assert (process.returncode, err) == (0, "")
        assert "3 attempts" in out
        assert (", 1 file as read before" in out) is known


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_an_interrupted_run_leaves_the_old_case(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """One line, no traceback, no half-written case, the old one as it was."""
    (tmp_path / "access.log").write_text(LOG)
    assert finished("analyze", "access.log", "--case", "c", cwd=tmp_path) == 0
    before = (tmp_path / "c" / "case.json").read_bytes()
    process = started("analyze", "-", "--case", "c", cwd=tmp_path)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not list(tmp_path.glob(".c.partial-*")):
        time.sleep(0.02)
    time.sleep(0.2)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in err
    assert err in {"", "faultlayer: interrupted\n"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["access.log", "c"]
    assert (tmp_path / "c" / "case.json").read_bytes() == before


def test_a_killed_run_leaves_the_old_case(tmp_path: Path) -> None:
    """What `kill -9` leaves is hidden, and gone after the next run."""
    (tmp_path / "access.log").write_text(LOG)
    process = started("analyze", "-", "--case", "c", cwd=tmp_path)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not list(tmp_path.glob(".c.partial-*")):
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=30)
    assert not (tmp_path / "c").exists()
    assert finished("analyze", "access.log", "--case", "c", cwd=tmp_path) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["access.log", "c"]


def test_a_statement_from_stdin(case: Path) -> None:
    """A pipe into `sql` is a statement, not a shell."""
    process = started("sql", str(case), "--format", "csv")
    assert process.communicate("SELECT 1 AS a;\n", timeout=60) == ("a\n1\n", "")


def test_a_reader_that_has_seen_enough(case: Path) -> None:
    """`| head -1` ends the run quietly."""
    with started("sql", str(case), "FROM range(3000000)", "--format", "csv") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.close()
        assert process.stdout.readline() == "range\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 0


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_ctrl_c_in_a_query(case: Path) -> None:
    """DuckDB's own error for it becomes one line and 130."""
    sql = "SELECT count(*) FROM range(10000000000) t (a) WHERE md5(a::VARCHAR) = 'x'"
    process = started("sql", str(case), sql)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and cpu_seconds(process.pid) < 3:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "faultlayer: interrupted\n")


def test_a_full_output_is_told(case: Path) -> None:
    """What the system says, without a traceback."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "faultlayer", "report", str(case)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode != 0
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """A file limit stands in for it: the old state stays, the message is clear."""
    # Ids of their own, or the file would be small enough to be written.
    digits = random.Random(5)
    lines = (
        LOG.replace("26fb6a74", f"{digits.getrandbits(32):08x}") for _ in range(9000)
    )
    (tmp_path / "access.log").write_text("".join(lines))
    script = f'ulimit -f 64; exec "{sys.executable}" -m faultlayer analyze access.log'
    ended = subprocess.run(
        ["/bin/bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert ended.returncode == 6
    assert "Traceback" not in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["access.log"]
