"""A headless Chromium that is told what to do over two pipes, without a package for it."""

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COMMAND = shutil.which("chromium") or shutil.which("google-chrome")
"""The program; None where there is none."""

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
_PATIENCE_S = 60.0


class Tab:
    """One page: `events` are all that the browser told of it, in order."""

    def __init__(self, write: int, read: int) -> None:
        self._write = write
        self._read = read
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        opened = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = opened["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and give its result; RuntimeError where the browser refuses."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") != self._number:
                self.events.append(told)
            elif "error" in told:
                raise RuntimeError(f"{method}: {told['error']}")
            else:
                return dict(told["result"])

    def open(self, path: Path) -> None:
        """Go to a file and wait until it is loaded."""
        done = len(self.events)
        self.ask("Page.navigate", url=path.resolve().as_uri())
        while not any(
            one.get("method") == "Page.loadEventFired" for one in self.events[done:]
        ):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """Work out an expression in the page, from outside of its content policy."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(str(told["exceptionDetails"]))
        return told["result"].get("value")

    def size(self, width: int) -> None:
        """Make the page so wide, in CSS pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )

    def told(self, method: str) -> list[dict[str, Any]]:
        """Give the parameters of all events of a method."""
        return [one["params"] for one in self.events if one.get("method") == method]

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE_S
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], until - time.monotonic())
            got = os.read(self._read, 1 << 20) if ready else b""
            if not got:
                raise RuntimeError("the browser says nothing")
            self._rest += got
        first, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(first))


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """Start a browser with an empty profile, give its tab, and end it."""
    assert COMMAND is not None
    to_browser, write = os.pipe()
    read, from_browser = os.pipe()

    def place() -> None:  # the browser reads from 3 and writes to 4
        ours = os.dup(to_browser), os.dup(from_browser)
        os.dup2(ours[0], 3)
        os.dup2(ours[1], 4)

    process = subprocess.Popen(
        [COMMAND, *_FLAGS, f"--user-data-dir={profile}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=place,  # noqa: PLW1509 - no thread of ours runs yet
        close_fds=False,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Tab(write, read)
    finally:
        os.close(write)
        os.close(read)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
