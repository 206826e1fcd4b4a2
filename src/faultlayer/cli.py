"""The command line: names and help of all commands, and how every run ends.

Imports click only, so that `--help` is there at once; a command's module is loaded when
it runs.
"""

import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType

import click

from faultlayer import __version__
from faultlayer.errors import FaultlayerError

COMMANDS = {
    "analyze": ("Read logs, find out what failed and why, write a case.", "analyze"),
    "report": ("Print the whole report of a case.", "report"),
    "query": ("Run a saved investigation, or list them.", "query"),
    "sql": ("Ask a case with SQL.", "sql"),
    "trace": ("Follow one request through every layer.", "trace"),
    "explain": ("Say why a request got its verdict.", "explain"),
    "check": ("Go through the layers in order: pass, fail, no evidence.", "check"),
    "diff": ("Say what rose and fell between two cases or windows.", "diff"),
    "formats": ("List, show, test and explain log formats.", "formats"),
    "rules": ("List, show and test the rules behind verdicts.", "rules"),
    "redact": (
        "Write a case anew without names, ids, addresses and prompts.",
        "redact",
    ),
    "verify": ("Check that a case is whole and unchanged.", "verify"),
    "simulate": ("Write the logs of an invented day, with its truth.", "simulate"),
}
"""Help and module of each command, in the order in which `--help` lists them."""

# For polars and pyarrow, which read them when they are imported. Blocks follow each
# other within seconds: memory that goes back to the system in between, or to another
# thread's arena, has to be mapped and cleared anew. And its own threads cost more
# than they gain on one block (12 % of the CPU time, nothing of the wall time): files
# are read side by side.
_SETTINGS = {
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:10000,muzzy_decay_ms:10000,narenas:1,oversize_threshold:0",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "POLARS_MAX_THREADS": str(max(1, (os.cpu_count() or 1) // 2)),
}
# Much is made and dropped in every block, and next to nothing of it in a circle: the
# collector need not look as often as Python has it.
_OBJECTS = 50_000
_UNREADABLE = 6
_INTERRUPTED = 130
_TERMINATED = 143


class _ReaderGoneError(Exception):
    """Whoever read our output has seen enough, as `head` does."""


class _InterruptedError(Exception):
    """Ctrl-C; as an error of ours, since click prints an empty line for its own."""


class _EnvironmentError(Exception):
    """The system refuses: a full disk, a file without permission."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Give the names without loading anything."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"faultlayer.commands.{COMMANDS[cmd_name][1]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was asked for, or name the one that was meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], list(COMMANDS), 1)
            if not near:
                raise
            said = f"{error.message} Did you mean {near[0]}?"
            raise click.UsageError(said, ctx) from error

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; click would end these in its own way."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error
        except (KeyboardInterrupt, click.Abort) as error:
            raise _InterruptedError from error
        except OSError as error:
            if error.errno is None:
                raise
            where = f"{error.filename}: " if error.filename else ""
            raise _EnvironmentError(f"{where}{error.strerror}") from error

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of commands from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (text, _) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with: faultlayer analyze LOGS",
)
@click.version_option(__version__, message="faultlayer %(version)s")
def group() -> None:
    """Tell which layer failed an LLM request: model, harness or quota."""


def run(arguments: Sequence[str]) -> int:
    """Run a command line and give the exit code; bad input never shows a traceback."""
    try:
        code = group.main(
            list(arguments), prog_name="faultlayer", standalone_mode=False
        )
    except FaultlayerError as error:
        from faultlayer.commands._say import say

        say(error)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except _EnvironmentError as error:
        from faultlayer.masking import safe

        click.echo(f"faultlayer: {safe(str(error))}", err=True)
        return _UNREADABLE
    except _ReaderGoneError:
        # Nothing more can be written, not even by the interpreter on its way out.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if not _is_interrupt(error):
            raise
        # A terminal has shown ^C in the line that it is in.
        click.echo("\n" * sys.stderr.isatty() + "faultlayer: interrupted", err=True)
        return _INTERRUPTED
    return code if isinstance(code, int) else 0


def _is_interrupt(error: BaseException) -> bool:
    # DuckDB has two of its own, and this module does not import it to know them.
    named = type(error).__name__ == "InterruptException"
    return (
        named
        or isinstance(error, _InterruptedError | click.Abort)
        or (isinstance(error, RuntimeError) and "Query interrupted" in str(error))
    )


def _watch() -> None:
    """Pass signals on to DuckDB, which runs statements without looking for them."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def pass_on() -> None:
        while os.read(reader, 1):
            database = sys.modules.get("faultlayer.database")
            if database is not None:
                database.interrupt()

    threading.Thread(target=pass_on, daemon=True).start()


def _terminate(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    # As an exception, so that a half-written case is removed on the way out.
    raise SystemExit(_TERMINATED)


def main() -> None:
    """Run the command line of this process."""
    signal.signal(signal.SIGTERM, _terminate)
    _watch()
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(_OBJECTS)
    sys.exit(run(sys.argv[1:]))
