"""Signatures: what the built-in ones say, and what a wrong definition is told."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultlayer import assets, signatures
from faultlayer.errors import DefinitionError

BUILT_IN = signatures.load(assets.builtin("parsers"))

# The kinds that rules rely on.
VOCABULARY = """
access engine_access gateway_access
request_accepted request_forwarded request_completed request_failed
quota_exceeded burst_limit token_rate_limit request_rate_limit concurrency_limit
queue_full context_overflow plugin_failed bad_request auth_failed not_found no_route
provider_limit plugin_connect_failed plugin_connected plugin_probe_failed plugin_probe_ok
edge_limit connect_refused no_live_upstream upstream_closed upstream_timeout
upstream_reset tls_handshake dns_failure too_large client_closed client_tls_failed
engine_start health_check_failed config_reload operator_stop
request_received request_added request_finished request_aborted request_engine_dead
request_failed_engine engine_dump engine_stats engine_progress
engine_dead engine_ready engine_loading engine_start_failed
cuda_oom illegal_memory_access nccl_timeout device_assert worker_died
illegal_instruction segfault host_oom_kill gpu_xid gpu_ecc gpu_lost weights_missing
weights_corrupt architecture_mismatch tokenizer_mismatch dependency_missing
quantization_unsupported nan_output kv_cache_exhausted shm_exhausted port_in_use
quota_reserve quota_charge quota_release quota_deny quota_reclaim balance
config_setting metric other
"""


def name(*rows: tuple[str, str, str], **columns: list[Any]) -> pl.DataFrame:
    """Name records given as (layer, component, text)."""
    frame = pl.DataFrame(
        {
            "text": [text for _, _, text in rows],
            "layer": [layer for layer, _, _ in rows],
            "component": [component for _, component, _ in rows],
            "kind": [None] * len(rows),
        },
        schema_overrides=dict.fromkeys(
            ("text", "layer", "component", "kind"), pl.String
        ),
    ).with_columns(**{key: pl.Series(values) for key, values in columns.items()})
    return signatures.name_kinds(frame, BUILT_IN)


def kinds(layer: str, component: str, text: str) -> list[str]:
    """Give all kinds of one record."""
    row = name((layer, component, text)).row(0, named=True)
    return row["kinds"] or [row["kind"]]


def test_every_kind_that_rules_use_is_known() -> None:
    """The vocabulary of the rules is a part of the table."""
    table = BUILT_IN.table()
    assert set(VOCABULARY.split()) - set(table["kind"]) == set()
    assert table["rank"].to_list() == list(range(len(table)))
    assert set(table["timing"]) <= set(signatures.TIMINGS)


def test_every_kind_has_a_text_that_it_must_not_take() -> None:
    """A signature without a look-alike has not been asked what it confuses."""
    with_look_alike = {
        item.kind
        for item in BUILT_IN.items
        if any(example.reason for example in item.examples)
    }
    assert {item.kind for item in BUILT_IN.items} - with_look_alike == set()


def test_ids_give_the_clock_no_bound_where_none_is_certain() -> None:
    """A charge may come after the answer; a reservation may not."""
    timing = dict(BUILT_IN.table().select("kind", "timing").iter_rows())
    assert timing["quota_charge"] == timing["quota_reclaim"] == "after_start"
    assert timing["request_added"] == timing["quota_reserve"] == "before_end"
    assert timing["request_aborted"] == timing["client_closed"] == "after_start"
    assert timing["edge_limit"] == timing["gpu_xid"] == "none"


PROMPT = (
    "EngineCore encountered a fatal error.\\nRuntimeError: CUDA out of memory\\n"
    "Successfully loaded model x\\nQuotaExceeded: quota insufficient request_id=1f"
)

TRAPS = [
    # A parser's error beside a good answer.
    (
        "model",
        "vllm",
        "Error trying to handle streaming tool call.\nTraceback (most recent call last):\n"
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        ["tool_parser_error"],
    ),
    # The watchdog of NCCL reports what is not NCCL's.
    (
        "model",
        "vllm",
        "[PG ID 2 PG GUID 17 Rank 1] Process group watchdog thread terminated with "
        "exception: CUDA error: an illegal memory access was encountered",
        ["illegal_memory_access"],
    ),
    (
        "model",
        "vllm",
        "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, "
        "OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600041 milliseconds before timing out.",
        ["nccl_timeout"],
    ),
    # "ssl" in a refused connection.
    (
        "harness",
        "litellm",
        "litellm.InternalServerError: InternalServerError: Hosted_vllmException - Cannot "
        "connect to host 127.0.0.1:27201 ssl:<ssl.SSLContext object at 0x7f> "
        "[Connect call failed ('127.0.0.1', 27201)]",
        ["connect_refused"],
    ),
    (
        "harness",
        "litellm",
        "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host h:8000 "
        "ssl:default [Connect call failed ('10.0.0.5', 8000)]",
        ["connect_refused"],
    ),
    (
        "harness",
        "litellm",
        "litellm.InternalServerError: InternalServerError: Hosted_vllmException - Cannot "
        "connect to host 127.0.0.1:27103 ssl:True [SSLCertVerificationError: (1, '[SSL: "
        "CERTIFICATE_VERIFY_FAILED] certificate verify failed')]",
        ["tls_handshake"],
    ),
    # Out of which memory?
    (
        "model",
        "sglang",
        "Prefill out of memory. Try to lower your batch size.",
        ["kv_cache_exhausted"],
    ),
    ("model", "vllm", "Killed", ["other"]),
    ("model", "sglang", "Killed", ["other"]),
    (
        "harness",
        "harness",
        "Out of memory: Killed process 77 (python3) total-vm:1kB",
        ["other"],
    ),
    # Xids: the echo, the address, the double-bit error.
    (
        "model",
        "kernel",
        "NVRM: Xid (PCI:0000:3b:00): 45, pid=91007, name=VLLM::EngineCor, Ch 00000008",
        ["gpu_xid_echo"],
    ),
    (
        "model",
        "kernel",
        "NVRM: Xid (PCI:0000:48:00): 63, pid=1, name=x, Row Remapper",
        ["gpu_xid"],
    ),
    (
        "model",
        "kernel",
        "NVRM: Xid (PCI:0000:79:00): 48, pid=1, name=x, DBE (double bit error)",
        ["gpu_ecc"],
    ),
    # User text.
    (
        "model",
        "vllm",
        f"Received request chatcmpl-6e37: prompt: '{PROMPT}', params: SamplingParams(n=1)",
        ["request_received"],
    ),
    ("model", "vllm", f"Request chatcmpl-6e37 details: prompt: '{PROMPT}'", ["prompt"]),
    (
        "model",
        "vllm",
        f"Generated response chatcmpl-6e37 (streaming complete): output: '{PROMPT}'",
        ["prompt"],
    ),
    (
        "model",
        "vllm",
        "Dumping input data for V1 LLM engine (v0.32.0) with config: "
        "stop=['\nSuccessfully loaded model x\nRuntimeError: CUDA out of memory']",
        ["engine_dump"],
    ),
    ("harness", "harness", f'preview request_id=97 text="{PROMPT}"', ["prompt"]),
    # What the client was told.
    (
        "harness",
        "harness",
        'plugin_failed request_id=1 plugin=rag client_message="quota insufficient"',
        ["plugin_failed"],
    ),
    (
        "harness",
        "harness",
        'upstream error request_id=1 upstream_status=500 client_message="模型繁忙"',
        ["upstream_error"],
    ),
    # one-api tells every client of a 429 the same.
    (
        "harness",
        "oneapi",
        "relay.go:80 [Relay] EngineCore encountered an issue; message to user: "
        "当前分组上游负载已饱和",
        ["engine_dead"],
    ),
    (
        "harness",
        "newapi",
        "relay error: 当前分组上游负载已饱和 (insufficient_user_quota)",
        ["quota_exceeded", "laundered"],
    ),
    (
        "harness",
        "oneapi",
        "relay.go:89 [processChannelRelayError] relay error (channel id 12, user id: 5): You "
        "exceeded your current quota. (insufficient_quota, status code: 429)",
        ["provider_limit", "quota_exceeded", "upstream_error"],
    ),
    # nginx.
    (
        "harness",
        "nginx",
        "epoll_wait() reported that client prematurely closed connection, so upstream "
        "connection is closed too while reading upstream, client: 10.0.0.1",
        ["client_closed"],
    ),
    (
        "harness",
        "nginx",
        "upstream prematurely closed connection while reading upstream, client: 10.0.0.1",
        ["upstream_closed"],
    ),
    (
        "harness",
        "nginx",
        "SSL_do_handshake() failed (SSL: error:0A000086:SSL routines::certificate verify "
        "failed) while SSL handshaking to upstream, client: 10.0.0.1",
        ["tls_handshake"],
    ),
    (
        "harness",
        "nginx",
        "SSL_do_handshake() failed (SSL: error:0A000102:SSL routines::unsupported protocol) "
        "while SSL handshaking, client: 10.0.0.1, server: 0.0.0.0:443",
        ["client_tls_failed"],
    ),
    # LiteLLM's limits: the exceeded one of three numbers.
    (
        "harness",
        "litellm",
        "429: LiteLLM Rate Limit Handler for rate limit type = key. Crossed TPM / RPM / Max "
        "Parallel Request Limit. current rpm: 3, rpm limit: 600, current tpm: 10021, tpm "
        "limit: 10000, current max_parallel_requests: 1, max_parallel_requests: 50",
        ["token_rate_limit"],
    ),
    (
        "harness",
        "litellm",
        "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached",
        ["provider_limit"],
    ),
    (
        "harness",
        "litellm",
        "No deployments available - crossed budget",
        ["quota_exceeded"],
    ),
    # A plugin's refused connection is not the engine's.
    (
        "harness",
        "harness",
        "plugin_failed request_id=1 plugin=rag_skill dependency=elasticsearch status=503\n"
        "Traceback (most recent call last):\nConnectionRefusedError: [Errno 111] refused",
        ["plugin_failed"],
    ),
    # The root and its echo in one record: the root first.
    (
        "model",
        "vllm",
        "EngineCore encountered a fatal error.\nTraceback (most recent call last):\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB.",
        ["cuda_oom", "engine_dead"],
    ),
]


@pytest.mark.parametrize(("layer", "component", "text", "expected"), TRAPS)
def test_a_trap_is_not_walked_into(
    layer: str, component: str, text: str, expected: list[str]
) -> None:
    """What reads like one thing and is another."""
    assert kinds(layer, component, text) == expected


def test_an_id_in_a_prompt_is_no_id() -> None:
    """Ids come from the place where the program writes its own."""
    text = (
        f"Received request chatcmpl-6e37: prompt: '{PROMPT} request_id=ffbc', params: x"
    )
    row = name(("model", "vllm", text)).row(0, named=True)
    assert row["raw_request_id"] == "chatcmpl-6e37"


def test_a_dump_names_the_ids_in_flight_and_no_request() -> None:
    """Innocent requests stand in the dump of a dying engine."""
    text = (
        "Dumping scheduler output for model execution: SchedulerOutput(scheduled_new_reqs="
        "[NewRequestData(req_id=chatcmpl-a-0badcafe,prompt_token_ids=[1,2])], "
        "scheduled_cached_reqs=CachedRequestData(req_ids=['chatcmpl-u:7-12345678']), "
        "num_scheduled_tokens={chatcmpl-u:7-12345678: 1, chatcmpl-a-0badcafe: 23})"
    )
    row = name(("model", "vllm", text)).row(0, named=True)
    assert row["id_parts"] == ["chatcmpl-a-0badcafe", "chatcmpl-u:7-12345678"]
    assert row.get("raw_request_id") is None


def test_what_is_set_is_left_alone() -> None:
    """Kinds of a format and values of fields win over signatures."""
    rows = [
        ("harness", "nginx", 'limiting connections by zone "perip", client: 10.0.0.1'),
        ("model", "vllm", "Added request chatcmpl-1."),
        ("harness", "harness", "[PLUGIN] Connected to milvus"),
    ]
    named = name(
        *rows,
        kind=["access", None, None],
        request_id=[None, "from-the-field", None],
        plugin=[None, None, "known"],
        attrs=[None, '{"a":1}', None],
    )
    assert named["kind"].to_list() == ["access", "request_added", "plugin_connected"]
    assert named["plugin"].to_list() == [None, None, "known"]
    assert named["raw_request_id"].to_list() == [None, None, None]
    assert named["attrs"].to_list() == [None, '{"a":1}', None]


def test_captures_join_the_attributes() -> None:
    """Objects are merged, a name that is there is kept, numbers are numbers."""
    text = 'limiting requests, excess: 20.720 by zone "l\\"m", client: 10.0.0.1'
    named = name(
        ("harness", "nginx", text),
        ("harness", "nginx", text),
        ("harness", "nginx", text),
        attrs=[None, "{}", '{"zone":"kept","x":[1]}'],
    )
    attrs = [json.loads(text) for text in named["attrs"]]
    found = {"limited": "requests", "excess": 20.72, "zone": "l\\"}
    assert attrs == [found, found, found | {"zone": "kept", "x": [1]}]


def test_nothing_gives_nothing() -> None:
    """No rows, no texts, no known text."""
    assert name().height == 0
    named = name(("harness", "harness", "worker pool resized threads=4"))
    assert named.row(0, named=True)["kind"] == "other"
    nulls = dict.fromkeys(("text", "layer", "component", "kind"), pl.String)
    named = signatures.name_kinds(pl.DataFrame([{}], schema=nulls), BUILT_IN)
    assert named["kind"].to_list() == ["other"]


def test_a_line_of_a_megabyte_is_named() -> None:
    """Long prompts and long tracebacks alike."""
    filler = "x CUDA error x" * 80_000
    rows = [
        (
            "model",
            "vllm",
            f"Received request chatcmpl-1: prompt: '{filler}', params: x",
        ),
        (
            "model",
            "vllm",
            f"EngineCore encountered a fatal error.\n{filler}\nKeyError: 1",
        ),
    ]
    assert name(*rows)["kind"].to_list() == ["request_received", "engine_dead"]


RECORDS = [
    (example.layer or "model", example.component or "x", example.text)
    for item in BUILT_IN.items
    for example in item.examples
]


@given(st.lists(st.sampled_from(RECORDS), max_size=40), st.integers(0, 40))
def test_how_records_are_cut_into_blocks_is_no_matter(
    rows: list[tuple[str, str, str]], cut: int
) -> None:
    """Rows and order stay, and each is named as if it were alone."""
    whole = name(*rows)
    assert whole["text"].to_list() == [text for _, _, text in rows]
    halves = [name(*rows[:cut]), name(*rows[cut:])]
    parts = pl.concat(halves, how="diagonal")
    columns = [column for column in whole.columns if column in parts.columns]
    assert whole.select(columns).equals(parts.select(columns))


# What authors of a definition are told.

KINDS = """
kinds = [
    { name = "first", timing = "none", title = "a" },
    { name = "second", timing = "none", title = "b" },
]
"""
GOOD = """
[[signature]]
kind = "first"
at = "line"
literals = ["CUDA out"]
samples = [{ text = "x\\n  E: CUDA out of memory", expect = {} }]
look_alikes = [{ text = "no CUDA out here", reason = "inside" }]

