"""Drafts of formats: guessed layouts, invented values, files that prove themselves."""

import json
import re
import tomllib

import pytest

from faultlayer import blowup, draft_text, formats, guess, invented
from faultlayer.compile import regex_plan
from faultlayer.formats import Format
from faultlayer.notes import notes_of

STAMPED = [
    "2026-11-30 05:22:41,250 | INFO     | gateway.server:31 | accepted rid=r-{n}",
    "2026-11-30 05:22:41,251 | WARNING  | gateway.server:32 | slow rid=r-{n} ms=4000",
    "Traceback (most recent call last):",
    '  File "x.py", line 1, in <module>',
    "2026-11-30 05:22:41,252 | ERROR    | gateway.pool:7 | lost rid=r-{n}",
]


def test_a_layout_is_guessed_from_lines() -> None:
    """Stamp, padded level, logger, message with pairs; tracebacks are no shape."""
    lines = [line.format(n=n) for n in range(20) for line in STAMPED]
    [one] = guess.guess(lines)
    regex = "".join(one.parts)
    assert re.fullmatch(regex, lines[1])
    assert (one.time, one.spelt) == ("ts", ("%Y-%m-%d %H:%M:%S,%3f",))
    assert one.pairs == "message"
    names = re.findall(r"\?P<(\w+)>", regex)
    assert names == ["ts", "level", "logger", "number_1", "message"]


def test_an_exchange_is_guessed_from_lines() -> None:
    """Client, request line and status are known by their shape."""
    line = '192.0.2.{n} [30/Nov/2026:05:22:41 +0000] "POST /v1/chat HTTP/1.1" 504 167 x'
    [one] = guess.guess([line.format(n=n) for n in range(1, 9)])
    names = re.findall(r"\?P<(\w+)>", "".join(one.parts))
    assert names[:4] == ["client", "ts", "request", "status"]
    assert one.fields == {"message": "request"}


def test_an_exchange_among_words_is_guessed() -> None:
    """Words before it are values, those behind it text; a status varies."""
    line = (
        "2026-11-30T05:22:41Z edge gw-{n}: POST /v1/chat -> {s} in {n}ms (0a{n:015d})"
    )
    [one] = guess.guess([line.format(n=n, s=(200, 504)[n % 2]) for n in range(9)])
    names = re.findall(r"\?P<(\w+)>", "".join(one.parts))
    assert names[:4] == ["ts", "word_1", "logger", "request"]
    assert names[4:] == ["status", "duration_ms", "request_id"]
    row = "1796016161.250;{s};0.{n};u-{n};r-000{n}x;/v1/chat"
    [one] = guess.guess([row.format(n=n, s=(200, 504)[n % 2]) for n in range(9)])
    names = re.findall(r"\?P<(\w+)>", "".join(one.parts))
    assert names == ["ts", "status", "number_2", "field_1", "field_2", "path"]
    assert one.fields == {"message": "path"}


def test_keys_of_objects_are_guessed() -> None:
    """Those that are always there, the stamp, and names that columns have elsewhere."""
    objects = [
        {"at": f"2026-11-30T05:22:4{n}Z", "lvl": "INFO", "msg": "x", "reqid": f"r-{n}"}
        for n in range(9)
    ]
    objects[3]["extra"] = "1"
    lines = [json.dumps(one) for one in objects]
    [one] = guess.guess(lines)
    assert one.json == ("at", "lvl", "msg", "reqid")
    assert (one.time, one.spelt) == ("at", ("%Y-%m-%dT%H:%M:%S%.f%#z",))
    assert one.fields == {"message": "msg", "level": "lvl", "request_id": "reqid"}


@pytest.mark.parametrize("lines", [[], [""], ["hello world"] * 9])
def test_nothing_is_guessed_from_nothing(lines: list[str]) -> None:
    """A line of words alone has no layout."""
    assert guess.guess(lines) == []


