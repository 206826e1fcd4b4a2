"""What lies among the logs and is none is told as such, and each of its bytes accounted for."""

from pathlib import Path

import polars as pl
import pytest

from faultlayer import no_logs, parse, wording
from faultlayer.find import find


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("app/server.py", "source code"),
        ("a.tgz!app/run.sh.gz", "source code"),
        ("README", "a document"),
        ("app/incident.md", "a document"),
        ("Dockerfile.gpu", "a recipe"),
        ("deploy/values.yaml", "settings"),
        ("models/config.json", "settings"),
        ("logs/harness.log", ""),
        ("logs/readme.log", ""),
        ("logs/events.json", ""),
        ("var/log/messages", ""),
    ],
)
def test_a_name_tells_what_is_no_log(path: str, kind: str) -> None:
    """Whatever may be a log is looked into as one."""
    assert no_logs.of(path) == kind


def test_what_is_no_log_is_one_reject(tmp_path: Path) -> None:
    """Logs are read whatever their file is called; a few quoted lines make no log."""
    line = "[ERROR] [2026-11-30 05:22:41,892] harness.server: Request failed\n"
    code = f"import os\n\n{line}def f():\n    return os.environ\n\n\nprint(f())\n" * 3
    (tmp_path / "server.py").write_text(code)
    (tmp_path / "pasted.md").write_text(f"# The log\n\n{line * 3}")
    definitions = parse.load_definitions()
    found = {}
    for source in find([str(tmp_path)]).sources:
        places = tmp_path / "e.parquet", tmp_path / "r.parquet"
        result = parse.parse_source(
            source, parse.sniff(source, definitions), definitions,
            parse.ParseOptions(2026), *places, block_bytes=50,
        )  # fmt: skip
        found[Path(source.path).name] = result.row(), pl.read_parquet(places[1])
    row, rejects = found["server.py"]
    assert row["reason"] == "not a log: source code"
    assert (row["events"], row["rejects"], row["lines"]) == (0, 1, 24)
    assert rejects.row(0, named=True) | {"text": ""} == {
        "source_id": row["source_id"],
        "line": 1,
        "lines": 24,
        "byte_offset": 0,
        "byte_length": len(code),
        "reason": "not a log: source code",
        "text": "",
    }
    assert not wording.is_strange(row)
    assert wording.format_of(row) == "not a log: source code"
    row, rejects = found["pasted.md"]
    assert (row["events"], row["rejects"]) == (3, 1)