[[signature]]
kind = "second"
at = "start"
literals = ["Added "]
pattern = 'Added (?P<request_id>\\S+)'
samples = [{ text = "Added r1", expect = { raw_request_id = "r1" } }]
"""

BROKEN = [
    ('at = "line"', 'at = "middle"', "at is start, line or anywhere"),
    ('at = "line"', 'at = "line"\nexclusive = true', "an exclusive signature begins"),
    ('at = "line"', 'at = "line"\nlayer = "model"', "unknown key layer"),
    ('at = "line"', 'at = "line"\nlayers = ["gpu"]', "unknown layer gpu"),
    ('["CUDA out"]', '"CUDA out"', "literals is no list"),
    ('["CUDA out"]', '["CUD"]', "literal 'CUD' has fewer than 4 characters"),
    ('kind = "first"', 'kind = "third"', "kind third is not in kinds.toml"),
    ("(?P<request_id>\\S+)", "(\\S+)", "pattern has a group without a name"),
    ("(?P<request_id>\\S+)", "(?=x)\\S+", "look-around"),
    ("(?P<request_id>\\S+)", "(?P<request_id>\\S+", "unterminated subpattern"),
    ('at = "start"', 'at = "start"\nnumbers = ["n"]', "pattern has no group n"),
    ('at = "start"', 'at = "start"\nat_least = ["request_id"]', "a pair of groups"),
    ('at = "start"', "at = \"start\"\nids = '(a)(b)'", "ids has exactly one group"),
    ("CUDA out of memory", "CUDA of memory", "does not take its sample"),
    ("no CUDA out here", "CUDA out here", "takes a look-alike"),
    (', reason = "inside"', "", "look_alikes 1 needs ['reason', 'text']"),
    (
        'raw_request_id = "r1"',
        'raw_request_id = "r2"',
        "captures {'raw_request_id': 'r1'}",
    ),
    ("Added r1", "Added r1\\nCUDA out", "gives first, second, not second"),
]


def _write(folder: Path, kinds_text: str, text: str) -> Path:
    (folder / "signatures").mkdir()
    (folder / "signatures" / "kinds.toml").write_text(kinds_text, "utf-8")
    (folder / "signatures" / "own.toml").write_text(text, "utf-8")
    return folder


def test_a_good_definition_loads(tmp_path: Path) -> None:
    """What the broken ones are made from is whole."""
    loaded = signatures.load(_write(tmp_path, KINDS, GOOD))
    assert loaded.table()["signatures"].to_list() == [1, 1]
    assert loaded.columns == (
        "kind", "kinds", "severity", "raw_request_id", "id_parts", "attrs",
    )  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
def test_a_broken_definition_says_where_and_why(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """The file, the line of the signature, what is wrong."""
    assert old in GOOD
    root = _write(tmp_path, KINDS, GOOD.replace(old, new, 1))
    with pytest.raises(DefinitionError, match=re.escape(message)) as caught:
        signatures.load(root)
    line = 2 if GOOD.index(old) < GOOD.index('kind = "second"') else 9
    assert f"parsers/signatures/own.toml:{line}: " in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == 7


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    """Kinds without a signature, twice, or with an unknown timing; files that are no TOML."""
    wrong = KINDS.replace('"none", title = "b"', '"soon", title = "b"')
    wrong = wrong.replace(
        "]\n", '    { name = "first", timing = "any", title = "c" },\n]\n'
    )
    root = _write(tmp_path, wrong, "at = \n")
    with pytest.raises(DefinitionError) as caught:
        signatures.load(root)
    for message in (
        "parsers/signatures/own.toml: ",
        "kind second: timing is one of before_end, after_start, any, none",
        "kind first: stands twice",
        "second has no signature",
    ):
        assert message in caught.value.message
