"""Generate large invented logs: `generate.py nginx 1GiB DIR/access.log [--seed N]`.

Kinds: nginx (harness_full), harness, vllm, ledger, or `all`, which takes a folder
and writes the four logs of the same traffic (the size is that of the nginx log).
Traffic is made in seeded chunks by numpy and polars, so memory stays small and
the same arguments give the same bytes.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
from rows import AGENTS, CHUNK, FAILURES, MALFORMED, PATHS, traffic

from faultlayer.simulate.columns import seconds, stamp

UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
MODEL = "aster-chat-14b"
PREFIX = "(APIServer pid=1) INFO "

TRACE = """Traceback (most recent call last):
  File "/opt/harness/lib/python3.12/site-packages/harness/server.py", line 212, in relay
    response.raise_for_status()
    ~~~~~~~~~~~~~~~~~~~~~~~~~^^
  File "/opt/harness/lib/python3.12/site-packages/httpx/_models.py", line 829, in raise_for_status
    raise HTTPStatusError(message, request=request, response=self)
httpx.HTTPStatusError: Server error '500 Internal Server Error' for url 'http://engine/v1'"""
SITE = "/usr/local/lib/python3.12/dist-packages/vllm/v1/engine"
DEATH = (
    "EngineCore encountered a fatal error.",
    "Traceback (most recent call last):",
    f'  File "{SITE}/core.py", line 833, in run_engine_core',
    "    engine_core.run_busy_loop()",
    f'  File "{SITE}/core.py", line 889, in _process_engine_step',
    "    outputs, model_executed = self.step_fn()",
    "                              ^^^^^^^^^^^^^^",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.64 GiB.",
)


def size_of(text: str) -> int:
    """Read a size such as 1GiB, 256MiB or 5000."""
    match = re.fullmatch(r"(\d+) ?([KMG]iB)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"not a size: {text} (try 256MiB)")
    return int(match[1]) * UNITS[match[2] or ""]


def nginx(rows: pl.DataFrame) -> pl.Series:
    """Write harness_full lines, some of them malformed."""
    c = pl.col
    status, uct, uht, urt = (
        c("outcome").replace_strict(
            {name: spec[i] for name, spec in FAILURES.items()} | {"ok": ok},
            return_dtype=pl.Int64 if i == 1 else pl.String,
        )
        for i, ok in ((1, 200), (2, "n"), (3, "n"), (4, "n"))
    )
    up = (c("rt") - 2).clip(0)
    header = pl.when(c("stream")).then(up // 12).otherwise(up)
    connect = seconds(c("user") % 4)

    def upstream(item: pl.Expr, value: pl.Expr, before: pl.Expr) -> pl.Expr:
        one = pl.when(item == "n").then(value).otherwise(item)
        return (
            pl.when(c("two"))
            .then(pl.concat_str(before, pl.lit(", "), value))
            .otherwise(one)
        )

    third = pl.when(c("draw") < 0.3).then(pl.lit("0.001")).otherwise(pl.lit("-"))
    quota = seconds(c("rt") * 14)
    pieces = [
        pl.when(c("v6"))
        .then(pl.concat_str(pl.lit("2001:db8::7:"), c("user").cast(pl.String)))
        .otherwise(pl.format("10.40.{}.{}", c("user") % 200, c("host") + 10)),
        pl.lit(" - "),
        pl.when(c("user") % 9 == 0).then(pl.lit("svc-batch")).otherwise(pl.lit("-")),
        pl.lit(" ["),
        stamp(c("end"), "%d/%b/%Y:%H:%M:%S +0000"),
        pl.lit('] "'),
        pl.when(c("quoted"))
        .then(pl.lit(r"GET /v1/search?q=\x22red\x22%20apples&n=5 HTTP/1.1"))
        .otherwise(pl.Series(PATHS).gather(rows["path"])),
        pl.lit('" '),
        status.cast(pl.String),
        pl.lit(" "),
        pl.when(status == 200).then(c("tokens") * 5 + 310).otherwise(c("host") * 9 + 98).cast(pl.String),
        pl.lit(' "-" "'),
        pl.when(c("quoted"))
        .then(pl.lit(r"bot \x22x\x22 \xE4\xB8\xAD\xE6\x96\x87"))
        .otherwise(pl.Series(AGENTS).gather(rows["agent"])),
        pl.lit('" rt='),
        seconds(c("rt")),
        pl.lit(' uct="'),
        upstream(uct, connect, third),
        pl.lit('" uht="'),
        upstream(uht, seconds(header), pl.lit("-")),
        pl.lit('" urt="'),
        upstream(urt, seconds(up), pl.lit("0.000")),
        pl.lit('" req_id='),
        c("id"),
        pl.lit(" quota_used="),
        pl.when((status == 200) & ~c("stream")).then(quota).otherwise(pl.lit("-")),
    ]  # fmt: skip
    whole = rows.select(line=pl.concat_str(pieces), draw=c("draw"))
    d, text = c("draw") / MALFORMED, c("line")
    torn = text.str.slice(0, (d * 200).cast(pl.UInt32))
    return whole.select(
        pl.when(d >= 1)
        .then(text)
        .when(d < 0.4)
        .then(torn)
        .when(d < 0.7)
        .then(torn + text)
        .when(d < 0.85)
        .then(pl.lit(""))
        .otherwise(pl.lit("2026/11/30 05:22:41 [error] 31#31: *9 limiting requests"))
    ).to_series()


def harness(rows: pl.DataFrame) -> pl.Series:
    """Write three application lines a request, refusals, and tracebacks."""
    c = pl.col
    begin = c("end") - c("rt") * 1000
    id_ = c("id")

    def line(level: str, us: pl.Expr, text: pl.Expr) -> pl.Expr:
        return pl.format(
            "[{}] [{}] {}", pl.lit(level), stamp(us, "%Y-%m-%d %H:%M:%S,%3f"), text
        )

    accepted = pl.format(
        "harness.server: request accepted request_id={} user=u{} model=" + MODEL + " stream={}",
        id_, c("user"), c("stream").cast(pl.String),
    )  # fmt: skip
    forward = pl.format(
        "harness.router: forward request_id={} engine=engine-{}", id_, c("user") % 4
    )
    done = pl.format(
        "harness.server: request completed request_id={} status=200 prompt_tokens={} completion_tokens={}",
        id_, c("prompt"), c("tokens"),
    )  # fmt: skip
    refused = pl.format(
        "harness.limiter: request rejected request_id={} reason=concurrency in_flight=64 max_concurrent_requests=64 status=429",
        id_,
    )
    plugin = pl.format(
        'harness.pipeline: plugin_failed request_id={} plugin=rag dependency=milvus error="ConnectTimeout" status=503',
        id_,
    )
    failed = pl.format(
        "harness.server: Request failed with status 500 request_id={}\n" + TRACE, id_
    )
    none = pl.lit(None, pl.String)
    sent = ~c("outcome").is_in(["limited", "plugin", "bad"])
    last = (
        pl.when(c("outcome") == "ok").then(line("INFO", c("end"), done))
        .when(c("outcome") == "limited").then(line("WARNING", c("end"), refused))
        .when(c("outcome") == "plugin").then(line("ERROR", c("end"), plugin))
        .when(c("outcome") == "engine").then(line("ERROR", c("end"), failed))
        .otherwise(none)
    )  # fmt: skip
    return in_time(
        rows,
        (begin, line("INFO", begin, accepted)),
        (
            begin + 4000,
            pl.when(sent).then(line("INFO", begin + 4000, forward)).otherwise(none),
        ),
        (c("end"), last),
    )


def vllm(rows: pl.DataFrame) -> pl.Series:
    """Write engine lines: requests, access lines, statistics, and a death a chunk."""
    c = pl.col
    begin = c("end") - c("rt") * 1000 + 9000
    at = stamp(begin, "%m-%d %H:%M:%S")
    end = stamp(c("end"), "%m-%d %H:%M:%S")
    none = pl.lit(None, pl.String)
    sent = c("outcome").is_in(["ok", "engine", "left"])
    added = pl.format(
        PREFIX + "{} [async_llm.py:344] Added request chatcmpl-{}.", at, c("id")
    )
    code = (
        pl.when(c("outcome") == "engine")
        .then(pl.lit("500 Internal Server Error"))
        .otherwise(pl.lit("200 OK"))
    )
    access = pl.format(
        '(APIServer pid=1) INFO:     10.40.1.9:{} - "POST /v1/chat/completions HTTP/1.1" {}',
        c("prompt") + 30_000,
        code,
    )
    dead = pl.format(
        PREFIX + "{} [async_llm.py:443] Request chatcmpl-{} failed (engine dead).",
        end,
        c("id"),
    )
    stats = pl.format(
        PREFIX + "{} [loggers.py:118] Engine 000: Avg prompt throughput: {} tokens/s, Avg generation throughput: {} tokens/s, "
        "Running: {} reqs, Waiting: 0 reqs, GPU KV cache usage: 31.0%, Prefix cache hit rate: 18.2%", end, c("prompt"), c("tokens"), c("host"),
    )  # fmt: skip
    number = pl.int_range(pl.len())
    prefix = pl.format("(EngineCore_DP0 pid=288) ERROR {} [core.py:842] ", end)
    fatal = pl.concat_str(
        [pl.concat_str(prefix, pl.lit(line)) for line in DEATH], separator="\r\n"
    )
    last = (
        pl.when(number == CHUNK // 2).then(fatal)
        .when(c("outcome") == "engine").then(dead + "\n" + access)
        .when(number % 4000 == 0).then(stats)
        .when(sent).then(access)
        .otherwise(none)
    )  # fmt: skip
    first = pl.when(sent).then(added).otherwise(none)
    return in_time(rows, (begin, first), (c("end"), last))


def ledger(rows: pl.DataFrame) -> pl.Series:
    """Write the quota ledger: a reservation, then a charge, release or denial."""
    c = pl.col
    begin = c("end") - c("rt") * 1000 + 2000

    def entry(event: pl.Expr, us: pl.Expr, amount: pl.Expr, more: pl.Expr) -> pl.Expr:
        return pl.format(
            '{{"ts": "{}", "event": "{}", "request_id": "{}", "user": "u{}", "project": "p{}", '
            '"tenant": "t{}", "amount": {}, "unit": "gpu_second"{}}}',
            stamp(us, "%Y-%m-%dT%H:%M:%S.%3fZ"), event, c("id"), c("user"), c("user") % 40, c("user") % 5, amount, more,
        )  # fmt: skip

    sent = ~c("outcome").is_in(["limited", "plugin", "bad"])
    none = pl.lit(None, pl.String)
    charge = pl.format(
        ', "seconds": {}, "params_b": 14, "gpus": 1, "coef": 1.0, '
        '"prompt_tokens": {}, "completion_tokens": {}',
        seconds(c("rt")), c("prompt"), c("tokens"),
    )  # fmt: skip
    held, nothing = pl.lit("60.000"), pl.lit("")
    charged = entry(pl.lit("charge"), c("end"), seconds(c("rt") * 14), charge)
    released = entry(pl.lit("release"), c("end"), held, nothing)
    last = pl.when(c("outcome") == "ok").then(charged).otherwise(released)
    first = entry(pl.lit("reserve"), begin, held, nothing)
    return in_time(
        rows,
        (begin, pl.when(sent).then(first).otherwise(none)),
        (c("end"), pl.when(sent).then(last).otherwise(none)),
    )


def in_time(rows: pl.DataFrame, *parts: tuple[pl.Expr, pl.Expr]) -> pl.Series:
    """Merge (time, line) columns into one series in order of time."""
    frames = [rows.select(t=at, line=text) for at, text in parts]
    return pl.concat(frames).drop_nulls().sort("t", maintain_order=True)["line"]


KINDS: dict[str, Callable[[pl.DataFrame], pl.Series]] = {
    "nginx": nginx, "harness": harness, "vllm": vllm, "ledger": ledger,
}  # fmt: skip


def chunks(kind: str, seed: int, size: int) -> Iterator[bytes]:
    """Give whole lines until `size` bytes are reached; the last chunk is cut at a line."""
    chunk = 0
    while size > 0:
        data = ("\n".join(KINDS[kind](traffic(seed, chunk)).to_list()) + "\n").encode()
        if len(data) > size:
            data = data[: data.rfind(b"\n", 0, size) + 1]
            size = 0
        yield data
        size -= len(data)
        chunk += 1


def docker(line: bytes, number: int) -> bytes:
    """Put a line into Docker's json-file, with a time of its own."""
    at = f"2026-11-18T11:06:{number // 1_000_000 % 60:02}.{number % 1_000_000:06}000Z"
    text = json.dumps(line.decode() + "\n")
    return f'{{"log":{text},"stream":"stdout","time":"{at}"}}\n'.encode()


