"""The same stories in damaged, wrapped and rotated files."""

# ruff: noqa: D401  a scenario is told, not ordered

import gzip
import json
from pathlib import Path

from tests.scenario_builder import Scenario
from tests.scenario_logs import dies


def _story(name: str, day: str) -> Scenario:
    """A quota refusal and an engine's death, to be found whatever happens to the files."""
    s = Scenario(name, day)
    main = s.engine("main")
    s.traffic(main, 1, 20, 8)
    refused = s.refused(
        22.0, 429, "harness.quota", "QuotaExceeded: quota insufficient", user="ivo"
    )
    victim = s.broken_off(25.0, 27.3, main)
    dies(main, 27.2, "RuntimeError: Executor failed.")
    s.failed(refused, "quota.exceeded", "proven")
    s.failed(victim, "model.engine_dead", "proven")
    s.condition("model.engine_dead", main, "root", also=main.lines("echo"))
    return s


def crlf_and_bom() -> Scenario:
    """Every file went through Windows: a BOM in front, CR LF at the ends."""
    s = _story("crlf_and_bom", "2026-11-02T06:00:00")

    def convert(logs: Path) -> None:
        for path in logs.rglob("*.log"):
            data = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            path.write_bytes(b"\xef\xbb\xbf" + data)

    s.after.append(convert)
    return s


def damaged_bytes() -> Scenario:
    """A Latin-1 name, a run of NULs after a power cut, a last line without its end."""
    s = _story("damaged_bytes", "2026-11-03T06:00:00")
    s.say(23.0, "INFO", "harness.audit", "login ok name=J@rgen")

    def damage(logs: Path) -> None:
        app = logs / "gateway/app.log"
        app.write_bytes(
            app.read_bytes().replace(b"J@rgen", b"J\xfcrgen") + b"\x00" * 700
        )
        engine = logs / "engines/main/vllm.log"
        engine.write_bytes(engine.read_bytes() + b"(APIServer pid=7) INFO 11-03 06:0")

    s.after.append(damage)
    return s


def docker_and_cri() -> Scenario:
    """The engine's stdout in Docker's json-file, the gateway's in CRI with a split line."""
    s = _story("docker_and_cri", "2026-11-04T06:00:00")
    s.truth = [line for line in s.truth if "condition" not in line]
    main = s.logs["engines/main/vllm.log"]
    times = [t for t, *_ in sorted(main.entries)]
    wrapped = s.log("docker/9c41e07b2d55/9c41e07b2d55-json.log")
    for t, (text, mark) in zip(times, main.records(), strict=True):
        for n, line in enumerate(text.split("\n")):
            entry = {
                "log": line + "\n",
                "stream": "stderr" if mark else "stdout",
                "time": wrapped.at(t, "%Y-%m-%dT%H:%M:%S.%f") + "004Z",
            }
            wrapped.put(
                t, json.dumps(entry, separators=(",", ":")), mark if n == 0 else ""
            )
    main.entries.clear()
    app_times = [t for t, *_ in sorted(s.app.entries)]
    pod = s.log("pods/prod_gateway-7f_2c8e/gateway/0.log")
    for t, (whole, _) in zip(app_times, s.app.records(), strict=True):
        stamp = pod.at(t + 0.0005, "%Y-%m-%dT%H:%M:%S.%f") + "731942+00:00"
        cut = 70 if "QuotaExceeded" in whole else 0
        if cut:
            pod.put(t, f"{stamp} stdout P {whole[:cut]}")
        pod.put(t, f"{stamp} stdout F {whole[cut:]}")
    s.app.entries.clear()
    s.condition("model.engine_dead", wrapped, "root", also=wrapped.lines("echo"))
    return s


def rotated() -> Scenario:
    """The access log in three pieces, the oldest compressed, the failures in the old ones."""
    s = _story("rotated", "2026-11-05T06:00:00")
    s.traffic(s.logs["engines/main/vllm.log"], 0.2, 0.9, 1)

    def split(logs: Path) -> None:
        path = logs / "edge/access.log"
        lines = path.read_bytes().splitlines(keepends=True)
        (logs / "edge/access.log.2.gz").write_bytes(
            gzip.compress(b"".join(lines[:4]), mtime=0)
        )
        (logs / "edge/access.log.1").write_bytes(b"".join(lines[4:-1]))
        path.write_bytes(lines[-1])

    s.after.append(split)
    return s
