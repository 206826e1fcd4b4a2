"""Build small incidents for the tests: a few lines of logs, and what is true about them.

A scenario is a function that takes an empty `Scenario` and fills it. Times are true
seconds since its start by the clock of nginx; each log has a clock of its own.
`python tests/scenario_builder.py DIR` writes all of them, to look at.
"""

import gzip
import importlib
import inspect
import json
import random
import sys
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.scenario_logs import Log, added, name_of, vllm

CHAT = "POST /v1/chat/completions HTTP/1.1"
NEVER = ("-", "-", "-")
REFUSED = ("-", "-", "0.000")
ACCESS_KINDS = {
    "plain": 'rt={rt} uct="{uct}" uht="{uht}" urt="{urt}" req_id={id} quota_used={quota}',
    "bare": "rt={rt} uct={uct} uht={uht} urt={urt} req_id={id} quota_used={quota}",
    "quoted": 'rt={rt} uct="{uct}" uht="{uht}" urt="{urt}" req_id="{id}" quota_used="{quota}"',
}


class Scenario:
    """The logs of an incident and its truth."""

    def __init__(self, name: str, day: str, **style: str) -> None:
        self.name, self.start = name, datetime.fromisoformat(day)
        self.dice = random.Random(name)
        self.style = {
            "access": "plain",
            "id": "request_id",
            "order": "given",
            "gap": " ",
        } | style
        self.logs: dict[str, Log] = {}
        self.after: list[Callable[[Path], None]] = []
        self.truth: list[dict[str, Any]] = []
        self.access = self.log("edge/access.log")
        self.errors = self.log("edge/error.log")
        self.app = self.log("gateway/app.log")

    # ---------------------------------------------------------------- logs
    def log(self, path: str, *, ahead: float = 0.0, zone: float = 0.0) -> Log:
        """Open a log; `ahead` and `zone` are what is wrong with its clock."""
        self.logs[path] = Log(path, self.start, ahead, zone)
        return self.logs[path]

    def engine(self, name: str, *, ahead: float = 0.0, zone: float = 0.0) -> Log:
        """Open the log of an engine."""
        return self.log(f"engines/{name}/vllm.log", ahead=ahead, zone=zone)

    def file(self, path: str, text: str) -> None:
        """Add a file that has no clock, such as a configuration."""
        self.log(path).put(0, text.rstrip("\n"))

    def id(self) -> str:
        """Give a new request id."""
        return str(uuid.UUID(int=self.dice.getrandbits(128), version=4))

    def say(
        self,
        t: float,
        level: str,
        name: str,
        words: str,
        *,
        mark: str = "",
        **pairs: Any,
    ) -> None:
        """Write a line of the gateway's application log, in the scenario's style."""
        log = self.app
        items = [
            (self.style["id"] if key == "id" else key, value)
            for key, value in pairs.items()
        ]
        if self.style["order"] == "shuffled":
            self.dice.shuffle(items)
        if self.style["order"] == "reversed":
            items.reverse()
        tail = "".join(f"{self.style['gap']}{key}={value}" for key, value in items)
        log.put(
            t,
            f"[{level}] [{log.at(t, '%Y-%m-%d %H:%M:%S,%f')}] {name}: {words}{tail}",
            mark,
        )

    def line(self, end: float, rt: float, status: int, up: Sequence[str], rid: str, *, client: str = "192.0.2.10",
             request: str = CHAT, quota: str = "-", size: int = 143, agent: str = "okhttp/5.3.2") -> None:  # fmt: skip
        """Write an access line; `end` is when the exchange was over."""
        uct, uht, urt = up
        tail = ACCESS_KINDS[self.style["access"]].format(
            rt=f"{rt:.3f}", uct=uct, uht=uht, urt=urt, id=rid, quota=quota
        )
        stamp = self.access.at(end, "%d/%b/%Y:%H:%M:%S +0000")
        self.access.put(
            end,
            f'{client} - - [{stamp}] "{request}" {status} {size} "-" "{agent}" {tail}',
        )

    def error(self, t: float, what: str, *, client: str = "192.0.2.10", upstream: str = "", level: str = "error",
              request: str = CHAT, mark: str = "") -> None:  # fmt: skip
        """Write a line of nginx's error log."""
        path = request.split()[1]
        peer = f', upstream: "http://{upstream}{path}"' if upstream else ""
        self.errors.put(
            t,
            f"{self.errors.at(t, '%Y/%m/%d %H:%M:%S')} [{level}] 18#18: *{700 + int(t * 9)} {what}, client: {client}, "
            f'server: api.example.org, request: "{request}"{peer}, host: "api.example.org"',
            mark,
        )

    # ---------------------------------------------------------------- exchanges
    def accept(
        self, t: float, rid: str, user: str = "ana", engine: str = "", **more: Any
    ) -> None:
        """Write that the gateway took a request, and where it sent it."""
        self.say(
            t + 0.003,
            "INFO",
            "harness.server",
            "request accepted",
            id=rid,
            user=user,
            model="kestrel-9b",
            **more,
        )
        if engine:
            self.say(
                t + 0.007, "INFO", "harness.router", "forward", id=rid, engine=engine
            )

    def served(self, t: float, took: float, *, engine: Log | None = None, rid: str = "", user: str = "ana",
               client: str = "192.0.2.10", attempt: int | None = None, model_id: str = "", quota: str = "7.70") -> str:  # fmt: skip
        """Serve a request; gives its id."""
        rid = rid or self.id()
        self.accept(t, rid, user, name_of(engine))
        if engine:
            added(engine, t + 0.011, model_id or rid)
        self.say(
            t + took - 0.004,
            "INFO",
            "harness.server",
            "request completed",
            id=rid,
            status=200,
            prompt_tokens=44,
            completion_tokens=90,
        )
        self.line(
            t + took,
            took,
            200,
            ("0.001", f"{took - 0.006:.3f}", f"{took - 0.005:.3f}"),
            rid,
            client=client,
            quota=quota,
            size=1930,
        )
        self.fine(rid, attempt)
        return rid

    def traffic(self, engine: Log, since: float, until: float, count: int) -> None:
        """Serve some requests, so that the clocks can be tied."""
        step = (until - since) / count
        for n in range(count):
            self.served(
                since + n * step + self.dice.random() * step / 2,
                0.3 + self.dice.random() * 0.5,
                engine=engine,
            )

    def refused(self, t: float, status: int, name: str = "", words: str = "", *, level: str = "WARNING", rid: str = "",
                user: str = "ana", client: str = "192.0.2.10", up: Sequence[str] = NEVER, took: float = 0.011,
                accepted: bool = True, mark: str = "", **pairs: Any) -> str:  # fmt: skip
        """Refuse a request before it is forwarded; without `words` it leaves no record."""
        rid = rid or self.id()
        if accepted:
            self.accept(t, rid, user)
        if words:
            self.say(
                t + took - 0.003,
                level,
                name,
                words,
                mark=mark,
                id=rid,
                **pairs,
                status=status,
            )
        self.line(t + took, took, status, up, rid, client=client)
        return rid

    def turned_away(self, t: float, upstream: str, *, engine: str = "", rid: str = "", user: str = "ana",
                    client: str = "192.0.2.10", request: str = CHAT, accepted: bool = True) -> str:  # fmt: skip
        """Let the engine's port refuse the connection: 502."""
        rid = rid or self.id()
        if accepted:
            self.accept(t, rid, user, engine)
        self.error(
            t + 0.009,
            "connect() failed (111: Connection refused) while connecting to upstream",
            client=client,
            upstream=upstream,
            request=request,
        )
        self.line(t + 0.009, 0.009, 502, REFUSED, rid, client=client, request=request)
        return rid

    def broken_off(self, t: float, end: float, engine: Log, *, rid: str = "", user: str = "ana", client: str = "192.0.2.10",
                   own: str = "failed (engine dead).", status: int = 500) -> str:  # fmt: skip
        """Let a request be on an engine when it dies at about `end`."""
        rid = rid or self.id()
        self.accept(t, rid, user, name_of(engine))
        added(engine, t + 0.011, rid)
        if own:
            vllm(engine, end, "async_llm.py:521", f"Request chatcmpl-{rid} {own}")
        rt = end + 0.006 - t
        self.line(
            end + 0.006,
            rt,
            status,
            ("0.000", f"{rt - 0.004:.3f}", f"{rt - 0.003:.3f}"),
            rid,
            client=client,
        )
        return rid

    # ---------------------------------------------------------------- truth
    def failed(
        self,
        rid: str | None,
        cause: str,
        strength: str = "",
        *,
        attempt: int = 1,
        **more: Any,
    ) -> None:
        """State that an attempt failed, and why."""
        line: dict[str, Any] = {
            "request_id": rid,
            "attempt": attempt,
            "layer": cause.partition(".")[0],
            "cause": cause,
        }
        if strength:
            line["strength"] = strength
        self.truth.append(line | more)

    def fine(self, rid: str, attempt: int | None = None) -> None:
        """State that an attempt did not fail."""
        number = {} if attempt is None else {"attempt": attempt}
        self.truth.append({"request_id": rid, **number, "failed": False})

    def condition(
        self, cause: str, log: Log, mark: str, scope: str = "", also: Sequence[str] = ()
    ) -> None:
        """State a root condition and the line that shows it."""
        root, *rest = log.lines(mark)
        line: dict[str, Any] = {
            "condition": cause,
            "layer": cause.partition(".")[0],
            "root": root,
            "also": [*rest, *also],
        }
        self.truth.append(line | ({"scope": scope} if scope else {}))

    def never(self, *causes: str) -> None:
        """State root conditions that must not be found."""
        self.truth += [{"not_condition": cause} for cause in causes]

    def clock(self, log: Log, tolerance: float) -> None:
        """State that the clock of a log must be found out."""
        clock: dict[str, Any] = {
            "source": f"logs/{log.path}",
            "offset_s": log.ahead,
            "tolerance_s": tolerance,
        }
        self.truth.append(
            {"clock": clock | ({"time_zone_s": log.zone * 3600} if log.zone else {})}
        )

    def write(self, folder: Path) -> None:
        """Write the logs below `folder/logs` and the truth beside them."""
        for log in self.logs.values():
            if log.entries:
                target = folder / "logs" / log.path
                target.parent.mkdir(parents=True, exist_ok=True)
                text = "".join(f"{text}\n" for text, _ in log.records())
                target.write_bytes(
                    gzip.compress(text.encode(), mtime=0)
                    if target.suffix == ".gz"
                    else text.encode()
                )
        for change in self.after:
            change(folder / "logs")
        failed = sum("cause" in line for line in self.truth)
        lines = [*self.truth, {"expect_verdicts": failed}]
        (folder / "truth.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines)
        )


def scenarios() -> dict[str, Callable[[], Scenario]]:
    """Give every scenario of tests/scenarios/ by its name."""
    found: dict[str, Callable[[], Scenario]] = {}
    for path in sorted((Path(__file__).parent / "scenarios").glob("*.py")):
        module = importlib.import_module(f"tests.scenarios.{path.stem}")
        found |= {
            name: thing
            for name, thing in vars(module).items()
            if inspect.isfunction(thing)
            and thing.__module__ == module.__name__
            and not name.startswith("_")
        }
    return found


if __name__ == "__main__":
    for name, scenario in scenarios().items():
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        scenario().write(folder)
        (folder / "README.md").write_text(f"# {name}\n\n{scenario.__doc__}\n")