SECRETS = (
    "2026-11-30T05:22:41.250Z 203.0.113.9 alice@corp.test user=alice "
    "id=4669d272-3a60-4f08-9a30-6ce29f4a1d58 key=sk-abcdefgh12345678 "
    "trace=7f26411ec605c356e7f2e9477ad6dc2a 2001:db8:7::9 "
    "https://vault.corp.test/a?token=hunter2 prompt: 'tell me a secret 42' status=504"
)


def test_what_is_of_persons_and_places_is_invented() -> None:
    """Ids, addresses, names, keys, hosts, texts; stamps and numbers stay."""
    line = invented.line(SECRETS)
    for word in (
        "203.0.113.9", "alice", "corp", "4669d272", "abcdefgh", "7f26411e", "db8:7",
        "vault", "hunter2", "secret", "42'",
    ):  # fmt: skip
        assert word not in line, word
    assert line.startswith("2026-11-30T05:22:41.250Z 192.0.2.2 user1@example.com ")
    assert line.endswith("status=504")


def test_invented_values_keep_the_shape() -> None:
    """Lengths, dashes and kinds of characters; the same value becomes the same."""
    line = invented.line(SECRETS)
    found = re.search(r" id=(\S+) .*trace=(\S+) ", line)
    assert found is not None
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found.group(1))
    assert re.fullmatch(r"[0-9a-f]{32}", found.group(2))
    assert "prompt: 'xxxx xx x xxxxxx 00'" in line
    twice = invented.line("192.168.7.7 to 192.168.7.8 and 192.168.7.7")
    assert twice == "192.0.2.2 to 192.0.2.3 and 192.0.2.2"


@pytest.mark.parametrize(
    "text",
    [
        "plain", 'with "quotes"', r"with \x22", "it's", "'''", "two\nlines", "tab\there",
        "end'", "\x1b[31m", "é中", 'a\\"b\'c', "",
    ],
)  # fmt: skip
def test_text_is_written_as_toml(text: str) -> None:
    """And read back as it was."""
    written = tomllib.loads(f"x = {draft_text.string(text)}")
    assert written == {"x": text}
    assert "".join(draft_text.cut(text * 40)) == text * 40


SLOW = [r"(?P<a>(?:x+)+)y", r"(?P<a>(a|a)+)b", r"(?P<a>.*),(.*),(.*),(.*),(.*),(.*),z"]


@pytest.mark.parametrize("regex", SLOW)
def test_a_regex_that_never_ends_is_found(regex: str) -> None:
    """By lines that almost fit."""
    samples = ["xxxxy", "aaaab", "a,b,c,d,e,f,z"]
    fitting = [one for one in samples if re.fullmatch(regex, one)]
    assert blowup.endless(regex, fitting) is not None


@pytest.mark.parametrize("regex", SLOW)
def test_what_runs_does_not_suffer(regex: str) -> None:
    """The engine that reads logs takes linear time for the same lines."""
    assert blowup.slow(regex_plan(regex), ["xxxxy", "aaaab", "a,b,c,d,e,f,z"]) is None


def own(text: str) -> Format:
    """Read a format of one pattern."""
    whole = f"""
        [format]
        name = "own"
        layer = "model"
        component = "own"
        title = "own"
        {text}
    """
    loaded = formats.read("own.toml", whole, "host")
    assert loaded is not None
    return loaded


def test_notes_name_what_is_thin() -> None:
    """No look-alike, no time, nothing said of gaps, a group without any value."""
    thin = own(
        """[[pattern]]
        regex = '(?P<a>x)(?P<b>y)?'
        [[sample]]
        line = 'x'
        """
    )
    assert [note.message for note in notes_of(thin)] == [
        "nothing is said of what it misses",
        "no [[reject]]",
        "no time: its events get that of their neighbours, or of a wrapper",
        "pattern '1': no sample has a value for 'b'",
    ]


def test_a_users_pattern_is_left_to_the_engine_of_linear_time() -> None:
    """Python's engine, which may not end, never sees it while logs are read."""
    one = own(
        """[[pattern]]
        regex = '(?P<a>(?:x+)+)y'
        [[sample]]
        line = 'xy'
        """
    )
    [plan] = one.patterns[0].plans
    assert plan.may_take("x" * 2000) is True
