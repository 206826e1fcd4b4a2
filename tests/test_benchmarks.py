"""The benchmark's programs do what the figures say: same bytes, same cells."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"

pytestmark = pytest.mark.checkout


def run(program: str, *arguments: object) -> str:
    """Run one of the programs; gives what it prints."""
    command = [sys.executable, "-B", str(BENCHMARKS / program), *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a small access log."""
    path = tmp_path_factory.mktemp("benchmarks") / "access.log"
    run("generate.py", "nginx", "3MiB", path)
    return path


def test_floor_and_regular_expression_agree(access: Path, tmp_path: Path) -> None:
    """The floor reads what a strict regular expression reads, cell for cell."""
    run("floor.py", access, tmp_path / "floor.parquet")
    run("peer_re.py", access, tmp_path / "re.parquet")
    floor = pl.read_parquet(tmp_path / "floor.parquet")
    assert floor.equals(pl.read_parquet(tmp_path / "re.parquet"))
    assert floor.width == 14
    assert floor["request_id"].is_unique().all()


def test_log_has_what_a_parser_stumbles_over(access: Path) -> None:
    """Two upstreams, escaped quotes, IPv6, failures and lines that are none."""
    text = access.read_text()
    lines = text.splitlines()
    assert (
        0.01
        < sum('uct="' in line and '", ' not in line and ", " in line for line in lines)
        / len(lines)
        < 0.03
    )
    assert r"\x22" in text
    assert "2001:db8::" in text
    assert 0.01 < sum('" 200 ' not in line for line in lines) / len(lines) < 0.03
    assert any("req_id=" not in line for line in lines)


@pytest.mark.parametrize("kind", ["nginx", "harness", "vllm", "ledger"])
def test_generating_twice_gives_the_same_bytes(kind: str, tmp_path: Path) -> None:
    """A figure can be made again on the same bytes, of the size that was asked for."""
    for name in ("one", "two"):
        run("generate.py", kind, "200KiB", tmp_path / name)
    data = (tmp_path / "one").read_bytes()
    assert data == (tmp_path / "two").read_bytes()
    assert 190 * 1024 < len(data) <= 200 * 1024
    assert data.endswith(b"\n")


def test_run_prints_what_the_floor_took(access: Path, tmp_path: Path) -> None:
    """The table names each contender once."""
    out = run(
        "run.py",
        access,
        "--work",
        tmp_path,
        "--no-analyze",
        "--repeat",
        2,
        "--peer",
        "re",
    )
    assert [line.split()[:2] for line in out.splitlines()[2:]] == [
        ["floor", "2"],
        ["re", "2"],
    ]


def test_bad_day_tells_the_truth_of_every_attempt(tmp_path: Path) -> None:
    """Each attempt has its line of truth, and the same arguments give the same bytes."""
    days = [tmp_path / "a", tmp_path / "b"]
    for day in days:
        run("bad_day.py", day, "--attempts", 3000, "--failed", 2000)
    files = sorted(path.relative_to(days[0]) for path in days[0].rglob("*.*"))
    assert [(days[0] / path).read_bytes() for path in files] == [
        (days[1] / path).read_bytes() for path in files
    ]
    truth = pl.read_ndjson(days[0] / "truth.jsonl", infer_schema_length=None)
    lines = (days[0] / "logs/nginx/harness_access.log").read_text().splitlines()
    assert truth.height == len(lines) == 3000
    assert 1900 < truth["cause"].count() <= 2000
    assert truth["cause"].n_unique() > 20
