"""The gateway's log in the styles of other loggers: the same records, the same verdicts."""

# ruff: noqa: D401  a scenario is told, not ordered

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.scenario_builder import Scenario

_HEAD = re.compile(r"\[(\w+)\] \[(\S+) (\S+),(\d{3})\] (\S+): (.*)", re.DOTALL)
_PAIR = re.compile(r' ([A-Za-z_]\w*)=("[^"]*"|\S+)')


def _story(name: str, day: str) -> Scenario:
    """Two refusals and a plugin's failure, each with a record of its own."""
    s = Scenario(name, day)
    s.traffic(s.engine("main"), 1, 20, 6)
    quota = s.refused(
        22.0, 429, "harness.quota", "QuotaExceeded: quota insufficient", user="ivo"
    )
    burst = s.refused(24.0, 429, "harness.quota", "burst limit hit", user="eva")
    plugin = s.refused(26.0, 503, "harness.pipeline", "plugin_failed", plugin="memory")
    s.failed(quota, "quota.exceeded", "proven")
    s.failed(burst, "quota.burst_limit", "proven")
    s.failed(plugin, "harness.plugin_failed", "proven")
    return s


def _restyled(s: Scenario, style: Callable[..., str]) -> Scenario:
    """Write the gateway's log anew: level, date, time, logger, words, pairs."""

    def rewrite(logs: Path) -> None:
        path = logs / "gateway/app.log"
        found = []
        for line in path.read_text("utf-8").splitlines():
            match = _HEAD.match(line)
            assert match, line
            level, date, time, fraction, logger, rest = match.groups()
            pairs = {key: value.strip('"') for key, value in _PAIR.findall(rest)}
            words = _PAIR.sub("", rest).strip()
            found.append(style(level, date, f"{time}.{fraction}", logger, words, pairs))
        path.write_text("\n".join(found) + "\n", "utf-8")

    s.after.append(rewrite)
    return s


def in_structlog_json() -> Scenario:
    """The JSON of structlog: the message is `event`, all else a field of its own."""

    def style(
        level: str, date: str, time: str, logger: str, words: str, pairs: dict[str, str]
    ) -> str:
        stamp = {"level": level.lower(), "timestamp": f"{date}T{time}000Z"}
        return json.dumps({**pairs, "event": words, "logger": logger, **stamp})

    return _restyled(_story("in_structlog_json", "2026-11-06T06:00:00"), style)


def in_slog_text() -> Scenario:
    """Go's slog as text: every record is pairs, the message one of them."""

    def style(
        level: str, date: str, time: str, logger: str, words: str, pairs: dict[str, str]
    ) -> str:
        more = "".join(f" {key}={json.dumps(one)}" for key, one in pairs.items())
        short = level.replace("WARNING", "WARN")
        head = f"time={date}T{time}Z level={short} msg={json.dumps(words)}"
        return f"{head} logger={logger}{more}"

    return _restyled(_story("in_slog_text", "2026-11-07T06:00:00"), style)


def in_spring_boot() -> Scenario:
    """Spring Boot's console: thread and a padded logger before the message."""

    def style(
        level: str, date: str, time: str, logger: str, words: str, pairs: dict[str, str]
    ) -> str:
        more = "".join(f" {key}={one}" for key, one in pairs.items())
        short = level.replace("WARNING", "WARN")
        return f"{date} {time} {short:>5} 1 --- [exec-4] {logger:40} : {words}{more}"

    return _restyled(_story("in_spring_boot", "2026-11-08T06:00:00"), style)
