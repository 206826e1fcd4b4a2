"""The commands as a script sees them: output, messages, exit codes."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from faultlayer.cli import COMMANDS, run
from faultlayer.commands import _options

ID = "4669d272-3a60-4f08-9a30-6ce29f4a1d58"
LINE = (
    '192.0.2.{n} - - [12/Nov/2026:22:10:0{n} +0000] "POST /v1/chat/completions HTTP/1.1"'
    ' {status} 960 "-" "openai-python/2.8.1" rt=1.909 uct="{up}" uht="{up}" urt="{up}"'
    " req_id={id} quota_used=-\n"
)
LOG = (
    LINE.format(n=1, status=200, up="0.002", id="26fb6a74-1f5f-4573-be36-53ab01be5112")
    + LINE.format(n=2, status=503, up="-", id=ID)
    + LINE.format(
        n=3, status=499, up="0.002", id="0d2f6a9b-e001-4c6e-9a51-7f26411e1f0a"
    )
)


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def faultlayer(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> "Faultlayer":
    """Give a runner in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return Faultlayer(capfd)


class Faultlayer:
    """Runs command lines in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *arguments: str) -> Ended:
        """Run one command line."""
        self._capfd.readouterr()
        try:
            code = run(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        out, err = self._capfd.readouterr()
        return Ended(code, out, err)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Analyze a log of three lines, once."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "logs").mkdir()
    (folder / "logs" / "access.log").write_text(LOG)
    target = folder / "case"
    with pytest.raises(SystemExit) as end:
        run(["analyze", str(folder / "logs"), "--case", str(target), "--quiet"])
    assert end.value.code == 0
    return target


def test_all_commands_are_listed_and_have_help(faultlayer: Faultlayer) -> None:
    """`--help` names each with its text, and each has a help with an example."""
    listing = faultlayer("--help").out
    for name, (text, _) in COMMANDS.items():
        assert name in listing
        assert text in listing
        ended = faultlayer(name, "--help")
        assert ended.code == 0
        assert "Usage: faultlayer" in ended.out


def test_version(faultlayer: Faultlayer) -> None:
    """One line."""
    assert faultlayer("--version").out.startswith("faultlayer ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["analyze"], 2, "Missing argument 'PATH...'"),
        (["analyze", "nowhere"], 6, "nowhere"),
        (["analyse", "log"], 2, "Did you mean analyze?"),
        (["analyze", "log", "--source", "x"], 2, "--source wants GLOB=FORMAT"),
        (["analyze", "log", "--source", "*=nope"], 2, "no format 'nope'"),
        (["analyze", "log", "--fail-on", "wind"], 2, "--fail-on does not know 'wind'"),
        (["analyze", "log", "--memory", "much"], 2, "the database refuses"),
        (["analyze", "log", "--config", "bad.toml"], 7, "unknown key 'colour'"),
        (["analyze", "log", "--config", "gone.toml"], 2, "gone.toml cannot be read"),
        (["analyze", "log", "--case", "folder"], 6, "exists and is no case"),
        (["sql", "nowhere", "SELECT 1"], 6, "no case at nowhere"),
        (["trace", "folder", "x"], 6, "folder is no case"),
        (["report", "nowhere", "-o", "x.pdf"], 2, "no report can be written as x.pdf"),
        (["verify", "log"], 6, "log is no case: a case is a folder"),
        (["rules", "show", "engine_dead_ow"], 2, "no rule is called engine_dead_ow"),
    ],
)
def test_mistakes_are_told(
    faultlayer: Faultlayer, arguments: list[str], code: int, message: str
) -> None:
    """With the exit code of the contract, on stderr, and without a traceback."""
    Path("log").write_text(LOG)
    Path("folder").mkdir()
    Path("folder/file").touch()
    Path("bad.toml").write_text("colour = 'red'")
    ended = faultlayer(*arguments)
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_analyze_writes_a_case_and_says_what_it_found(faultlayer: Faultlayer) -> None:
    """The summary goes to stdout; without a terminal there is no progress."""
    Path("access.log").write_text(LOG)
    ended = faultlayer("analyze", "access.log")
    assert (ended.code, ended.err) == (0, "")
    assert (
        "lines   3 = 3 in events + 0 continuations + 0 rejected + 0 blank" in ended.out
    )
    assert "3 attempts 2026-11-12 22:09:59 - 22:10:03 UTC, 2 failed" in ended.out
    assert "next    faultlayer explain faultlayer-case " in ended.out
    assert faultlayer("verify", "faultlayer-case").code == 0


def test_analyze_as_json(faultlayer: Faultlayer) -> None:
    """The same numbers for a script."""
    Path("access.log").write_text(LOG)
    values = json.loads(faultlayer("analyze", "access.log", "--format", "json").out)
    assert values["attempts"]["failed"] == 2
    assert values["attempts"]["failed_start"] == "2026-11-12T22:10:00.091000Z"


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("any", 4),
        ("client", 4),
        ("client.abort", 4),
        ("model", 0),
        ("quota.exceeded", 0),
    ],
)
def test_fail_on(faultlayer: Faultlayer, what: str, code: int) -> None:
    """Exit 4 when a failed attempt has that layer or cause."""
    Path("access.log").write_text(LOG)
    ended = faultlayer("analyze", "access.log", "--quiet", "--fail-on", what)
    assert (ended.code, ended.out) == (code, "")
    assert bool(ended.err) == bool(code)


def test_strict(faultlayer: Faultlayer) -> None:
    """Exit 3 names what is missing; without failures and gaps it is 0."""
    Path("access.log").write_text(LOG)
    ended = faultlayer("analyze", "access.log", "--quiet", "--strict")
    assert ended.code == 3
    assert "undetermined: 1 attempt\n" in ended.err
    Path("access.log").write_text(LOG.splitlines(keepends=True)[0])
    assert faultlayer("analyze", "access.log", "--quiet", "--strict").code == 0


def test_strict_knows_what_is_only_partly_understood(faultlayer: Faultlayer) -> None:
    """One line in three that no format takes is a gap; one in a hundred is none."""
    good = LOG.splitlines(keepends=True)[0]
    lines = [
        good.replace("22:10:01", f"22:{n // 60:02d}:{n % 60:02d}") for n in range(99)
    ]
    Path("access.log").write_text("".join([*lines[:2], "strange words\n"]))
    ended = faultlayer("analyze", "access.log", "--quiet", "--strict")
    assert ended.code == 3
    assert "partly not understood: access.log" in ended.err
    Path("access.log").write_text("".join([*lines, "strange words\n"]))
    assert faultlayer("analyze", "access.log", "--quiet", "--strict").code == 0


def test_a_met_condition_comes_before_gaps(faultlayer: Faultlayer) -> None:
    """With both asked for, exit 4 says that the condition is met; the case is written."""
    Path("access.log").write_text(LOG)
    both = ("analyze", "access.log", "--quiet", "--strict", "--fail-on")
    ended = faultlayer(*both, "client")
    assert ended.code == 4
    assert "--fail-on client: 1 failed attempt\n" in ended.err
    assert Path("faultlayer-case/case.json").exists()
    assert faultlayer(*both, "model").code == 3


def test_fail_on_knows_every_cause(faultlayer: Faultlayer) -> None:
    """A misspelt cause would never be met, and the script would never fail."""
    Path("access.log").write_text(LOG)
    ended = faultlayer("analyze", "access.log", "--fail-on", "model.cuda_omm")
    assert ended.code == 2
    assert "did you mean model.cuda_oom?" in ended.err
    assert not Path("faultlayer-case").exists()


def test_options_from_a_file(faultlayer: Faultlayer) -> None:
    """The file is read, and the command line adds to it."""
    Path("access.log").write_text(LOG)
    Path("sub").mkdir()
    Path("sub/faultlayer.toml").write_text(
        "case = 'here'\nfail-on = 'client'\n[source]\n'*.log' = 'nginx_harness_full'\n"
    )
    ended = faultlayer("analyze", "access.log", "--config", "sub/faultlayer.toml")
    assert ended.code == 4
    assert Path("sub/here/case.json").exists()
    assert "read    nginx_harness_full 1" in ended.out


def test_sql_gives_data(faultlayer: Faultlayer, case: Path) -> None:
    """Data on stdout, nothing else anywhere."""
    sql = "SELECT status, count(*) AS n FROM attempts GROUP BY status ORDER BY status"
    assert faultlayer("sql", str(case), sql, "--format", "csv") == (
        0,
        "status,n\n200,1\n499,1\n503,1\n",
        "",
    )
    ended = faultlayer("sql", str(case), sql, "-o", "answer.json")
    assert (ended.code, ended.out) == (0, "")
    assert json.loads(Path("answer.json").read_text())[0] == {"status": 200, "n": 1}


def test_sql_mistakes(faultlayer: Faultlayer, case: Path) -> None:
    """What DuckDB says, a hint, exit 2."""
    for sql, message in (
        ("SELECT nope FROM events", 'Referenced column "nope" not found'),
        ("COPY (SELECT 1) TO 'x'", "a case is read-only: COPY is not allowed"),
        ("SELECT 1; SELECT 2", "2 statements given"),
        ("SELECT * FROM read_text('/etc/passwd')", "Permission Error"),
    ):
        ended = faultlayer("sql", str(case), sql)
        assert (ended.code, ended.out) == (2, "")
        assert message in ended.err
        assert "hint: " in ended.err


def test_trace_and_explain(faultlayer: Faultlayer, case: Path) -> None:
    """By the beginning of the id; as text and as JSON."""
    traced = faultlayer("trace", str(case), ID[:8])
    assert (traced.code, traced.err) == (0, "")
    assert f"request {ID}   2026-11-12 UTC" in traced.out
    assert "access.log:2" in traced.out
    explained = faultlayer("explain", str(case), f"chatcmpl-{ID.replace('-', '')}")
    assert (explained.code, explained.err) == (0, "")
    assert "verdict undetermined, the logs do not settle it" in explained.out
    assert f"byte {LOG.index('192.0.2.2')}" in explained.out
    values = json.loads(faultlayer("explain", str(case), ID, "--format", "json").out)
    assert values["verdicts"][0]["layer"] == "undetermined"


def test_a_source_that_fits_no_file_is_said() -> None:
    """A glob is of the whole path, and a name alone would be taken for one."""
    values = {"sources": [{"path": "logs/edge/access.log"}]}
    assert _options.unfit(values, ["*.log=vllm", "logs/edge/access.log=vllm"]) == []
    [said] = _options.unfit(values, ["access.log=vllm"])
    assert said == (
        "--source 'access.log' fits no file; it is of the whole path, such as"
        " 'logs/edge/access.log'"
    )


def test_an_unknown_request_is_an_empty_answer(
    faultlayer: Faultlayer, case: Path
) -> None:
    """Nothing on stdout, a message on stderr; a wrong attempt is a mistake."""
    ended = faultlayer("trace", str(case), "ffffffff")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == (
        f"faultlayer: no record of ffffffff in {case}\n"
        "hint: FROM verdicts in faultlayer sql lists the requests that failed\n"
    )
    ended = faultlayer("explain", str(case), ID, "--attempt", "2")
    assert (ended.code, ended.out) == (2, "")
    assert "has no attempt 2\nhint: it has 1\n" in ended.err


def test_verify_notices_a_change(faultlayer: Faultlayer, case: Path) -> None:
    """Exit 5, what differs on stdout, the count on stderr."""
    ended = faultlayer("verify", str(case), "--sources")
    assert (ended.code, ended.err) == (0, "")
    log = case.parent / "logs" / "access.log"
    log.write_text(LOG + "x")
    ended = faultlayer("verify", str(case), "--sources")
    log.write_text(LOG)
    assert (ended.code, ended.out) == (
        5,
        "source logs/access.log has changed since it was analyzed\n",
    )
    assert ended.err.startswith("faultlayer: 1 difference in ")


def test_a_damaged_case_is_told(faultlayer: Faultlayer, case: Path) -> None:
    """Exit 6 and the way to find out more; no traceback, whatever is damaged."""
    shutil.copytree(case, "damaged")
    Path("damaged/verdicts.parquet").write_bytes(b"PAR1 and nothing more")
    for arguments in (["report", "damaged"], ["trace", "damaged", ID]):
        ended = faultlayer(*arguments)
        assert (ended.code, ended.out) == (6, "")
        assert "damaged is damaged: " in ended.err
        assert "hint: faultlayer verify damaged" in ended.err
    ended = faultlayer("sql", "damaged", "FROM verdicts")
    assert (ended.code in {2, 6}, ended.out) == (True, "")
    ended = faultlayer("verify", "damaged")
    assert ended.code == 5
    assert "verdicts.parquet has 21 bytes, not " in ended.out


def test_report(faultlayer: Faultlayer, case: Path) -> None:
    """On the screen and as Markdown."""
    assert "3 attempts" in faultlayer("report", str(case)).out
    assert faultlayer("report", str(case), "-o", "r.md").code == 0
    assert "| undetermined | undetermined |" in Path("r.md").read_text()


def test_names_that_steer_a_terminal_do_not(faultlayer: Faultlayer) -> None:
    """Neither in messages nor in the summary."""
    name = "\x1b[31mred\x1b[0m.log"
    Path(name).write_text("what is this\n" * 3)
    for arguments in (["analyze", "."], ["trace", name, "x"], ["analyze", name + "x"]):
        ended = faultlayer(*arguments)
        assert "\x1b" not in ended.out + ended.err


def test_formats(faultlayer: Faultlayer) -> None:
    """Listed, shown, and a line explained."""
    assert "nginx_harness_full" in faultlayer("formats").out
    names = [
        item["name"]
        for item in json.loads(faultlayer("formats", "list", "--format", "json").out)
    ]
    assert "nginx_harness_full" in names
    assert faultlayer("formats", "show", "nginx_error").out.startswith(
        "# parsers/harness/nginx_error.toml\n"
    )
    assert (
        "status           503"
        in faultlayer("formats", "explain", LOG.splitlines()[1]).out
    )
    assert faultlayer("formats", "explain", " ").code == 2


def test_an_own_format_is_proved_among_the_others(faultlayer: Faultlayer) -> None:
    """A copy takes another one's samples; a broken file names its line."""
    text = faultlayer("formats", "show", "nginx_error").out
    Path("mine.toml").write_text(text.replace('"nginx_error"', '"mine"', 1))
    ended = faultlayer("formats", "test", "mine.toml")
    assert ended.code == 7
    assert "nginx_error takes this sample too" in ended.out
    Path("nginx_error.toml").write_text(text)
    assert (
        faultlayer("formats", "test", "nginx_error.toml").out
        == "1 format, no problem\n"
    )
    Path("broken.toml").write_text("[format")
    ended = faultlayer("formats", "test", "broken.toml")
    assert ended.code == 7
    assert ended.out.startswith("broken.toml:1:8: no valid TOML")
    assert ended.out.endswith("   1 | [format\n     |        ^\n")
    assert faultlayer("formats", "test", "gone.toml").code == 6


def test_rules(faultlayer: Faultlayer) -> None:
    """Listed in the order of precedence, and shown with their path."""
    listing = json.loads(faultlayer("rules", "list", "--format", "json").out)
    numbers = [int(rule["precedence"]) for rule in listing if "precedence" in rule]
    assert numbers == sorted(numbers)
    name = listing[-1]["name"]
    shown = faultlayer("rules", "show", name).out
    assert shown.startswith(f"-- {listing[-1]['path']}\n-- title: ")