def mixed(folder: Path, size: int, seed: int) -> None:
    """Write a day's mixture: 40 % nginx, 30 % engine, 20 % JSON, 10 % in a wrapper."""
    parts = {
        "nginx/access.log": ("nginx", 0.4),
        "model/engine.log": ("vllm", 0.3),
        "quota/ledger.jsonl": ("ledger", 0.2),
    }
    for name, (kind, share) in parts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(chunks(kind, seed, int(size * share)))
    path = folder / "containers" / "gateway-json.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    left, number = int(size * 0.1), 0
    with path.open("wb") as file:
        for data in chunks("harness", seed, left):
            for line in data.split(b"\n")[:-1]:
                wrapped = docker(line, number)
                number += 1
                left -= len(wrapped)
                if left < 0:
                    return
                file.write(wrapped)


def main() -> int:
    """Write the log that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=[*KINDS, "all", "mixed"])
    parser.add_argument("size", type=size_of, help="for example 1GiB")
    parser.add_argument("output", type=Path, help="file (a folder for `all`, `mixed`)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.kind == "mixed":
        mixed(options.output, options.size, options.seed)
        return 0
    if options.kind != "all":
        with options.output.open("wb") as file:
            for data in chunks(options.kind, options.seed, options.size):
                file.write(data)
        return 0
    count = 0
    options.output.mkdir(parents=True, exist_ok=True)
    with (options.output / "nginx.log").open("wb") as file:
        for data in chunks("nginx", options.seed, options.size):
            file.write(data)
            count += 1
    for kind in ("harness", "vllm", "ledger"):
        with (options.output / f"{kind}.log").open("wb") as file:
            for chunk in range(count):
                lines = KINDS[kind](traffic(options.seed, chunk)).to_list()
                file.write(("\n".join(lines) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
