"""How the shell reads, what it remembers, and when it needs a pager."""

import io
import os
import signal
import sys
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from faultlayer.commands import _colours, _history, _pager, _prompt


def typed(keys: str, history: Path | None = None) -> str:
    """Type keys at a prompt and give what it takes them for."""
    with create_pipe_input() as pipe:
        assert isinstance(pipe, PipeInput)
        with create_app_session(input=pipe, output=DummyOutput()):
            read = _prompt.edited(sys.stdout, history, ["count"])
            pipe.send_text(keys)
            return read()


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("SELECT 1;\r", "SELECT 1;"),
        ("SELECT 1\rAS a;\r", "SELECT 1\nAS a;"),
        ("SELECT ';\r';\r", "SELECT ';\n';"),
        (".tables\r", ".tables"),
        ("help\r", "help"),
        ("SELECT 1 AS\rhelp;\r", "SELECT 1 AS\nhelp;"),
        ("\r", ""),
    ],
)
def test_enter_ends_what_is_whole(keys: str, text: str) -> None:
    """Else it begins a further line."""
    assert typed(keys) == text


@pytest.mark.parametrize(
    ("text", "place", "completed"),
    [
        ("descr", 5, "describe"),
        ("SELECT caus FROM verdicts", 11, "SELECT cause FROM verdicts"),
        (".schema verd", 12, ".schema verdicts"),
        ("FROM aro", 8, "FROM around"),
        ("SELECT coun FROM verdicts", 11, "SELECT count FROM verdicts"),
    ],
)
def test_tab_completes(text: str, place: int, completed: str) -> None:
    """What is before the cursor gives way to the word that was meant."""
    document = Document(text, place)
    found = _prompt.completer(["count"]).get_completions(document, CompleteEvent())
    [one] = found
    before = text[: place + one.start_position]
    assert before + one.text + text[place:] == completed


def test_ctrl_c_and_ctrl_d() -> None:
    """Drop what is typed, and end."""
    with pytest.raises(KeyboardInterrupt):
        typed("SELECT\x03")
    with pytest.raises(EOFError):
        typed("\x04")


