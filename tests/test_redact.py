"""A redacted case says the same, and nothing of what was searched for is in it."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from faultlayer import database, redaction, verify
from faultlayer.analyze import analyze
from faultlayer.case import Case, open_case
from faultlayer.cli import run
from faultlayer.redaction import redact

SAMPLE = (
    Path(__file__).resolve().parent.parent / "sample_logs" / "engine_death" / "logs"
)
SALT = "0123456789abcdef"

SECRETS = [
    "sk-live-4eC39HqLyjWDarjtT1zdp7dc",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl",
    "hunter2",
    "fd00:1234:5678::beef",
    "198.51.100.77",
    "alice.smith@kunde.example",
    "4915112345678",
    "kunde",
    "mueller",
    "Lepra",
    "Herrn",
    "Murmel",
    "capital of France",
    "the engine is out of memory for the user",
    "张三",
]
"""What is invented for this test, beside what the sample's own lines hold."""

HARNESS = """\
[INFO] [2026-11-12 22:11:03,885] harness.server: prompt="Wie behandle ich Lepra bei Herrn Mueller?" user=usr-555
[INFO] [2026-11-12 22:11:04,885] harness.server: body {'messages': [{'role': 'user', 'content': 'the engine is out of memory for the user'}], 'n': 1}
[INFO] [2026-11-12 22:11:05,885] harness.server: Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl
[INFO] [2026-11-12 22:11:06,885] harness.server: api_key=sk-live-4eC39HqLyjWDarjtT1zdp7dc from fd00:1234:5678::beef and ip-198-51-100-77 for alice.smith@kunde.example
[INFO] [2026-11-12 22:11:07,885] harness.server: GET https://svc:hunter2@gw.kunde.example/v1?user=alice.smith%40kunde.example
Liebe Kundin, meine Oma verschluckte gestern eine Murmel, was tun?
[INFO] [2026-11-12 22:11:08,885] harness.server: 用户 张三 请求超出配额 What is the capital of France?
"""
GATEWAY = [
    {
        "ts": f"2026-11-12T22:11:{second:02}Z",
        "level": "info",
        "msg": "chat finished",
        "request_id": f"kunde-{second}",
        "user_phone": 4915112345678,
        "prompt": "What is the capital of France?",
        "messages": [{"role": "user", "content": "Herrn Mueller geht es schlecht"}],
        "input_ids": list(range(4915, 4990)),
        "client": "198.51.100.77",
        "took": 1.5e20,
    }
    for second in range(10, 40)
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the sample's logs below a customer's name, with what nobody should see."""
    folder = tmp_path_factory.mktemp("redact") / "kunde-mueller"
    shutil.copytree(SAMPLE, folder)
    (folder / "harness" / "mueller-gw.log").write_text(HARNESS, "utf-8")
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in GATEWAY]
    (folder / "harness" / "gateway.jsonl").write_text("".join(lines), "utf-8")
    return folder


@pytest.fixture(scope="module")
def plain(logs: Path) -> Case:
    """Analyze them."""
    return analyze([str(logs)], logs.parent / "plain")


@pytest.fixture(scope="module")
def shared(plain: Case) -> Case:
    """Give the case that may leave the house."""
    return redact(plain, plain.path.parent / "shared", SALT)


def needles(logs: Path) -> set[str]:
    """Give every user, project, tenant, request id and address of the logs."""
    text = "\n".join(path.read_text("utf-8") for path in logs.rglob("*.*"))
    found = set(re.findall(r"\b(?:usr-\d+|prj-\w+|ten-\w+)\b", text))
    found |= set(re.findall(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", text))
    found |= set(re.findall(r"\b172(?:\.\d{1,3}){3}\b", text))
    assert len(found) > 250
    return found | set(SECRETS)


def said(case_dir: Path) -> str:
    """Give all that the files of a case hold: their bytes, and the values of columns."""
    found = []
    for path in sorted(case_dir.rglob("*.*")):
        found.append(path.read_bytes().decode("utf-8", "replace"))
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            found += [str(table.schema), str(table.to_pylist())]
    return "\n".join(found).lower()


def rows(case: Case, statement: str) -> list[dict[str, Any]]:
    """Ask a case."""
    with database.reading(case.path) as con:
        return database.rows(con, statement)


def test_nothing_is_found(logs: Path, plain: Case, shared: Case) -> None:
    """Of the ids, addresses, keys and prompts not one is in any byte or value."""
    wanted = needles(logs)
    shared_text, plain_text = said(shared.path), said(plain.path)
    assert {one for one in wanted if one.lower() in shared_text} == set()
    # All of it is in the case before, so that the search does find.
    assert {one for one in wanted if one.lower() not in plain_text} == set()


def test_the_verdicts_are_the_same(plain: Case, shared: Case) -> None:
    """Verdicts, findings and incidents differ in names only, and names still join."""
    same = """
    SELECT
        attempt_id, attempt, layer, cause, strength, rule, evidence, contributing,
        clock_sensitive, incident_id, len(cleared) AS cleared, len(missing) AS missing
    FROM verdicts
    ORDER BY attempt_id
    """
    asked = [
        same,
        "SELECT count(*), count(DISTINCT request_id), count(DISTINCT user_id) FROM attempts",
        "SELECT kind, count(*), count(DISTINCT user_id) FROM events GROUP BY ALL ORDER BY ALL",
        "SELECT ts_start, ts_end, cause, scope_kind FROM conditions ORDER BY ALL",
        "SELECT entry, count(*), round(max(user_spent), 6) FROM ledger GROUP BY ALL"
        " ORDER BY ALL",
        "SELECT level, max(used_ratio), count(DISTINCT level_id) FROM balances"
        " INNER JOIN ledger ON balances.level_id = ledger.user_id GROUP BY ALL",
        "SELECT layer, events, joined, alone FROM join_quality ORDER BY source_id",
    ]
    with database.reading(plain.path) as before, database.reading(shared.path) as after:
        for one in asked:
            found = database.rows(before, one)
            assert found
            assert database.rows(after, one) == found, one


def test_words_of_programs_stay(shared: Case) -> None:
    """What a log says of an engine's death can still be read."""
    (death,) = rows(
        shared,
        "SELECT message FROM events WHERE message LIKE '%CUDA out of memory%'"
        " ORDER BY event_id LIMIT 1",
    )
    assert "CUDA out of memory. Tried to allocate" in death["message"]


def test_it_is_a_sound_case(shared: Case) -> None:
    """It verifies, and says that it was redacted."""
    assert verify.differences(shared) == []
    assert shared.manifest["redacted"] is True
    assert redaction.ASSUMED in shared.manifest["assumed"]
    assert set(shared.manifest) >= {"definitions", "conservation", "files", "paths"}


def test_a_salt_that_nobody_knows(plain: Case, shared: Case, tmp_path: Path) -> None:
    """Without one that is given the pseudonyms are others; a word can be kept."""
    other = redact(plain, tmp_path / "other", keep=["aster"])
    first = (
        "SELECT user_id, model FROM attempts WHERE user_id > '' ORDER BY ALL LIMIT 1"
    )
    (mine,), (its,) = rows(other, first), rows(shared, first)
    assert mine["user_id"] != its["user_id"]
    assert (mine["model"], its["model"][0]) == ("aster-chat-14b", "x")


def test_the_commands(
    plain: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A short salt and a folder with other files are refused before anything is done."""
    target = tmp_path / "to-share"
    words = ["redact", str(plain.path), "--case", str(target)]
    assert run([*words, "--salt", "short"]) == 2
    assert run(["redact", str(plain.path), "--case", str(plain.path)]) == 2
    assert "is the case itself" in capsys.readouterr().err
    target.mkdir()
    (target / "report.html").write_text("usr-555", "utf-8")
    assert run(words) == 6
    assert "holds report.html" in capsys.readouterr().err
    (target / "report.html").unlink()
    (tmp_path / "to-share").rmdir()
    shutil.copytree(plain.path, target)  # an older case, with all that it has
    log = tmp_path / "a.log"
    log.write_text(HARNESS, "utf-8")
    with pytest.raises(SystemExit, match=r"^0$"):
        run(["analyze", str(log), "--case", str(target), "--redact", "--quiet"])
    case = open_case(target)
    assert case.manifest["redacted"] is True
    assert "usr-555" not in said(target)
    assert not (target / "read.jsonl").exists()  # its rows are as they were read
    again = [redact(case, tmp_path / name, SALT).manifest["files"] for name in "ab"]
    assert again[0] == again[1]
    assert [one.name for one in tmp_path.iterdir() if "plain" in one.name] == []
