"""A line that no format takes: how near it comes, and what is in the way."""

import pytest

from faultlayer import explanation, formats, near, parse
from faultlayer.detect import Definitions
from faultlayer.errors import UsageError

LINE = (
    '192.0.2.7 - - [12/Nov/2026:22:10:03 +0000] "POST /v1/chat/completions HTTP/1.1"'
    ' 200 960 "-" "openai-python/2.8.1" rt=1.909 uct="0.002" uht="1.905" urt="1.907"'
    " req_id=4669d272-3a60-4f08-9a30-6ce29f4a1d58 quota_used=26.73"
)


def own(pattern: str) -> formats.Format:
    """Make a format of one pattern."""
    text = f"""
        [format]
        name = "own"
        layer = "harness"
        component = "own"
        title = "own"
        [[pattern]]
        name = "only"
        {pattern}
        [[sample]]
        line = "x"
    """
    loaded = formats.read("parsers/host/own.toml", text, "host")
    assert loaded is not None
    return loaded


@pytest.mark.parametrize(
    ("pattern", "line", "taken", "wanted"),
    [
        (
            "log_format = '$remote_addr [$time_local] \"$request\" $status end'",
            '192.0.2.7 [12/Nov/2026:22:10:03 +0000] "GET / HTTP/1.1" abc end',
            56,
            "$status",
        ),
        ("regex = ['(?P<a>\\w+) ', '(?P<b>\\d+)']", "word x", 5, "(?P<b>\\d+)"),
        ("regex = ['(?P<a>\\w+)']", "word x", 4, "the end of the line"),
        ("json = { require = ['a', 'b'], keys = ['a'] }", '{"a": 1}', 1, "the keys b"),
        ("json = { require = ['a'], keys = ['a'] }", "text", 0, "a JSON object"),
    ],
)
def test_the_first_part_that_fails_is_named(
    pattern: str, line: str, taken: int, wanted: str
) -> None:
    """With how much of the line the parts before it took."""
    [miss] = near.misses([own(pattern)], line)
    assert (miss.taken, miss.wanted) == (taken, wanted)


def test_a_pattern_that_takes_the_line_is_no_miss() -> None:
    """Nothing is in the way."""
    assert near.misses([own("regex = ['(?P<a>\\w+) ', '(?P<b>\\d+)']")], "word 7") == []


@pytest.fixture(scope="module")
def definitions() -> Definitions:
    """Load the built-in definitions once."""
    return parse.load_definitions()


def explained(
    definitions: Definitions, text: str, name: str | None = None
) -> list[str]:
    """Give the explanation as text."""
    return [line.plain for line in explanation.lines(definitions, text, name, 100)]


def test_a_known_line_shows_its_event(definitions: Definitions) -> None:
    """Typed and in units, with the reason."""
    lines = explained(definitions, LINE)
    assert "status                200" in lines
    assert "duration_ms           1909.0" in lines
    assert lines[-1] == "detected by nginx_harness_full: 1 of 1 lines"


def test_an_unknown_line_shows_what_is_in_the_way(definitions: Definitions) -> None:
    """The nearest format first."""
    lines = explained(definitions, LINE.replace(" 200 960 ", " 200 x960 "))
    assert lines[0] == "no format takes it"
    assert any(line.startswith("nginx_combined (pattern combined)") for line in lines)
    carets = [n for n, line in enumerate(lines) if "^ does not fit" in line]
    assert len(carets) == 3
    for n in carets:
        assert lines[n - 1].index("x960") == lines[n].index("^")
    assert "  wants:  $body_bytes_sent" in lines
    lines = explained(definitions, "hello")
    assert lines[0] == "no format takes it"
    assert lines[1] == f"tried {len(definitions.formats)} formats, none comes near it"
    assert lines[2] == "faultlayer formats new --from FILE drafts one from its log"


def test_one_format_can_be_asked(definitions: Definitions) -> None:
    """It says no for itself, and an unknown one is a mistake."""
    assert explained(definitions, LINE, "vllm")[0] == "vllm does not take it"
    with pytest.raises(UsageError, match="no format 'nope'"):
        explained(definitions, LINE, "nope")
