"""The shell in a real terminal: completion, a hint, Ctrl-C, the pager, the end."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultlayer import database
from faultlayer.case import Case

PATIENCE = 60  # seconds until a screen must show what it should
STEP = 0.1

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="there is no tmux on this machine"
)


class Terminal:
    """A screen of 80 by 30 in which the shell runs over a case."""

    def __init__(self, case: Path, state: Path) -> None:
        self._name = f"faultlayer-{os.getpid()}"
        command = shlex.join([sys.executable, "-m", "faultlayer", "sql", str(case)])
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "30"),
            f"{command}; echo ended with $?; sleep {2 * PATIENCE}",
            env=os.environ
            | {
                "PAGER": "sed s/^/paged:/",
                "PYTHONPATH": str(Path(database.__file__).parents[1]),
                "XDG_STATE_HOME": str(state),
            },
        )

    def keys(self, *names: str) -> None:
        """Press keys by their names."""
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        """Type a text as it is."""
        # A `;` at the end would part commands of tmux.
        self._tmux("send-keys", "-l", text[:-1] + text[-1].replace(";", "\\;"))

    def shows(self, *texts: str, press: str = "") -> str:
        """Wait until the screen shows all these texts, and give it.

        `press` is a key to press once a second meanwhile: what it is to end may not
        have begun at the first time.
        """
        end = time.monotonic() + PATIENCE
        rounds = 0
        while True:
            rounds += 1
            if press and rounds % round(1 / STEP) == 0:
                self.keys(press)
            screen = self._tmux("capture-pane", "-p")
            if all(text in screen for text in texts):
                return screen
            assert time.monotonic() < end, f"no {texts} in\n{screen}"
            time.sleep(STEP)

    def close(self) -> None:
        """End the server and what runs in it."""
        self._tmux("kill-server")

    def _tmux(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, *arguments],  # noqa: S607 - found in the path
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


@pytest.fixture
def terminal(small_case: Case, tmp_path: Path) -> Iterator[Terminal]:
    """Give the shell over the small case, with its state below `tmp_path`."""
    opened = Terminal(small_case.path, tmp_path / "state")
    try:
        yield opened
    finally:
        opened.close()


def test_a_session(terminal: Terminal, small_case: Case, tmp_path: Path) -> None:
    """What a person does in it, one after the other."""
    before = sorted(small_case.path.rglob("*"))
    terminal.shows("faultlayer>")

    terminal.type("SELECT caus")
    terminal.keys("Tab")
    terminal.shows("> SELECT cause")
    terminal.type(" FROM verd")
    terminal.keys("Tab")
    terminal.shows("> SELECT cause FROM verdicts")
    terminal.keys("Enter")
    terminal.shows("\n        ...")
    terminal.type("LIMIT 1;")
    terminal.keys("Enter")
    terminal.shows("model.engine_dead", "1 row")

    terminal.type("SELECT cuase FROM verdicts;")
    terminal.keys("Enter")
    terminal.shows("hint: perhaps cause, because")

    terminal.type("SELECT count(*) FROM range(1_000_000_000_000) t(i) WHERE i % 7 = 3;")
    terminal.keys("Enter")
    terminal.shows("interrupted\nfaultlayer>", press="C-c")

    terminal.type("SELECT half")
    terminal.shows("> SELECT half")
    terminal.keys("C-c")
    terminal.type("SELECT 40 + 2 AS answer;")
    terminal.keys("Enter")
    terminal.shows("answer\n    42\n")

    terminal.type(".schema")
    terminal.keys("Enter")
    terminal.shows("\npaged:of(id)")

    terminal.keys("C-d")
    terminal.shows("ended with 0")
    history = tmp_path / "state" / "faultlayer" / "sql_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "+SELECT cause FROM verdicts\n+LIMIT 1;\n" in history.read_text()
    assert sorted(small_case.path.rglob("*")) == before
