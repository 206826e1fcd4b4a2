"""The checks of the funnel: in order, complete, and honest about what no log tells."""

import json
import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from pathlib import Path

import pytest
from tests.unit import conftest

from faultlayer import assets, funnel, queries
from faultlayer.analyze import AnalyzeOptions, analyze
from faultlayer.case import Case
from faultlayer.cli import run
from faultlayer.commands._moment import placed
from faultlayer.errors import UsageError

Build = Callable[..., Case]
ROOT = Path(__file__).parents[2]
QUERIES = assets.builtin("queries")


@pytest.fixture(scope="module")
def engine_death(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Analyze the sample in which an engine dies."""
    folder = tmp_path_factory.mktemp("funnel") / "case"
    logs = str(ROOT / "sample_logs" / "engine_death" / "logs")
    return analyze([logs], folder, AnalyzeOptions(workers=1))


def results(case: Case, until: datetime | None = None) -> dict[str, str]:
    """Give the result of each check by its title."""
    checks = funnel.gather(case, until=until)["checks"]
    return {check["title"]: check["result"] for check in checks}


def test_a_dead_engine_fails_the_first_layer(engine_death: Case) -> None:
    """Where to begin is the engine; the request named is one of its victims."""
    values = funnel.gather(engine_death)
    first = values["checks"][0]
    assert (first["title"], first["result"]) == ("engines are alive", "fail")
    assert first["failed_attempts"] > 0
    assert values["start"] == "model"
    shown = "\n".join(str(line) for line in funnel.screen(values, 100))
    assert "begin with model" in shown
    assert first["example"] in shown
    spaced = funnel.screen(values | {"case": "my case"}, 100)
    assert f'explain "my case" {first["example"]}' in "\n".join(map(str, spaced))
    narrow = [str(line) for line in funnel.screen(values, 60)]
    dead = next(n for n, line in enumerate(narrow) if "engines are alive" in line)
    assert "from 2026-11-12 22:12:" in "".join(
        narrow[dead : dead + 3]
    )  # nothing is cut
    assert max(map(len, narrow[: dead + 3])) <= 60


def test_an_engine_that_died_of_its_gpu_is_not_alive(build_case: Build) -> None:
    """Both fail, and what to look at is the check that has the victims."""
    trouble = conftest.default_tables()
    trouble["conditions"][0].update(cause="model.gpu_xid")
    trouble["verdicts"][0].update(cause="model.gpu_xid")
    case = build_case(conditions=trouble["conditions"], verdicts=trouble["verdicts"])
    found = results(case)
    assert (found["engines are alive"], found["GPUs are healthy"]) == ("fail", "fail")
    shown = "\n".join(str(line) for line in funnel.screen(funnel.gather(case), 100))
    assert "begin with model: the kernel's log of the host" in shown


def test_what_no_log_tells_is_said(tmp_path: Path) -> None:
    """With the log of the edge alone nobody knows of engines, GPUs and pools."""
    logs = str(ROOT / "sample_logs" / "engine_death" / "logs" / "nginx")
    found = results(analyze([logs], tmp_path / "case", AnalyzeOptions(workers=1)))
    assert found["GPUs are healthy"] == "no evidence"
    assert found["pools have something left"] == "no evidence"
    assert found["plugins answer"] == "no evidence"
    assert found["requests are let in"] == "pass"


def test_before_the_outage_nothing_fails(engine_death: Case) -> None:
    """A window that ends before all logs begin is blind."""
    early = datetime(2000, 1, 1)  # noqa: DTZ001
    found = results(engine_death, early)
    assert found.pop("configuration is as expected") == "pass"  # a file without times
    assert set(found.values()) == {"no evidence"}
    values = funnel.gather(engine_death, until=early)
    assert values["start"] is None
    shown = "\n".join(str(line) for line in funnel.screen(values, 100))
    assert "no attempt in this window; those of the case: 2026-11-12 22:10:00" in shown
    # Settings have no time: that one check does not make the harness known.
    blind = "no check fails; nothing is known of model, quota; not all of harness"
    assert blind in shown


def test_a_time_of_the_day_is_of_the_day_of_the_case(
    engine_death: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    """At 22:13 the engine is down; before 22:10:30 nothing had failed yet."""
    words = ["check", str(engine_death.path), "--format", "json"]
    assert run([*words, "--since", "22:13", "--until", "22:13:30"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["since"], values["start"]) == (
        "2026-11-12T22:13:00.000000Z",
        "model",
    )
    assert run([*words, "--until", "22:10:30"]) == 0
    assert json.loads(capsys.readouterr().out)["start"] is None


def test_a_time_of_the_day_of_which_day(build_case: Build) -> None:
    """Of a case of two days, or without attempts, it has to be said."""
    attempts = conftest.default_tables()["attempts"]
    attempts[1].update(ts_end=attempts[0]["ts_end"] + timedelta(days=1))
    case = build_case(attempts=attempts)
    with pytest.raises(UsageError, match="14:20 is of which day") as caught:
        placed(case, time(14, 20))
    assert "T14:20" in str(caught.value.hint)


def test_capacity_and_targets(engine_death: Case) -> None:
    """The configured limit is above the threads; the engine was back in five minutes."""
    values = funnel.gather(engine_death)
    assert values["capacity"]["result"] == "no evidence"
    (target,) = (row for row in values["targets"] if row["layer"] == "model")
    assert (target["target_s"], target["kept"], target["missed"]) == (300, 1, 0)
    bound = {
        "bound": "worker threads",
        "at_once": 2,
        "least": True,
        "configured": 64,
        "fits": False,
        "how": "worker_threads = 2",
    }
    values["capacity"] = {"result": "fail", "bounds": [bound]}
    shown = "\n".join(str(line) for line in funnel.screen(values, 140))
    assert "model  1 incident: 1 over within 5 min" in shown
    assert "64 configured · 2 by worker threads (worker_threads = 2)" in shown


def test_every_cause_belongs_to_one_check() -> None:
    """No cause that a rule or condition can name is counted twice."""
    (query,) = queries.load(QUERIES, "checks")
    listed = query.statement.split("AS listed")[0]
    rows = re.findall(
        r"'(model|harness|quota)', \d+, '[^']+',\s+('.*?\)'|NULL)", listed, re.DOTALL
    )
    assert len(rows) == len(re.findall(r"'(?:model|harness|quota)', \d+,", listed))
    patterns = [
        (layer, "".join(re.findall(r"'([^']*)'", causes))) for layer, causes in rows
    ]
    causes = {
        one.header["cause"]
        for group in ("rules", "conditions")
        for one in queries.load(QUERIES, group)
    }
    named = queries.load(QUERIES, "views")
    (table,) = (one for one in named if one.name == "named_causes")
    causes |= set(re.findall(r"'(model\.\w+)'", table.statement))
    for cause in causes - {"*"}:
        layer, _, name = cause.partition(".")
        taken = [
            pattern
            for its, pattern in patterns
            if its == layer and pattern and re.fullmatch(pattern, name)
        ]
        assert len(taken) <= 1, cause
