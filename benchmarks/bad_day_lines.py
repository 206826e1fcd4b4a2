"""What each program writes on the day of `bad_day.py`: about requests, and of itself."""

from collections.abc import Callable
from datetime import UTC, datetime

import polars as pl

from faultlayer.simulate.columns import seconds, stamp
from faultlayer.simulate.log_file import LogFile
from faultlayer.simulate.words import API, ECHO, OOM, RELAY, RESTART, SHUTDOWN

ENGINES, PLUGINS = 16, 4
SECOND = 1_000_000
MIDNIGHT = datetime(2026, 6, 15, tzinfo=UTC)
ZERO = int(MIDNIGHT.timestamp()) * SECOND
HARNESS_US, LEDGER_US, ZONE_US = 2_300_000, -1_100_000, 8 * 3600 * SECOND
AGENTS = pl.Series(["openai-python/2.8.1", "okhttp/5.3.2", "node-fetch/3.3"])
CHAT = "POST /v1/chat/completions HTTP/1.1"
TURNED_AWAY = (
    "denied", "denied_quietly", "burst", "tokens", "minute", "crowded", "queue",
    "plugin", "plugin_quietly", "too_long", "bad", "auth", "path",
)  # fmt: skip
AT_NGINX = ("edge", "dns", "tls")
Log = Callable[[str], LogFile]
c = pl.col


def engine_log(engine: int) -> str:
    """Give the path of an engine's log."""
    return f"logs/model/engine-{engine}/model.log"


def ahead(engine: int) -> int:
    """Give how far an engine's clock is ahead, its zone with it, in microseconds."""
    return ZONE_US + (engine * 370_000 % 4_000_000) - 2_000_000


