"""A simulated serving stack: what becomes of each request, and who logs it.

The stack decides the outcome of a request by its rules (limits, pools, outages,
deaths), lets the programs write their lines, and keeps the cause as the truth.
"""

import heapq
import json
import random
import uuid
from collections.abc import Iterable
from datetime import datetime

from programs import (
    CHAT,
    GATEWAY_TRACE,
    Clock,
    Engine,
    Log,
    Request,
    Rules,
    model_line,
    uvicorn,
)

BUSY = "The model is busy, please try again later."
PARAMS_B = 14
RESERVED = 60.0


class Stack:
    """nginx before a harness before engines, with a quota service beside them."""

    def __init__(self, seed: int, day: datetime, model: str, rules: Rules) -> None:
        self.random = random.Random(seed)
        self.rules, self.model = rules, model
        true = Clock(day)
        quota = Clock(day, ahead_s=-1.4)
        self.access = Log("nginx/harness_access.log", true)
        self.errors = Log("nginx/error.log", true)
        self.harness = Log("harness/harness.log", Clock(day, ahead_s=2.7))
        self.ledger = Log("quota/ledger.jsonl", quota, first_seq=40_101)
        self.balance = Log("quota/balance.jsonl", quota)
        self.engines: dict[str, Engine] = {}
        self.truth: list[tuple[float, dict[str, object]]] = []
        self.booked: list[tuple[float, str, float]] = []
        self.flights: list[tuple[float, float, str]] = []
        self.arrived: dict[str, list[float]] = {}
        self.attempts: dict[str, int] = {}

    # ---------------------------------------------------------------- parts
    def new_id(self) -> str:
        """Give a request id: most clients send a uuid, one SDK its own kind."""
        bits = self.random.getrandbits(128)
        if self.random.random() < 0.3:
            return f"sdk_{bits:032x}"[:26]
        return str(uuid.UUID(int=bits, version=4))

    def ms(self) -> float:
        """Give a delay of some milliseconds, in seconds."""
        return self.random.uniform(0.001, 0.004)

    def say(
        self, t: float, level: str, name: str, message: str, mark: str = ""
    ) -> None:
        """Write a line of the harness's application log."""
        stamp = self.harness.clock.at(t, "%Y-%m-%d %H:%M:%S,%f")
        self.harness.write(t, f"[{level}] [{stamp}] {name}: {message}", mark)

    def answer(
        self,
        r: Request,
        end: float,
        status: int,
        size: int,
        up: str,
        *,
        used: str = "-",
    ) -> None:
        """Write the access line; nginx stamps the end of the exchange."""
        stamp = self.access.clock.at(end, "%d/%b/%Y:%H:%M:%S +0000")
        self.access.write(
            end,
            f'{r.user.client} - - [{stamp}] "{CHAT}" {status} {size} "-" "{r.user.agent}"'
            f" rt={end - r.start:.3f} {up} req_id={r.request_id} quota_used={used}",
        )

    def complain(
        self, t: float, level: str, what: str, r: Request, upstream: str
    ) -> None:
        """Write a line of nginx's error log."""
        stamp = self.errors.clock.at(t, "%Y/%m/%d %H:%M:%S")
        number = 51_000 + int(t * 7)
        self.errors.write(
            t,
            f"{stamp} [{level}] 22#22: *{number} {what}, client: {r.user.client}, "
            f'server: llm.example.net, request: "{CHAT}", '
            f'upstream: "http://{upstream}/v1/chat/completions", host: "llm.example.net"',
        )

    def book(
        self, t: float, event: str, r: Request, amount: float, **more: object
    ) -> None:
        """Write a ledger entry and move the pools."""
        entry = {
            "ts": self.ledger.clock.at(t, "%Y-%m-%dT%H:%M:%S.%fZ"),
            "event": event,
            "request_id": r.request_id,
            "user": r.user.name,
            "project": r.user.project,
            "tenant": r.user.tenant,
            "amount": round(amount, 3),
            "unit": "gpu_second",
        }
        self.ledger.write(
            t, json.dumps(entry | more), "deny" if event == "deny" else ""
        )
        if event == "reserve":
            self.booked.append((t, r.user.project, amount))
        elif event in ("charge", "release"):
            kept = amount if event == "charge" else 0.0
            self.booked.append((t, r.user.project, kept - RESERVED))

    def charge(self, r: Request, t: float) -> float:
        """Charge a served attempt; gives the GPU seconds."""
        seconds = round(r.seconds, 3)
        self.book(t, "charge", r, PARAMS_B * seconds, seconds=seconds, params_b=PARAMS_B, gpus=1, coef=1.0,
                  prompt_tokens=r.prompt, completion_tokens=r.completion)  # fmt: skip
        return PARAMS_B * seconds

    def used(self, project: str, t: float) -> float:
        """Give what a project's pool has used or holds at `t`."""
        base = self.rules.pools[project][1]
        return base + sum(a for when, p, a in self.booked if p == project and when <= t)

    def in_flight(self, t: float, engine: str = "") -> int:
        """Count the requests that are being served at `t`."""
        return sum(s <= t < e and engine in ("", n) for s, e, n in self.flights)

    def note(
        self, r: Request, cause: str = "", strength: str = "", **more: object
    ) -> None:
        """Keep the truth about an attempt."""
        self.attempts[r.request_id] = number = self.attempts.get(r.request_id, 0) + 1
        line: dict[str, object] = {"request_id": r.request_id, "attempt": number}
        if cause:
            layer = cause.partition(".")[0]
            line |= {"layer": layer, "cause": cause}
            line |= {"strength": strength} if strength else {}
        else:
            line["failed"] = False
        self.truth.append((r.start, line | more))

    # ---------------------------------------------------------------- outcomes
    def run(self, requests: Iterable[Request]) -> None:
        """Take the requests in order of arrival; failed ones may come again."""
        queue = [(r.start, i, r) for i, r in enumerate(requests)]
        heapq.heapify(queue)
        serial = len(queue)
        while queue:
            r = heapq.heappop(queue)[2]
            again = self.take(r)
            if again and r.tries <= r.user.retries:
                serial += 1
                later = Request(**{**vars(r), "start": again, "tries": r.tries + 1})
                heapq.heappush(queue, (again, serial, later))

    def take(self, r: Request) -> float:
        """Decide about one attempt; gives the time of a retry, or 0."""
        t = r.start + self.ms()
        plugin = f" plugins={r.plugin}" if r.plugin else ""
        self.say(
            t, "INFO", "harness.server",
            f"request accepted request_id={r.request_id} user={r.user.name} project={r.user.project} "
            f"model={self.model} stream={str(r.stream).lower()}{plugin}",
        )  # fmt: skip
        arrivals = self.arrived.setdefault(r.user.name, [])
        arrivals.append(r.start)
        recent = sum(r.start - 5 < a for a in arrivals)
        if recent > self.rules.burst_limit:
            record = (
                f"burst limit hit request_id={r.request_id} user={r.user.name} requests={recent}"
                f" window_s=5 burst_limit={self.rules.burst_limit} status=429 Retry-After: 60"
            )
            return self.refuse(r, 429, "quota.burst_limit", "harness.limiter", record)
        running = self.in_flight(r.start)
        if running >= self.rules.max_concurrent:
            record = (
                f"request rejected request_id={r.request_id} reason=concurrency in_flight={running}"
                f" max_concurrent_requests={self.rules.max_concurrent} status=429"
            )
            return self.refuse(
                r, 429, "harness.concurrency_limit", "harness.limiter", record
            )
        pool = self.rules.pools.get(r.user.project)
        if pool and self.used(r.user.project, t) + RESERVED > pool[0]:
            self.book(
                t + 0.001,
                "deny",
                r,
                RESERVED,
                code="QuotaExceeded",
                message="quota insufficient",
            )
            record = f"quota insufficient request_id={r.request_id} user={r.user.name} status=429"
            return self.refuse(
                r, 429, "quota.exceeded", "harness.quota", record, own=True
            )
        for dependency, since, until in self.rules.outages:
            if r.plugin and since <= r.start < until:
                record = (
                    f"plugin_failed request_id={r.request_id} plugin={r.plugin} dependency={dependency}"
                    f' error="ConnectTimeout" status=503'
                )
                return self.refuse(
                    r, 503, "harness.plugin_failed", "harness.pipeline", record
                )
        if r.prompt > 32_768:
            record = f"input too long request_id={r.request_id} tokens={r.prompt} max_context=32768 status=400"
            return self.refuse(
                r,
                400,
                "harness.context_overflow",
                "harness.preprocess",
                record,
                own=True,
            )
        self.book(t + 0.001, "reserve", r, RESERVED)
        self.say(
            t + 0.004,
            "INFO",
            "harness.router",
            f"forward request_id={r.request_id} engine={r.engine}",
        )
        return self.forward(r)

    def refuse(
        self,
        r: Request,
        status: int,
        cause: str,
        name: str,
        record: str,
        *,
        own: bool = False,
    ) -> float:
        """Refuse before forwarding; `own` records are never left out."""
        end = r.start + self.random.uniform(0.008, 0.014)
        logged = own or self.random.random() >= self.rules.unlogged
        if logged:
            told = "" if status == 400 else f' client_message="{BUSY}"'
            level = "ERROR" if "plugin_failed" in record else "WARNING"
            self.say(end - 0.003, level, name, record + told)
        self.answer(r, end, status, 118, 'uct="-" uht="-" urt="-"')
        self.note(r, cause, "proven" if logged else "corroborated")
        return end + 2 if status == 503 else 0.0

    def forward(self, r: Request) -> float:
        """Send the attempt on to its engine."""
        engine = self.engines[r.engine]
        if engine.down(r.start) and r.start >= engine.closes:
            end = r.start + 0.009
            what = "connect() failed (111: Connection refused) while connecting to upstream"
            self.complain(end, "error", what, r, engine.address)
            self.answer(r, end, 502, 157, 'uct="-" uht="-" urt="0.000"')
            self.book(end, "release", r, RESERVED, reason="upstream_error")
            self.note(r, engine.cause, "corroborated")
            return end + 1.5
        added = r.start + 0.009
        end = r.start + r.seconds
        model_line(engine.log, added, "async_llm.py:344", f"Added request chatcmpl-{r.request_id}.")  # fmt: skip
        if engine.dies < end and r.start < engine.ready:
            return self.cut(r, engine, max(engine.dies + 0.2, added + 0.01) + self.ms())
        if r.hangs_up_after:
            return self.hang_up(r, engine)
        first = 0.09 + r.seconds * 0.04 if r.stream else r.seconds - 0.004
        uvicorn(engine.log, r.start + first - 0.001, "200 OK", self.random)
        up = f'uct="0.00{self.random.randint(0, 2)}" uht="{first:.3f}" urt="{r.seconds - 0.002:.3f}"'
        done = f"status=200 prompt_tokens={r.prompt} completion_tokens={r.completion}"
        self.say(
            end - 0.003,
            "INFO",
            "harness.server",
            f"request completed request_id={r.request_id} {done}",
        )
        cost = self.charge(r, end)
        used = "-" if r.stream else f"{cost:.2f}"
        self.answer(r, end, 200, 420 + 4 * r.completion, up, used=used)
        self.flights.append((r.start, end, r.engine))
        self.note(r)
        return 0.0

    def cut(self, r: Request, engine: Engine, end: float) -> float:
        """End an attempt that is on an engine when it dies."""
        model_line(engine.log, end - 0.002, "async_llm.py:443", f"Request chatcmpl-{r.request_id} failed (engine dead).")  # fmt: skip
        uvicorn(engine.log, end - 0.001, "500 Internal Server Error", self.random)
        self.say(end + 0.001, "ERROR", "harness.server",
                 f"Request failed with status 500 request_id={r.request_id} upstream_status=500\n" + GATEWAY_TRACE)  # fmt: skip
        rt = end + 0.004 - r.start
        self.answer(
            r,
            end + 0.004,
            500,
            171,
            f'uct="0.001" uht="{rt - 0.004:.3f}" urt="{rt - 0.003:.3f}"',
        )
        self.book(end + 0.002, "release", r, RESERVED, reason="upstream_error")
        self.flights.append((r.start, end, r.engine))
        self.note(r, engine.cause, "corroborated")
        return end + 1.5

    def hang_up(self, r: Request, engine: Engine) -> float:
        """Let the client leave before the answer."""
        end = r.start + r.hangs_up_after
        what = (
            "epoll_wait() reported that client prematurely closed connection, so upstream connection"
            " is closed too while reading response header from upstream"
        )
        self.complain(end, "info", what, r, engine.address)
        self.answer(
            r, end, 499, 0, f'uct="0.001" uht="-" urt="{r.hangs_up_after - 0.001:.3f}"'
        )
        model_line(engine.log, end + 0.003, "async_llm.py:430", f"Request chatcmpl-{r.request_id} aborted.")  # fmt: skip
        self.book(end + 0.004, "release", r, RESERVED, reason="client_disconnected")
        self.flights.append((r.start, end, r.engine))
        self.note(r, "client.abort", "corroborated")
        return 0.0
