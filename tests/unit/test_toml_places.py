"""Where keys and values of a TOML file stand, to the character."""

import tomllib
from collections.abc import Iterator

import pytest

from faultlayer import assets
from faultlayer.toml_places import Path, places

TEXT = '''# a = 1
name = "x"
"quoted key" = 'y'
list = ["a", # comment ]
        'b,]', """c
d""", 4]

[[pattern]]
regex = ['ab(', 'c']
sub.key = { x = 1, "y z" = 'q' }

[[pattern]]
text = """
first \\"two\\" \\u00e9x"""

[pattern.json]
require = "k"
'''


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        (("name",), 2, 1),
        (("quoted key",), 3, 1),
        (("list", 2), 5, 16),
        (("pattern", 0), 8, 1),
        (("pattern", 0, "sub", "key", "y z"), 10, 20),
        (("pattern", 1, "text"), 13, 1),
        (("pattern", 1, "json"), 16, 1),
        (("pattern", 1, "json", "require"), 17, 1),
        (("pattern", 1, "json", "absent"), 16, 1),
    ],
)
def test_a_key_is_found(path: Path, line: int, column: int) -> None:
    """In tables, arrays of them, and within a line; else the table it would be in."""
    found = places(TEXT)
    offset = found.key(path)
    assert offset is not None
    assert found.position(offset) == (line, column)


@pytest.mark.parametrize(
    ("path", "index", "char"),
    [
        (("name",), 0, "x"),
        (("pattern", 0, "regex"), 2, "("),
        (("pattern", 0, "regex"), 3, "c"),
        (("pattern", 1, "text"), 6, "\\"),  # the escaped quote
        (("pattern", 1, "text"), 12, "\\"),  # an escaped letter
        (("pattern", 1, "text"), 13, "x"),
        (("list", 1), 1, ","),
    ],
)
def test_a_character_of_a_value_is_found(path: Path, index: int, char: str) -> None:
    """Also of strings that are joined, and behind escapes."""
    found = places(TEXT)
    offset = found.inside(path, index)
    assert offset is not None
    assert TEXT[offset] == char


def _texts(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _texts(one, (*path, number))
    else:
        yield path, value


def test_every_value_of_every_definition_is_found() -> None:
    """What stands at the place of a text is that text."""
    count = 0
    for folder in assets.builtin("parsers").iterdir():
        for file in folder.iterdir() if folder.is_dir() else ():
            if not file.name.endswith(".toml"):
                continue
            text = file.read_text("utf-8")
            found = places(text)
            for path, value in _texts(tomllib.loads(text), ()):
                span = found.values[path]
                if isinstance(value, str) and not span.escaped:
                    assert text[span.start : span.end] == value, (file.name, path)
                    count += 1
    assert count > 1000


@pytest.mark.parametrize(
    "text", ["[", "a", "a = ", "a = [1, ", 'a = "', "a = { b", "]"]
)
def test_what_is_no_toml_has_fewer_places(text: str) -> None:
    """The parser has said so already; here it is no error."""
    assert places(text).text == text
