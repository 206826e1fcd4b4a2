"""The lines that each program writes about the requests of a chunk."""

import polars as pl

from faultlayer.simulate.columns import seconds
from faultlayer.simulate.day import (
    ADDRESSES,
    BURST_LIMIT,
    CONTEXT,
    DEPENDENCY,
    ENGINES,
    PARAMS_B,
    POOL,
    RESERVED,
    Clock,
)
from faultlayer.simulate.log_file import LogFile
from faultlayer.simulate.words import API, RELAY

_AGENTS = ("openai-python/2.8.1", "okhttp/5.3.2", "node-fetch/3.3", "python-httpx/0.28.1")  # fmt: skip
_CHAT = "POST /v1/chat/completions HTTP/1.1"
_BUSY = ' client_message="The model is busy, please try again later."'
_BROKEN = "upstream prematurely closed connection while reading upstream"
_REFUSED = "connect() failed (111: Connection refused) while connecting to upstream"
_LEFT = (
    "epoll_wait() reported that client prematurely closed connection, so upstream connection"
    " is closed too while reading response header from upstream"
)
_TIMEOUT = "upstream timed out (110: Connection timed out) while reading response header from upstream"

c = pl.col


def named(rows: pl.DataFrame, users: int) -> pl.DataFrame:
    """Add who asks and where it goes, as the logs write it; `users` are ordinary."""
    user = c("user")
    lab = user.is_between(users, users + 2)
    projects = pl.Series(["prj-mail", "prj-docs", "prj-app", "prj-search"])
    return rows.with_columns(
        name=pl.format("usr-{}", user + 100),
        project=pl.when(lab).then(pl.lit(POOL)).otherwise(projects.gather(rows["user"] % 4)),
        tenant=pl.when(lab | (user % 4 > 1)).then(pl.lit("ten-blue")).otherwise(pl.lit("ten-red")),
        client=pl.format("10.{}.{}.{}", 20 + user // 50_000, user // 200 % 250, 11 + user % 200),
        agent=pl.Series(_AGENTS).gather(rows["user"] // 4 % 4),
        engine_name=pl.Series(ENGINES).gather(rows["engine"]),
        address=pl.Series(ADDRESSES).gather(rows["engine"]),
        accepted=c("start") + 1_000 + c("jitter"),
    )  # fmt: skip


def cost() -> pl.Expr:
    """Give what a served request costs, in thousandths of a GPU second."""
    return (c("end") - c("start")) // 1000 * PARAMS_B


def access(rows: pl.DataFrame, log: LogFile, clock: Clock) -> None:
    """Write a line at the end of each exchange."""
    took = (c("end") - c("start")) // 1000
    header = (c("first") - c("start")) // 1000
    sign, hours = ("-" if clock.zone_s < 0 else "+"), abs(clock.zone_s) // 3600
    whole = pl.format(
        ' uct="{}" uht="{}" urt="{}"',
        seconds(c("jitter") % 3),
        pl.when(c("outcome").is_in(["left", "timeout"])).then(pl.lit("-"))
        .when(c("outcome") == "cut").then(seconds(took - 4))
        .otherwise(seconds(header)),
        seconds(took - 2),
    )  # fmt: skip
    upstream = (
        pl.when(c("reached")).then(whole)
        .when(c("outcome") == "refused").then(pl.lit(' uct="-" uht="-" urt="0.000"'))
        .otherwise(pl.lit(' uct="-" uht="-" urt="-"'))
    )  # fmt: skip
    billed = (c("outcome") == "served") & ~c("stream")
    size = (
        pl.when(c("outcome") == "served").then(420 + 4 * c("completion"))
        .when(c("outcome") == "broken").then(360 + c("completion"))
        .when(c("outcome") == "left").then(0)
        .otherwise(118)
    )  # fmt: skip
    text = pl.concat_str(
        c("client"), pl.lit(" - - ["),
        clock.show(c("end"), f"%d/%b/%Y:%H:%M:%S {sign}{hours:02}00"),
        pl.lit(f'] "{_CHAT}" '), c("status"), pl.lit(" "), size, pl.lit(' "-" "'), c("agent"),
        pl.lit('" rt='), seconds(took), upstream, pl.lit(" req_id="), c("id"), pl.lit(" quota_used="),
        pl.when(billed).then(seconds(cost())).otherwise(pl.lit("-")),
    )  # fmt: skip
    log.add(rows, c("end"), text)


def errors(rows: pl.DataFrame, log: LogFile, clock: Clock) -> None:
    """Write nginx's complaints; marks connections that were refused by no dead engine."""
    for outcome, level, what in (
        ("refused", "error", _REFUSED),
        ("broken", "error", _BROKEN),
        ("left", "info", _LEFT),
        ("timeout", "error", _TIMEOUT),
    ):
        mine = rows.filter(c("outcome") == outcome)
        text = pl.format(
            f"{{}} [{level}] 22#22: *{{}} {what}, client: {{}}, server: llm.example.net, "
            f'request: "{_CHAT}", upstream: "http://{{}}/v1/chat/completions", host: "llm.example.net"',
            clock.show(c("end"), "%Y/%m/%d %H:%M:%S"), 51_000 + c("end") // 150_000, c("client"), c("address"),
        )  # fmt: skip
        alone = c("cause").eq_missing(pl.lit("harness.connect_refused"))
        log.add(mine.filter(alone), c("end"), text, "refused")
        log.add(mine.filter(~alone), c("end"), text)


def harness(rows: pl.DataFrame, log: LogFile, clock: Clock) -> None:
    """Write the gateway's own lines: accepted, forward, and how it ended."""

    def put(
        which: pl.Expr, level: str, t: pl.Expr, text: str, *values: pl.Expr
    ) -> None:
        line = pl.format(
            f"[{level}] [{{}}] {text}",
            clock.show(t, "%Y-%m-%d %H:%M:%S,%3f"), c("id"), *values,
        )  # fmt: skip
        log.add(rows.filter(which), t, line)

    def ended(outcome: str) -> pl.Expr:
        return (c("outcome") == outcome) & ~c("unlogged")

    at = c("end") - 3_000
    put(
        pl.lit(value=True), "INFO", c("accepted"),
        "harness.server: request accepted request_id={} user={} project={} model=aster-chat-14b stream={}{}",
        c("name"), c("project"), c("stream").cast(pl.String),
        pl.when("plugin").then(pl.lit(" plugins=rag_notes")).otherwise(pl.lit("")),
    )  # fmt: skip
    put(c("sent"), "INFO", c("accepted") + 4_000, "harness.router: forward request_id={} engine={}", c("engine_name"))  # fmt: skip
    put(
        ended("served"), "INFO", at,
        "harness.server: request completed request_id={} status=200 prompt_tokens={} completion_tokens={}",
        c("prompt"), c("completion"),
    )  # fmt: skip
    put(
        ended("burst"), "WARNING", at,
        "harness.limiter: burst limit hit request_id={} user={} requests={} window_s=5"
        f" burst_limit={BURST_LIMIT} status=429 Retry-After: 60{_BUSY}",
        c("name"), c("recent"),
    )  # fmt: skip
    put(ended("denied"), "WARNING", at, "harness.quota: quota insufficient request_id={} user={} status=429" + _BUSY, c("name"))  # fmt: skip
    put(
        ended("plugin"), "ERROR", at,
        "harness.pipeline: plugin_failed request_id={} plugin=rag_notes "
        f'dependency={DEPENDENCY} error="ConnectTimeout" status=503{_BUSY}',
    )  # fmt: skip
    put(ended("too_long"), "WARNING", at, f"harness.preprocess: input too long request_id={{}} tokens={{}} max_context={CONTEXT} status=400", c("prompt"))  # fmt: skip
    put(ended("cut"), "ERROR", at, "harness.server: Request failed with status 500 request_id={} upstream_status=500\n" + RELAY)  # fmt: skip


def ledger(rows: pl.DataFrame, log: LogFile, clock: Clock) -> None:
    """Write the quota ledger: a reservation and its end, or a denial, which is marked."""

    def put(
        which: pl.Expr, event: str, t: pl.Expr, amount: pl.Expr, more: pl.Expr | str = "",
        mark: str | None = None,
    ) -> None:  # fmt: skip
        line = pl.format(
            '{{"ts": "{}", "event": "' + event + '", "request_id": "{}", "user": "{}", "project": "{}", '
            '"tenant": "{}", "amount": {}, "unit": "gpu_second"{}}}',
            clock.show(t, "%Y-%m-%dT%H:%M:%S.%3fZ"), c("id"), c("name"), c("project"), c("tenant"), amount,
            pl.lit(more) if isinstance(more, str) else more,
        )  # fmt: skip
        log.add(rows.filter(which), t, line, mark)

    held = pl.lit(f"{RESERVED}.0")
    reasons = {"left": "client_disconnected"}
    why = c("outcome").replace_strict(reasons, default="upstream_error")
    metered = pl.format(
        f', "seconds": {{}}, "params_b": {PARAMS_B}, "gpus": 1, "coef": 1.0, '
        '"prompt_tokens": {}, "completion_tokens": {}',
        seconds((c("end") - c("start")) // 1000), c("prompt"), c("completion"),
    )  # fmt: skip
    refusal = ', "code": "QuotaExceeded", "message": "quota insufficient"'
    served = c("outcome") == "served"
    begun = c("accepted") + 1_000
    put(c("sent"), "reserve", begun, held)
    put(c("outcome") == "denied", "deny", begun, held, refusal, "denied")
    put(served, "charge", c("end"), seconds(cost()), metered)
    put(c("sent") & ~served, "release", c("end") + 2_000, held, pl.format(', "reason": "{}"', why))  # fmt: skip


def engine(rows: pl.DataFrame, log: LogFile, clock: Clock) -> None:
    """Write an engine's lines about the requests that reached it."""

    def put(which: pl.Expr, t: pl.Expr, place: str, text: str) -> None:
        line = pl.format(
            f"({API}) INFO {{}} [{place}] {text}", clock.show(t, "%m-%d %H:%M:%S"), c("id")
        )  # fmt: skip
        log.add(rows.filter(which), t, line)

    def answered(which: pl.Expr, t: pl.Expr, status: str) -> None:
        line = pl.format(
            f'({API}) INFO:     172.20.8.9:{{}} - "{_CHAT}" {status}', c("port")
        )
        log.add(rows.filter(which), t, line)

    put(pl.lit(value=True), c("start") + 9_000, "async_llm.py:344", "Added request chatcmpl-{}.")  # fmt: skip
    begun = c("outcome").is_in(["served", "broken"])
    answered(begun, c("first") - 1_000, "200 OK")
    dead = c("outcome").is_in(["cut", "broken"])
    put(dead, c("end") - 6_000, "async_llm.py:443", "Request chatcmpl-{} failed (engine dead).")  # fmt: skip
    answered(c("outcome") == "cut", c("end") - 5_000, "500 Internal Server Error")
    left = c("outcome").is_in(["left", "timeout"])
    put(left, c("end") + 3_000, "async_llm.py:430", "Request chatcmpl-{} aborted.")


def truth(rows: pl.DataFrame, log: LogFile) -> None:
    """Write what is true of each attempt, in the order of their start."""
    cause = c("cause")
    text = pl.when(cause.is_null()).then(
        pl.format('{{"request_id": "{}", "attempt": {}, "failed": false}}', c("id"), c("tries"))
    ).otherwise(
        pl.format(
            '{{"request_id": "{}", "attempt": {}, "layer": "{}", "cause": "{}", "strength": "{}"}}',
            c("id"), c("tries"), cause.str.split(".").list.first(), cause, c("strength"),
        )
    )  # fmt: skip
    log.add(rows, c("start"), text)
