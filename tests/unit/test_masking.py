"""What is shown steers no terminal and gives no secret away."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultlayer.masking import masked, safe, shown

SECRETS = [
    ("key sk-abcdefgh12345678 used", "key sk-*** used"),
    ("sk-proj-Ab_cd-1234567890", "sk-***"),
    ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
    ('{"authorization": "Bearer qwertyuiop"}', '{"authorization": "Bearer ***"}'),
    ("authorization=Basic dXNlcjpwYXNz", "authorization=Basic ***"),
    ("bearer 0123456789abcdef", "bearer ***"),
    ("jwt eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl end", "jwt *** end"),
    ("api_key=verysecret&x=1", "api_key=***&x=1"),
    ("x-api-key: verysecret", "x-api-key: ***"),
    ('"openai_api_key": "very secret"', '"openai_api_key": ***'),
    (
        "Namespace(api_key='very, secret', port=8000)",
        "Namespace(api_key=***, port=8000)",
    ),
    ("password=hunter2", "password=***"),
    ("HF_TOKEN=abcdef", "HF_TOKEN=***"),
    ("hf_abcdefghijklmnop", "hf_***"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIA***"),
    ("GET /v1beta/models?key=AbCdEf HTTP/1.1", "GET /v1beta/models?key=*** HTTP/1.1"),
    ("redis://user:hunter2@cache:6379/0", "redis://user:***@cache:6379/0"),
    ("Cookie: session=abc; u=7", "Cookie: ***"),
    (r"{\"api_key\": \"abc def\"}", r"{\"api_key\": ***}"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "***"),
]

PROMPTS = [
    (
        "Received request cmpl-1: prompt: 'my \\'secret\\' plan', params: X(n=1)",
        "Received request cmpl-1: prompt: [20 chars], params: X(n=1)",
    ),
    (
        "prompt_token_ids: [1, 2, 3], lora: None",
        "prompt_token_ids: [9 chars], lora: None",
    ),
    ("prompt: 'cut off at four kib", "prompt: [20 chars]"),
    (
        '{"model": "m", "messages": [{"role": "user", "content": "a ] b"}], "n": 1}',
        '{"model": "m", "messages": [38 chars], "n": 1}',
    ),
    ('{"content": "hello"}', '{"content": [7 chars]}'),
    (r"body={\"prompt\": \"my plan\"}", r"body={\"prompt\": [11 chars]}"),
    (
        "GenerateReqInput(text='hello', rid='7')",
        "GenerateReqInput(text=[7 chars], rid='7')",
    ),
]

HARMLESS = [
    "prompt_tokens=812 completion_tokens=40 max_tokens: 4096",
    "api_key=None, token=null",
    "prompt: None, params: SamplingParams(n=1)",
    "token_remaining=12 tokens: 812",
    "task-1234567890 desk-abcdefghij risk-assessment-2026",
    "http://gateway-a:8080/v1/chat/completions",
    "tokenizer='demo/demo-7b', tokenizer_mode=auto",
    "the prompt is too long: 9000 > 8192",
    "request 7f26411e-1f0a-4c6e-9a51-0d2f6a9be001 failed (engine dead)",
]


@pytest.mark.parametrize(("text", "expected"), SECRETS + PROMPTS)
def test_secrets_and_prompts_are_masked(text: str, expected: str) -> None:
    """Each kind of secret loses its value and keeps its name."""
    assert masked(text) == expected


@pytest.mark.parametrize("text", HARMLESS)
def test_what_looks_alike_stays(text: str) -> None:
    """Counts, names and addresses are evidence and stay."""
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("a\x1b", "a"),
        ("a\x00\x00\x00b", "a\ufffdb"),
        ("bell\x07", "bell\ufffd"),
        ("user\u202egpj.exe", "usergpj.exe"),
        ("zero\u200bwidth\u2066iso\u2069", "zerowidthiso"),
        ("line\u2028sep", "linesep"),
        ("two\nlines\tand tab", "two lines and tab"),
        ("\ud800", "\ufffd"),
        ("日本 é", "日本 é"),
    ],
)
def test_nothing_steers_the_terminal(text: str, expected: str) -> None:
    """Sequences go, stray controls become one mark, direction marks go."""
    assert safe(text) == expected


@given(st.text())
def test_any_text_is_one_printable_line(text: str) -> None:
    """Whatever is logged, no control or format character is left."""
    left = {unicodedata.category(char) for char in shown(text)}
    assert not left & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def test_a_secret_split_by_an_escape_is_found() -> None:
    """Colours inside a key don't hide it from the mask."""
    assert shown("sk-\x1b[1mabcdefgh12345678") == "sk-***"
