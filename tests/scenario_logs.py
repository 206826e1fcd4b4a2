"""Log files of a scenario, each by its own clock, and the lines that an engine writes."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass
class Log:
    """One log file, written in the order of true time."""

    path: str
    start: datetime
    ahead: float = 0.0
    zone: float = 0.0
    entries: list[tuple[float, int, str, str]] = field(default_factory=list)

    def at(self, t: float, form: str) -> str:
        """Give what this log's clock shows at `t`; `%f` is milliseconds, cut off."""
        micros = round((t + self.ahead) * 1e6)
        moment = self.start + timedelta(hours=self.zone, microseconds=micros)
        return moment.strftime(form.replace("%f", f"{moment.microsecond // 1000:03d}"))

    def put(self, t: float, text: str, mark: str = "") -> None:
        """Write a record of one or more lines."""
        self.entries.append((t, len(self.entries), text, mark))

    def records(self) -> list[tuple[str, str]]:
        """Give (text, mark) in file order."""
        return [(text, mark) for _, _, text, mark in sorted(self.entries)]

    def lines(self, mark: str) -> list[str]:
        """Give `logs/path:line` of the records with this mark."""
        found, line = [], 1
        for text, its in self.records():
            if its == mark:
                found.append(f"logs/{self.path}:{line}")
            line += text.count("\n") + 1
        return found


def name_of(engine: Log | None) -> str:
    """Give the name of an engine: the folder of its log."""
    return engine.path.split("/")[-2] if engine else ""


def vllm(
    log: Log,
    t: float,
    place: str,
    text: str,
    mark: str = "",
    *,
    process: str = "APIServer pid=7",
    level: str = "INFO",
    end: str = "\r\n",
) -> None:
    """Write a vLLM record; each line of it has the prefix."""
    prefix = f"({process}) {level} {log.at(t, '%m-%d %H:%M:%S')} [{place}] "
    log.put(t, end.join(prefix + line for line in text.split("\n")), mark)


def added(log: Log, t: float, rid: str) -> None:
    """Write that an engine took a request."""
    vllm(log, t, "async_llm.py:421", f"Added request chatcmpl-{rid}.")


def dies(log: Log, t: float, error: str, mark: str = "root") -> None:
    """Write the death of a V1 engine: the core's traceback, then its echo."""
    site = "/usr/lib/python3/dist-packages/vllm/v1/engine"
    trace = f'EngineCore encountered a fatal error.\nTraceback (most recent call last):\n  File "{site}/core.py", line 701, in run_engine_core\n    engine_core.run_busy_loop()\n{error}'
    echo = f'AsyncLLM output_handler failed.\nTraceback (most recent call last):\n  File "{site}/async_llm.py", line 433, in output_handler\n    outputs = await engine_core.get_output_async()\nvllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.'
    vllm(
        log,
        t,
        "core.py:710",
        trace,
        mark,
        process="EngineCore_DP0 pid=95",
        level="ERROR",
    )
    vllm(log, t + 0.05, "async_llm.py:480", echo, "echo", level="ERROR")


def ready(log: Log, t: float) -> None:
    """Write that an engine serves (again)."""
    vllm(
        log,
        t,
        "api_server.py:1774",
        "Starting vLLM API server 0 on http://0.0.0.0:8000",
    )
    log.put(t + 0.01, "(APIServer pid=7) INFO:     Application startup complete.")