def test_signals_reach_the_database_afterwards() -> None:
    """Reading a line leaves in place what passes Ctrl-C on to a running query."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        typed("SELECT 1;\r")
        assert signal.set_wakeup_fd(before) == writer
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


def test_history_is_kept(tmp_path: Path) -> None:
    """The next shell has it: the key up brings back what was entered."""
    file = tmp_path / "history"
    typed("SELECT 1\rAS a;\r", file)
    assert typed("\x1b[A\x1b[A\r", file) == "SELECT 1\nAS a;"


class TestHistoryFile:
    """Where it lies, who may read it, and that it does not grow for ever."""

    def test_nobody_else_reads_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """File and folder are the user's alone, also one that was not."""
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        file = _history.path(tmp_path / "case")
        assert file == tmp_path / "state" / "faultlayer" / "sql_history"
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700
        file.chmod(0o644)
        assert _history.path(tmp_path / "case") == file
        assert file.stat().st_mode & 0o777 == 0o600

    def test_the_home_folder_by_default(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As the standard says, and a relative path does not count."""
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XDG_STATE_HOME", "relative")
        wanted = tmp_path / ".local" / "state" / "faultlayer" / "sql_history"
        assert _history.path(tmp_path / "case") == wanted

    def test_never_in_the_case(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing is added to a case, not even on demand; nor where nobody can write."""
        case = tmp_path / "case"
        case.mkdir()
        monkeypatch.setenv("XDG_STATE_HOME", str(case))
        assert _history.path(case) is None
        (tmp_path / "link").symlink_to(case)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "link"))
        assert _history.path(case) is None
        assert list(case.iterdir()) == []
        monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
        assert _history.path(case) is None

    def test_old_entries_go(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of a large file the newer half stays, from the beginning of an entry on."""
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        file = _history.path(tmp_path / "case")
        assert file is not None
        entries = [f"\n# 2026-11-30 14:20:05\n+SELECT {n};\n" for n in range(30_000)]
        file.write_text("".join(entries))
        assert _history.path(tmp_path / "case") == file
        text = file.read_text()
        assert 500_000 < len(text) < 530_000
        assert text.startswith("\n# 2026")
        assert text.endswith(entries[-1])


def test_a_dumb_terminal_reads_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until a statement is whole, with a prompt that answers in a file do not get."""
    lines = iter(["SELECT 1", "AS a;"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    read = _prompt.reader(None, [])
    assert read is _prompt.plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert read() == "SELECT 1\nAS a;"
    assert capsys.readouterr() == ("", _prompt.PROMPT + _prompt.MORE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT 'ä;' -- x\n, 2 AS \"b\"",
        "/* open\n",
        "SELECT $$",
        ".schema a",
        "🎉 'x",
    ],
)
def test_colours_lose_nothing(text: str) -> None:
    """The pieces are the text, whatever it is."""
    lines = _colours.lines(text)
    assert "\n".join("".join(part for _, part in line) for line in lines) == text


def test_texts_have_a_colour() -> None:
    """A text, a number, a keyword and a comment differ."""
    [line] = _colours.lines("SELECT 'a', 1 -- b")
    assert [part for part in line if part[0]] == [
        ("class:keyword", "SELECT "),
        ("class:string_const", "'a'"),
        ("class:numeric_const", "1 "),
        ("class:comment", "-- b"),
    ]


class TestPager:
    """It is for what does not fit, and for a terminal."""

    PAGER = ("sed", "s/^/paged: /")

    def show(self, tmp_path: Path, *texts: str, pager: tuple[str, ...] = PAGER) -> str:
        """Show texts on an invented screen of 10 lines of 20 characters."""
        path = tmp_path / "screen"
        with path.open("w") as file:
            size = os.terminal_size((20, 10))
            paged = _pager.Paged(file, lambda: size, list(pager))
            try:
                for text in texts:
                    paged.write(text)
            finally:
                paged.close()
        return path.read_text()

    def test_what_fits_is_shown_as_it_is(self, tmp_path: Path) -> None:
        """Up to the prompt that comes below, colours not counted."""
        text = "\x1b[1m" + "x" * 20 + "\x1b[0m\n"
        assert self.show(tmp_path, *[text] * 8) == text * 8

    def test_what_does_not_fit_is_paged(self, tmp_path: Path) -> None:
        """Too many lines, or such as are too long for one."""
        assert self.show(tmp_path, "a\n" * 9, "b\n") == "paged: a\n" * 9 + "paged: b\n"
        assert self.show(tmp_path, "x" * 161 + "\n") == "paged: " + "x" * 161 + "\n"
        assert self.show(tmp_path, "x" * 160 + "\n") == "x" * 160 + "\n"

    def test_a_pager_that_is_not_there(self, tmp_path: Path) -> None:
        """Then it scrolls by."""
        text = "a\n" * 50
        assert self.show(tmp_path, text, "b\n", pager=("/no/pager",)) == text + "b\n"

    def test_who_leaves_it_ends_the_answer(self, tmp_path: Path) -> None:
        """Writing on is an error that the shell knows."""
        with pytest.raises(BrokenPipeError):
            self.show(tmp_path, *["a\n" * 1000] * 1000, pager=("true",))

    def test_a_file_is_not_paged(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Where stdout is no terminal there is no pager."""
        with _pager.screen() as screen:
            screen.write("a\n" * 1000)
        assert capsys.readouterr().out == "a\n" * 1000

    @pytest.mark.parametrize(
        ("given", "command"),
        [("less -S", ["less", "-S"]), ("", []), ("cat", []), ("'open", [])],
    )
    def test_the_users_choice(
        self, monkeypatch: pytest.MonkeyPatch, given: str, command: list[str]
    ) -> None:
        """$PAGER counts, also where it says that none is wanted."""
        monkeypatch.setenv("PAGER", given)
        assert _pager.command() == command


def test_is_a_stream() -> None:
    """What draws tables finds what it asks of a terminal."""
    paged = _pager.Paged(io.StringIO(), lambda: os.terminal_size((80, 24)), [])
    assert paged.isatty()
    assert paged.encoding == "utf-8"
