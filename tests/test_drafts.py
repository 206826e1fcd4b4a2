"""Drafts of formats prove themselves, whatever they are made of."""

from pathlib import Path

import pytest
from tests.test_own_formats import CONF, analyzed

from faultlayer import formats
from faultlayer.cli import run
from faultlayer.definitions import Reader

LOG = "".join(
    f"{stamp}.250|4669d272-3a60-4f08-9a30-6ce29f4a1d5{n}|{status}|0.5|{up}|{up}|GET /{n}\n"
    for n, (stamp, status, up) in enumerate(
        [(1796016161, 200, "0.4"), (1796016162, 504, "-"), (1796016163, 499, "0.1")]
    )
)
NOTATIONS = {
    "nginx": ["--nginx", CONF.split("\n")[1] + CONF.split("\n")[2]],
    "nginx_string": ["--nginx", "$msec $status $request_time $http_x_request_id"],
    "envoy": ["--envoy", "default"],
    "haproxy": ["--haproxy", "httplog"],
    "apache": ["--apache", 'LogFormat "%h %t \\"%r\\" %>s %D" own'],
    "python": ["--python-logging", "{asctime} {levelname:<8} {name} {message}"],
}


@pytest.mark.parametrize("name", NOTATIONS)
def test_a_draft_proves_itself(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`formats new` writes what `formats test` takes at once, and overwrites nothing."""
    file = tmp_path / "mine.toml"
    command = ["formats", "new", *NOTATIONS[name], "--out", str(file)]
    assert run(command) == 0
    assert "still to be done" not in capfd.readouterr().err
    assert run(["formats", "test", str(file)]) == 0
    assert capfd.readouterr().out.endswith("1 format, no problem\n")
    assert run(command) == 2
    text = file.read_text("utf-8")
    assert "# Review: computed from the line" in text
    assert "[[reject]]" in text


def test_a_draft_takes_its_samples_from_a_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """One of each kind, with ids that are not those of the log."""
    log = tmp_path / "gw.log"
    log.write_text(LOG)
    arguments = [
        "--nginx-conf",
        str(tmp_path / "nginx.conf"),
        "--sample-from",
        str(log),
    ]
    (tmp_path / "nginx.conf").write_text(CONF.replace("log_format any '$request';", ""))
    assert run(["formats", "new", *arguments, "--name", "mine"]) == 0
    text = capfd.readouterr().out
    loaded, problems = formats.read_all(Reader("mine.toml", text), "host")
    assert problems == []
    assert loaded is not None
    assert [one.name for one in loaded.patterns] == ["gw", "plain"]
    statuses = [one.expect["status"] for one in loaded.samples if one.pattern == "gw"]
    assert statuses == [200, 504, 499]
    assert "4669d272" not in text


@pytest.mark.parametrize("name", ["text", "json"])
def test_a_draft_is_made_of_a_log_alone(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its lines show stamp, level and keys; the draft reads all of them."""
    line = {
        "text": "2026-11-30 05:22:41,25{n} <INFO> own.server took {n} ms rid=r-{n}\n",
        "json": '{{"when":"2026-11-30T05:22:41.25{n}Z","own":{n},"said":"x {n}"}}\n',
    }[name]
    log = tmp_path / "app.log"
    log.write_text("".join(line.format(n=n) for n in range(9)))
    file = tmp_path / "mine.toml"
    assert run(["formats", "new", "--from", str(log), "--out", str(file)]) == 0
    assert run(["formats", "test", str(file)]) == 0
    assert capfd.readouterr().out.endswith("1 format, no problem\n")
    events, sources = analyzed(tmp_path, str(log), "--formats", str(file))
    assert sources.item(0, "format") == "mine"
    assert len(events) == 9
    assert events.item(0, "ts_raw").isoformat() == "2026-11-30T05:22:41.250000"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["--envoy", "default", "--haproxy", "httplog"], 2),
        (["--haproxy", "%zz"], 7),
        (["--from", "gone.log"], 6),
        (["--nginx", "@gone.conf"], 6),
    ],
)
def test_a_draft_of_nothing_is_a_message(
    arguments: list[str], code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Never a traceback."""
    assert run(["formats", "new", *arguments]) == code
    assert "Traceback" not in capfd.readouterr().err
