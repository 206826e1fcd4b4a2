"""Clocks, log files, and the shapes of the lines that each program writes.

True time is seconds since the start of the scenario, by the clock of nginx.
"""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

CHAT = "POST /v1/chat/completions HTTP/1.1"


@dataclass(frozen=True)
class Clock:
    """What a program's clock shows: ahead by `ahead_s`, in zone UTC+`zone_h`."""

    start: datetime
    ahead_s: float = 0.0
    zone_h: int = 0

    def at(self, t: float, form: str) -> str:
        """Format true time `t`; `%f` gives milliseconds, cut off, never rounded."""
        micros = round((t + self.ahead_s) * 1e6)
        moment = self.start + timedelta(hours=self.zone_h, microseconds=micros)
        return moment.strftime(form.replace("%f", f"{moment.microsecond // 1000:03d}"))


@dataclass
class Log:
    """One log file; lines stand in the order in which they were written."""

    path: str
    clock: Clock
    first_seq: int = 0  # where a ledger starts to number its entries
    entries: list[tuple[float, int, str, str]] = field(default_factory=list)

    def write(self, t: float, text: str, mark: str = "") -> None:
        """Add a record of one or more lines, written at true time `t`."""
        self.entries.append((t, len(self.entries), text, mark))

    def text(self, since: float = float("-inf"), to: float = float("inf")) -> str:
        """Give the file, or what was written to it in [since, to)."""
        texts = [text for t, _, text, _ in sorted(self.entries) if since <= t < to]
        if self.first_seq:
            texts = [
                f'{{"seq": {n}, {text[1:]}'
                for n, text in enumerate(texts, self.first_seq)
            ]
        return "".join(f"{text}\n" for text in texts)

    def lines(self, mark: str) -> list[str]:
        """Give `logs/path:line` of every record with this mark, in file order."""
        found, line = [], 1
        for _, _, text, its in sorted(self.entries):
            if its == mark:
                found.append(f"logs/{self.path}:{line}")
            line += text.count("\n") + 1
        return found


@dataclass(frozen=True)
class User:
    """Somebody who sends requests, and whose quota they use."""

    name: str
    project: str
    tenant: str
    client: str
    agent: str
    retries: int = 0


@dataclass
class Request:
    """One attempt; `seconds` is how long it takes when nothing goes wrong."""

    start: float
    user: User
    seconds: float
    request_id: str
    stream: bool = False
    plugin: str = ""
    prompt: int = 300
    completion: int = 120
    engine: str = ""
    hangs_up_after: float = 0.0
    tries: int = 1


@dataclass
class Engine:
    """An engine, and its death if it has one (times in true seconds)."""

    name: str
    address: str
    log: Log | None
    dies: float = float("inf")
    closes: float = float("inf")
    ready: float = float("-inf")
    cause: str = ""

    def down(self, t: float) -> bool:
        """Tell whether it is dead or loading at `t`."""
        return self.dies <= t < self.ready


@dataclass
class Rules:
    """Limits and outages of the harness."""

    max_concurrent: int = 64
    burst_limit: int = 100
    pools: dict[str, tuple[float, float]] = field(default_factory=dict)
    outages: list[tuple[str, float, float]] = field(default_factory=list)
    unlogged: float = 0.0  # share of refusals that leave no record of their own


GATEWAY_TRACE = """Traceback (most recent call last):
  File "/opt/harness/lib/python3.12/site-packages/harness/server.py", line 212, in relay
    response.raise_for_status()
    ~~~~~~~~~~~~~~~~~~~~~~~~~^^
  File "/opt/harness/lib/python3.12/site-packages/httpx/_models.py", line 829, in raise_for_status
    raise HTTPStatusError(message, request=request, response=self)
httpx.HTTPStatusError: Server error '500 Internal Server Error' for url 'http://engine/v1/chat/completions'"""


def model_line(
    log: Log | None,
    t: float,
    place: str,
    text: str,
    *,
    process: str = "APIServer pid=1",
    level: str = "INFO",
    mark: str = "",
) -> None:
    """Write a vLLM record; every line repeats the prefix, all but the last end in CR LF."""
    if log is None:
        return
    prefix = f"({process}) {level} {log.clock.at(t, '%m-%d %H:%M:%S')} [{place}] "
    log.write(t, "\r\n".join(prefix + line for line in text.split("\n")), mark)


def uvicorn(log: Log | None, t: float, status: str, source: random.Random) -> None:
    """Write an access line of the engine: it has neither time nor id."""
    if log is not None:
        port = source.randint(33_000, 60_000)
        log.write(
            t, f'(APIServer pid=1) INFO:     172.20.8.9:{port} - "{CHAT}" {status}'
        )
