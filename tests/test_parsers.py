"""The format files hold: samples, look-alikes, and one taker for each line."""

import re
import time
from functools import cache

import polars as pl
import pytest

from faultlayer import assets, formats, parse, prove, wrappers
from faultlayer.formats import Format


@cache
def definitions() -> parse.Definitions:
    """Give the built-in definitions."""
    return parse.load_definitions()


@cache
def names() -> tuple[str, ...]:
    """Give the built-in formats by name."""
    return tuple(one.name for one in formats.load(assets.builtin("parsers")))


@pytest.mark.parametrize("name", names())
def test_a_format_is_proved_by_its_samples(name: str) -> None:
    """Each sample becomes the event that it promises, and no look-alike is taken."""
    format_ = definitions().format(name)
    found = prove.problems_of(format_, definitions())
    assert [str(problem) for problem in found] == []


@pytest.mark.parametrize("name", names())
def test_a_format_says_what_it_misses(name: str) -> None:
    """`misses` tells a reader where the format ends; look-alikes mark its border."""
    format_ = definitions().format(name)
    assert format_.misses.endswith(".")
    assert len(format_.samples) > 1
    assert format_.rejects


def test_wrappers_are_proved_by_their_samples() -> None:
    """Each wrapper takes its sample, and no other one does."""
    found = [
        str(problem)
        for wrapper in definitions().wrappers
        for problem in prove.wrapper_problems(wrapper, definitions())
    ]
    assert found == []
    for wrapper in definitions().wrappers:
        assert len(wrapper.samples) > 1, wrapper.name
        assert wrapper.rejects, wrapper.name
    files = (assets.builtin("parsers") / "wrappers").iterdir()
    known = {file.name.removesuffix(".toml") for file in files}
    assert {one.name for one in wrappers.load(assets.builtin("parsers"))} == known


def test_a_planted_copy_is_caught() -> None:
    """The proof sees two formats that take one line: it would not pass everything."""
    known = definitions()
    twin = known.format("quota_ledger")
    text = twin.text.replace('name = "quota_ledger"', 'name = "twin"')
    copy = formats.read("parsers/quota/twin.toml", text, "quota")
    assert copy is not None
    both = parse.Definitions((*known.formats, copy), known.wrappers, None)
    found = [str(problem) for problem in prove.problems_of(copy, both)]
    assert any("quota_ledger takes this sample too" in one for one in found)


def test_a_sample_that_promises_too_much_is_caught() -> None:
    """A wrong value, a wrong attribute and a wrong pattern are told apart."""
    known = definitions().format("uvicorn")
    text = known.text.replace("status = 200", "status = 201, attrs = { a = 1 }")
    wrong = formats.read(known.path, text, "harness")
    assert wrong is not None
    found = prove.problems_of(wrong, definitions())
    assert [one.message for one in found] == [
        "status is 200, not 201",
        "attrs.a is None, not 1",
    ]
    [first, _] = [str(one).split("\n") for one in found]
    [_, line, caret] = first
    assert line[caret.index("^") :].startswith("201, attrs")


def _near_misses(format_: Format) -> list[str]:
    """Give samples whose end is changed and repeated: what makes a regex go back."""
    lines = [sample.line.split("\n", maxsplit=1)[0] for sample in format_.samples]
    return [line[:-1] + line[len(line) // 2 :] * 400 + "\x01" for line in lines]


@pytest.mark.parametrize("name", names())
def test_no_pattern_is_slow_on_a_near_miss(name: str) -> None:
    """Lines of 40 KB that almost fit cost milliseconds."""
    format_ = definitions().format(name)
    lines = pl.Series(_near_misses(format_))
    for pattern in format_.patterns:
        for plan in pattern.plans:
            start = time.perf_counter()
            plan.match(lines)
            assert time.perf_counter() - start < 2.0, pattern.name


def test_every_kind_is_a_word_of_the_vocabulary() -> None:
    """A kind that a format fixes is listed among the kinds of the signatures."""
    text = (assets.builtin("parsers") / "signatures" / "kinds.toml").read_text("utf-8")
    known = set(re.findall(r'name = "(\w+)"', text)) | {"config_comment"}
    fixed = {
        pattern.kind
        for format_ in definitions().formats
        for pattern in format_.patterns
        if pattern.kind is not None
    }
    assert fixed <= known