def write(rows: pl.DataFrame, log: Log) -> None:
    """Let every program write about these attempts."""
    rows = rows.with_columns(
        name=pl.format("u-{}", c("user")),
        project=pl.format("p-{}", c("user") % 200),
        tenant=pl.format("t-{}", c("user") % 200 // 16),
        client=pl.format("10.{}.{}.{}", 20 + c("user") // 50_000, c("user") // 200 % 250, c("user") % 200 + 11),
    )  # fmt: skip
    _access(rows, log("logs/nginx/harness_access.log"))
    _errors(rows, log("logs/nginx/error.log"))
    _harness(
        rows.filter(~c("outcome").is_in(AT_NGINX)), log("logs/harness/harness.log")
    )
    _ledger(rows.filter(~c("outcome").is_in(AT_NGINX)), log("logs/quota/ledger.jsonl"))
    reached = rows.filter(~c("outcome").is_in([*AT_NGINX, *TURNED_AWAY, "refused"]))
    for engine in range(ENGINES):
        _engine(reached.filter(c("engine") == engine), engine, log(engine_log(engine)))


def _access(rows: pl.DataFrame, log: LogFile) -> None:
    took = c("took") // 1000
    none = pl.lit(' uct="-" uht="-" urt="-"')
    header = (
        pl.when(c("outcome").is_in(["left", "timeout", "stuck"])).then(pl.lit("-"))
        .when(c("stream")).then(seconds(90 + took // 20)).otherwise(seconds(took - 4))
    )  # fmt: skip
    upstream = (
        pl.when(c("outcome").is_in([*TURNED_AWAY, "edge"])).then(none)
        .when(c("outcome") == "refused").then(pl.lit(' uct="-" uht="-" urt="0.000"'))
        .when(c("outcome").is_in(["dns", "tls"])).then(pl.lit(' uct="-" uht="-" urt="0.002"'))
        .otherwise(pl.format(' uct="0.00{}" uht="{}" urt="{}"', c("jitter") % 3, header, seconds(took - 2)))
    )  # fmt: skip
    served = c("outcome") == "served"
    text = pl.concat_str(
        c("client"), pl.lit(" - - ["), stamp(c("end") + ZERO, "%d/%b/%Y:%H:%M:%S +0000"),
        pl.lit(f'] "{CHAT}" '), c("status"), pl.lit(" "),
        pl.when(served).then(420 + 4 * c("tokens")).otherwise(118), pl.lit(' "-" "'),
        AGENTS.gather(rows["user"] % 3), pl.lit('" rt='), seconds(took), upstream,
        pl.lit(" req_id="), c("id"), pl.lit(" quota_used="),
        pl.when(served & ~c("stream")).then(seconds(took * 14)).otherwise(pl.lit("-")),
    )  # fmt: skip
    log.add(rows, c("end"), text)


def _errors(rows: pl.DataFrame, log: LogFile) -> None:
    words = {
        "edge": ("error", 'limiting requests, excess: 20.720 by zone "llm"'),
        "refused": ("error", "connect() failed (111: Connection refused) while connecting to upstream"),
        "broken": ("error", "upstream prematurely closed connection while reading upstream"),
        "timeout": ("error", "upstream timed out (110: Connection timed out) while reading response header from upstream"),
        "stuck": ("error", "upstream timed out (110: Connection timed out) while reading response header from upstream"),
        "left": ("info", "epoll_wait() reported that client prematurely closed connection, so upstream connection is closed too while reading response header from upstream"),
        "dns": ("error", "engine-0.llm.internal could not be resolved (110: Operation timed out)"),
        "tls": ("error", "SSL_do_handshake() failed (SSL: error:0A000410:SSL routines::ssl/tls alert handshake failure) while SSL handshaking to upstream"),
    }  # fmt: skip
    for outcome, (level, what) in words.items():
        mine = rows.filter(c("outcome") == outcome)
        upstream = pl.format(
            'upstream: "http://172.20.8.{}:8000/v1/chat/completions", ',
            c("engine") + 20,
        )
        text = pl.format(
            f'{{}} [{level}] 22#22: *{{}} {what}, client: {{}}, server: llm.example.net, request: "{CHAT}", {{}}host: "llm.example.net"',
            stamp(c("end") + ZERO, "%Y/%m/%d %H:%M:%S"), 51_000 + c("end") // 150_000, c("client"),
            pl.lit("") if outcome in AT_NGINX else upstream,
        )  # fmt: skip
        log.add(mine, c("end"), text)


def _harness(rows: pl.DataFrame, log: LogFile) -> None:
    def put(
        outcomes: tuple[str, ...], level: str, t: pl.Expr, text: str, *values: pl.Expr
    ) -> None:
        mine = rows.filter(c("outcome").is_in(outcomes)) if outcomes else rows
        shown = stamp(t + ZERO + HARNESS_US, "%Y-%m-%d %H:%M:%S,%3f")
        log.add(mine, t, pl.format(f"[{level}] [{{}}] {text}", shown, c("id"), *values))

    accepted, at = c("start") + 1000 + c("jitter"), c("end") - 1000
    put(
        (), "INFO", accepted, "harness.server: request accepted request_id={} user={} project={} tenant={} model=aster-chat-14b stream={}",
        c("name"), c("project"), c("tenant"), c("stream").cast(pl.String),
    )  # fmt: skip
    sent = ("served", "cut", "refused", "broken", "timeout", "stuck", "left")
    put(sent, "INFO", accepted + 1500, "harness.router: forward request_id={} engine=engine-{}", c("engine"))  # fmt: skip
    put(
        ("served",), "INFO", at, "harness.server: request completed request_id={} status=200 prompt_tokens={} completion_tokens={}",
        c("prompt"), c("tokens"),
    )  # fmt: skip
    refusals = {
        "denied": "harness.quota: quota insufficient request_id={} user={} status=429",
        "burst": "harness.limiter: burst limit hit request_id={} user={} requests=23 window_s=5 burst_limit=20 status=429 Retry-After: 60",
        "tokens": "harness.limiter: token rate limit exceeded request_id={} user={} used=10031 rate_limit=10000/tokens_per_minute status=429",
        "minute": "harness.limiter: requests per minute exceeded request_id={} user={} rpm=61 limit=60 status=429",
        "crowded": "harness.limiter: request rejected request_id={} user={} reason=concurrency in_flight=512 max_concurrent_requests=512 status=429",
        "queue": "harness.server: waiting queue overflow request_id={} user={} queued=64 max_size=64 running=512 status=503",
        "too_long": "harness.preprocess: input too long request_id={} user={} tokens=44871 max_context=32768 status=400",
        "bad": 'harness.server: invalid request request_id={} user={} error="messages: field required" type=invalid_request_error status=400',
    }  # fmt: skip
    for outcome, text in refusals.items():
        put((outcome,), "WARNING", at, text, c("name"))
    put(
        ("plugin",), "ERROR", at, 'harness.pipeline: plugin_failed request_id={} plugin=rag_{} dependency=store-{} error="ConnectTimeout" status=503',
        c("which"), c("which"),
    )  # fmt: skip
    put(("cut",), "ERROR", at, "harness.server: Request failed with status 500 request_id={} upstream_status=500\n" + RELAY)  # fmt: skip


def _ledger(rows: pl.DataFrame, log: LogFile) -> None:
    def put(which: pl.Expr, event: str, t: pl.Expr, amount: pl.Expr, more: pl.Expr) -> None:  # fmt: skip
        text = pl.format(
            '{{"ts": "{}", "event": "' + event + '", "request_id": "{}", "user": "{}", "project": "{}", '
            '"tenant": "{}", "amount": {}, "unit": "gpu_second"{}}}',
            stamp(t + ZERO + LEDGER_US, "%Y-%m-%dT%H:%M:%S.%3fZ"), c("id"), c("name"), c("project"), c("tenant"), amount, more,
        )  # fmt: skip
        log.add(rows.filter(which), t, text)

    held, took = pl.lit("60.0"), c("took") // 1000
    sent = ~c("outcome").is_in(TURNED_AWAY)
    served, denied = c("outcome") == "served", c("outcome") == "denied"
    metered = pl.format(
        ', "seconds": {}, "params_b": 14, "gpus": 1, "coef": 1.0, "prompt_tokens": {}, "completion_tokens": {}',
        seconds(took), c("prompt"), c("tokens"),
    )  # fmt: skip
    put(sent, "reserve", c("start") + 3000 + c("jitter"), held, pl.lit(""))
    put(served, "charge", c("end"), seconds(took * 14), metered)
    put(sent & ~served, "release", c("end") + 2000, held, pl.lit(', "reason": "upstream_error"'))  # fmt: skip
    put(denied, "deny", c("start") + 3000 + c("jitter"), held, pl.lit(', "code": "QuotaExceeded", "message": "quota insufficient"'))  # fmt: skip


def _engine(rows: pl.DataFrame, engine: int, log: LogFile) -> None:
    def put(which: pl.Expr, t: pl.Expr, place: str, text: str) -> None:
        shown = stamp(t + ZERO + ahead(engine), "%m-%d %H:%M:%S")
        log.add(rows.filter(which), t, pl.format(f"({API}) INFO {{}} [{place}] {text}", shown, c("id")))  # fmt: skip

    put(pl.lit(value=True), c("start") + 9000, "async_llm.py:344", "Added request chatcmpl-{}.")  # fmt: skip
    dead = c("outcome").is_in(["cut", "broken"])
    put(dead, c("end") - 6000, "async_llm.py:443", "Request chatcmpl-{} failed (engine dead).")  # fmt: skip
    left = c("outcome").is_in(["left", "timeout", "stuck"])
    put(left, c("end") + 3000, "async_llm.py:430", "Request chatcmpl-{} aborted.")
    answered = pl.format(f'({API}) INFO:     172.20.8.9:{{}} - "{CHAT}" 200 OK', c("jitter") + 33_000)  # fmt: skip
    log.add(rows.filter(c("outcome") == "served"), c("end") - 5000, answered)


FATAL = {
    "model.cuda_oom": OOM,
    "model.nccl_timeout": "[rank0]:[E616] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.",
    "model.illegal_memory_access": "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
    "model.gpu_xid": "torch.AcceleratorError: CUDA error: unknown error",
}  # fmt: skip
HOST_WORDS = {
    "model.gpu_xid": "NVRM: Xid (PCI:0000:{gpu}:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    "model.host_oom_killed": "Out of memory: Killed process {pid} (VLLM::EngineCor) total-vm:214748364kB, anon-rss:201326592kB",
}  # fmt: skip


def background(plan: pl.DataFrame, log: Log) -> None:
    """Let programs say what they say without a request: deaths, outages, balances."""
    for span in plan.iter_rows(named=True):
        if span["kind"] == "death":
            _death(span["engine"], span["start"], span["end"], span["reason"], log)
        elif span["kind"] in {"slow", "hang"}:
            _progress(span["engine"], span["start"], span["end"], span["kind"], log)
        elif span["kind"] == "plugin":
            name = f"store-{span['which']}"
            lost = f"[PLUGIN] Failed to connect to {name}: ConnectTimeout"
            _say(log, span["start"], "ERROR", f"harness.plugin: {lost}")
            _say(
                log,
                span["end"],
                "INFO",
                f"harness.plugin: [PLUGIN] Connected to {name}",
            )
    for engine in range(ENGINES):
        text = f"harness.engine: Starting new model engine process engine=engine-{engine} host_pid={41_000 + engine} gpu=0000:{10 + engine}:00"
        _say(log, 1000 + engine, "INFO", text)
    _balances(plan, log("logs/quota/balance.jsonl"))


def _say(log: Log, t: int, level: str, text: str) -> None:
    shown = _at(t + HARNESS_US, "%Y-%m-%d %H:%M:%S,%3f")
    log("logs/harness/harness.log").say(t, f"[{level}] [{shown}] {text}")


def _at(t: int, form: str) -> str:
    return str(pl.select(stamp(pl.lit(t + ZERO, pl.Int64), form)).item())


def _death(engine: int, start: int, end: int, reason: str, log: Log) -> None:
    mine, name = log(engine_log(engine)), f"engine-{engine}"

    def record(t: int, process: str, place: str, text: str, level: str) -> None:
        prefix = (
            f"({process}) {level} {_at(t + ahead(engine), '%m-%d %H:%M:%S')} [{place}] "
        )
        mine.say(t, "\n".join(prefix + line for line in text.split("\n")))

    core = "EngineCore_DP0 pid=271"
    if reason in FATAL:
        text = (
            "EngineCore encountered a fatal error.\nTraceback (most recent call last):\n"
            + FATAL[reason]
        )
        record(start, core, "core.py:842", text, "ERROR")
    record(start + 100_000, API, "async_llm.py:525", ECHO, "ERROR")
    if reason in HOST_WORDS:
        shown = _at(start - 200_000 + ahead(engine), "%a %b %d %H:%M:%S %Y")
        word = HOST_WORDS[reason].format(gpu=10 + engine, pid=41_000 + engine)
        log(f"logs/host/{name}/dmesg.txt").say(start - 200_000, f"[{shown}] {word}")
    for line in SHUTDOWN:
        mine.say(start + 500_000, f"({API}) INFO:     {line}")
    _say(
        log,
        start + 15 * SECOND,
        "ERROR",
        f"harness.health: health check failed engine={name} consecutive=1 interval_s=15",
    )
    _say(
        log,
        start + 31 * SECOND,
        "INFO",
        f"harness.engine: Starting new model engine process engine={name} pid=40512",
    )
    for offset, process, place, text in RESTART:
        share = offset / 75 * 0.98
        record(int(start + share * (end - start)), process, place, text, "INFO")
    mine.say(end - 10_000, f"({API}) INFO:     Application startup complete.")
    _say(log, end + 500_000, "INFO", f"harness.health: health check ok engine={name}")


def _progress(engine: int, start: int, end: int, kind: str, log: Log) -> None:
    for t in range(start - 300 * SECOND, end + 300 * SECOND, 10 * SECOND):
        inside = start <= t < end + 55 * SECOND
        speed, cache = ("21.0", "99.4") if inside else ("812.4", "31.0")
        if inside and kind == "hang":
            speed = "0.0"
        text = (
            f"Engine 000: Avg prompt throughput: {speed} tokens/s, Avg generation throughput: {speed} tokens/s, "
            f"Running: 9 reqs, Waiting: {30 if inside else 0} reqs, GPU KV cache usage: {cache}%, Prefix cache hit rate: 18.2%"
        )  # fmt: skip
        shown = _at(t + ahead(engine), "%m-%d %H:%M:%S")
        log(engine_log(engine)).say(t, f"({API}) INFO {shown} [loggers.py:118] {text}")


def _balances(plan: pl.DataFrame, log: LogFile) -> None:
    empty = plan.filter(c("kind") == "empty").select("which", "start", "end")
    ticks = pl.DataFrame({"t": range(60 * SECOND, 86_400 * SECOND, 300 * SECOND)})
    rows = ticks.join(pl.DataFrame({"pool": range(200)}), how="cross")
    rows = rows.join(empty, left_on="pool", right_on="which", how="left")
    rows = rows.group_by("t", "pool", maintain_order=True).agg(
        dry=(c("t").first().is_between(c("start") - 5 * SECOND, c("end"))).any()
    )
    ratio = pl.when(c("dry")).then(pl.lit("0.9991")).otherwise(pl.lit("0.4127"))
    used = pl.when(c("dry")).then(pl.lit("39964.0")).otherwise(pl.lit("16508.0"))
    form = "%Y-%m-%dT%H:%M:%S.%3fZ"
    text = pl.format(
        '{{"ts": "{}", "user_id": "u-{}", "project_id": "p-{}", "tenant_id": "t-{}", "used_ratio": {}, '
        '"effective_quota": {{"level": "project", "id": "p-{}", "limit": 40000.0, "used": {}}}, "last_updated": "{}"}}',
        stamp(c("t") + ZERO + LEDGER_US, form), "pool", "pool", c("pool") // 16, ratio, "pool", used,
        stamp(c("t") - 4 * SECOND + ZERO + LEDGER_US, form),
    )  # fmt: skip
    log.add(rows, c("t"), text)
