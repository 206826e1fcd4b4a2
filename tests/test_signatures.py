"""Signatures: what the built-in ones say, and what a wrong definition is told."""

import json
import re
import tomllib
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

TRAPS = tomllib.loads(
    (Path(__file__).parent / "signature_traps.toml").read_text("utf-8")
)["trap"]


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap["text"][:40])
def test_a_trap_is_not_walked_into(trap: dict[str, Any]) -> None:
    """What reads like one thing and is another."""
    assert kinds(trap["layer"], trap["component"], trap["text"]) == trap["kinds"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("request {}: plugin_failed: milvus refused", "plugin_failed"),
        ("[{}] plugin_failed: milvus refused", "plugin_failed"),
        ("(req={}) too many concurrent requests", "concurrency_limit"),
        ("Request {} started user=u-1", "request_accepted"),
        ("request {} was rejected reason=concurrency", "concurrency_limit"),
        ("request {} finished status=200", "request_completed"),
        ("requested {} plugin_failed", "other"),
        ("request {} is about plugin_failed", "other"),
    ],
)
def test_whose_a_gateways_record_is_may_stand_before_what_it_says(
    text: str, wanted: str
) -> None:
    """Its id is not a part of what it says; of other words none is left out."""
    uuid = "9d9f2928-6a05-4d1c-8a7e-0c0d5a3f9b11"
    said = text.format(uuid)
    row = name(("harness", "harness", said), request_id=[uuid]).row(0, named=True)
    assert row["kind"] == wanted


@pytest.mark.parametrize(
    ("text", "severity", "wanted"),
    [
        ('it broke error="x: \\"y\\"" reason=QuotaExceeded', "error", "quota_exceeded"),
        ("it broke err='Model is overloaded'", None, "queue_full"),
        ("upstream error upstream_status=500 error=AsyncEngineDeadError", "error", "engine_dead"),
        ('it broke reason="Model is overloaded"', "info", "other"),
        ('it broke client_message="x" note="Model is overloaded"', "error", "other"),
        ('plugin_failed plugin=a reason="Model is overloaded"', "error", "plugin_failed"),
        ('webhook delivery failed error="Model is overloaded"', "error", "other"),
        ('failed to write audit record error="Model is overloaded"', "error", "other"),
        ('could not cache error="Model is overloaded"', "error", "other"),
        ('error calling tools error="Model is overloaded"', "error", "other"),
        ('worker failed, no cache error="Model is overloaded"', "error", "queue_full"),
    ],
)  # fmt: skip
def test_an_error_that_a_record_names(
    text: str, severity: str | None, wanted: str
) -> None:
    """It counts where the record's own words say nothing, and complain."""
    named = name(
        ("harness", "harness", text),
        severity=[severity],
    )
    assert named["kind"].to_list() == [wanted]


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
