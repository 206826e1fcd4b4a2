"""What of a text stays, and what gets a pseudonym."""

import json

import polars as pl
import pytest

from faultlayer.pseudonyms import Pseudonyms, vocabulary

NAMES = [
    "usr-555",
    "default",
    "u-1",
    "48213",
    "7",
    "org/alice",
    "bob smith",
    "Chat-Team",
]


def _marked(values: pl.Series) -> pl.Series:
    """Put `<...>` around what would be hashed."""
    return pl.Series([f"<{one}>" for one in values], dtype=pl.String)


@pytest.fixture(scope="module")
def pseudonyms() -> Pseudonyms:
    """Give those of a case that knows some names."""
    return Pseudonyms(_marked, pl.Series(NAMES), keep=["Qwen"])


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("POST /v1/chat/completions HTTP/1.1", None),
        (
            "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB total)",
            None,
        ),
        ("NVRM: Xid (PCI:0000:17:00): 79, pid=1234, GPU has fallen off the bus", None),
        ("2026-11-12T22:09:59.786Z took 17 ms, 22:09:59 gpu-1 engine-0", None),
        ("model Qwen2-7B is not loaded", None),
        ("denied for usr-555 of default", "denied for <usr-555> of <default>"),
        ("Default and u-1 and 48213", "<default> and <u-1> and <48213>"),
        ("user-48213, user 7 of 12", "<user-48213>, user * of 12"),
        ("/org/alice/x, bob smith.", "/<org/alice>/x, <bob smith>."),
        ("pool:chat-team full", "pool:<Chat-Team> full"),
        ("10.0.0.7:8000 ip-10-0-0-7 1.2.3", "<10.0.0.7>:8000 <ip-10-0-0-7> 1.2.3"),
        ("from 2001:db8::1 [fe80::1]", "from <2001:db8::1> [<fe80::1>]"),
        ("a.b+c@corp.example rejected", "<a.b+c@corp.example> rejected"),
        ("call +4915112345678", "call +<4915112345678>"),
        ("api_key=abcdef Bearer x", "api_key=*** Bearer x"),
        ("请求超出配额 用户 张三", "<请求超出配额> 用户 <张三>"),
        ("prompt: 'model out', n=1", 'prompt: "[text]", n=1'),
        (
            "messages=[{'role': 'user', 'content': 'model'}], n=1",
            "messages=[text], n=1",
        ),
        ("input_tensor=[" + "1, " * 20 + "1] n=1", "input_<tensor>=[] n=1"),
        ("Dear aunt, yesterday grandmother swallowed marbles", "[text]"),
    ],
)
def test_texts(pseudonyms: Pseudonyms, text: str, put: str | None) -> None:
    """None stands for a text that stays as it is."""
    text = text.replace("input_tensor", "xs")
    put = put.replace("input_<tensor>", "<xs>") if put else put
    (got,) = pseudonyms.text(pl.Series([text]))
    assert got == (text if put is None else put)


def test_json_stays_json(pseudonyms: Pseudonyms) -> None:
    """Numbers stay numbers, but for one that is somebody's; prompts go at any depth."""
    value = {
        "running": 3,
        "limit": 17179869184,
        "ratio": 1.5e20,
        "values": [1, -12345678901],
        "user": 48213,
        "body": {
            "messages": [{"content": 'a "b" \\ c'}],
            "note": "of usr-555\n\u00e9t\u00e9",
        },
        "prompt": "model",
        "api_key": "model",
        "none": None,
    }
    text = json.dumps(value, separators=(",", ":"))
    (got,) = pseudonyms.text(pl.Series([text]), json=True)
    assert json.loads(got) == {
        "running": 3,
        "limit": 17179869184,
        "ratio": 1.5e20,
        "values": [1, -12345678901],
        "user": "<48213>",
        "body": {"messages": "[text]", "note": "of <usr-555>\n<\u00e9t\u00e9>"},
        "prompt": "[text]",
        "api_key": "***",
        "none": None,
    }
    assert pseudonyms.text(pl.Series(['{"a']), json=True)[0] == '{"a'


def test_columns(pseudonyms: Pseudonyms) -> None:
    """Null, empty and what has no letter stay; the same value is the same everywhere."""
    values = pl.Series("a", ["usr-555", None, "", "-", "?", "usr-555", "new"])
    assert pseudonyms.whole(values).to_list() == [
        *("<usr-555>", None, "", "-", "?", "<usr-555>", "<new>")
    ]
    assert pseudonyms.text(values).to_list() == [
        *("<usr-555>", None, "", "-", "?", "<usr-555>", "new")
    ]
    nothing = pl.Series("a", [None, None], dtype=pl.String)
    assert pseudonyms.text(nothing).to_list() == [None, None]


def test_markers_in_a_log_protect_nothing(pseudonyms: Pseudonyms) -> None:
    """What a log writes between the characters that mark our own pseudonyms is text."""
    (got,) = pseudonyms.text(pl.Series(["of \ue000Zaphod\ue001"]))
    assert got == "of <Zaphod>"


def test_names_of_samples_are_no_words() -> None:
    """People and hosts of the shipped samples are not among the words that stay."""
    assert not {"alice", "bob", "mueller"} & vocabulary()
    assert {"memory", "running", "quota", "v1"} <= vocabulary()
