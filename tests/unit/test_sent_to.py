"""What a harness sends to an engine, called by whatever word, is known by its log's name."""

import polars as pl
import pytest

from faultlayer import sent_to


def engines(*attrs: str | None, **columns: str | None) -> list[str | None]:
    """Give the engines of records with these attributes, beside engine-0 and sd.1."""
    row = {
        "layer": "harness",
        "kind": None,
        "engine": None,
        "request_id": "r-1",
    } | columns
    events = pl.DataFrame(
        [row | {"attrs": one} for one in attrs],
        schema=dict.fromkeys([*row, "attrs"], pl.String),
    )
    rows = sent_to.asked(events)
    found = sent_to.named(events, rows, sent_to.pattern({"engine-0", "sd.1"}))
    return found.get_column("engine").to_list()


def test_any_word_counts_with_the_name_of_an_engine_alone() -> None:
    """Bare, with a port, in a URL, in a cluster's name; no other program, nothing longer."""
    assert engines(
        '{"backend":"engine-0"}',
        '{"at":"x","Worker":"sd.1"}',
        '{"target":"engine-0:8000"}',
        '{"upstream":"http://engine-0.llm.svc:8000/v1"}',
        '{"backend":"nccl"}',
        '{"backend":"engine-01"}',
        '{"worker":"sdx1"}',
        '{"note":"engine-0"}',
        None,
    ) == [
        "engine-0", "sd.1", "engine-0", "engine-0", None, None, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("column", "value", "engine"),
    [
        ("layer", "model", None),
        ("kind", "access", None),
        ("kind", "other", "engine-0"),
        ("request_id", None, None),
        ("engine", "engine-7", "engine-7"),
    ],
)
def test_only_records_of_requests_in_a_harness_that_name_none(
    column: str, value: str | None, engine: str | None
) -> None:
    """An engine's own record, an exchange, one without a request or with an engine: left."""
    assert engines('{"backend":"engine-0"}', **{column: value}) == [engine]


def test_without_engines_nothing_is_looked_for() -> None:
    """A name of digits alone is none."""
    assert sent_to.pattern([]) is None
    assert sent_to.pattern(["7"]) is None
    events = pl.DataFrame({"layer": ["harness"]})
    assert sent_to.named(events, pl.Series([0]), None).equals(events)
