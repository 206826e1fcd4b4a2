"""Every query keeps its contract: header, columns, an empty case, any order of rows."""

import re

import pytest

from faultlayer import assets, queries, rule_bench, rule_cases
from faultlayer.queries import KEYS, Group, Query
from faultlayer.rule_bench import Bench, Prepared
from faultlayer.rule_records import RuleCase

QUERIES = assets.builtin("queries")
LIBRARY = queries.library(QUERIES)
GROUPS: tuple[Group, ...] = ("macros", "views", "conditions", "rules", "verdicts")
ALL: list[Query] = [query for group in GROUPS for query in queries.load(QUERIES, group)]
# Of each rule, condition and topic the case with the most records.
FULLEST = [
    max(cases, key=lambda case: (len(case.records), case.line))
    for cases in rule_cases.load(QUERIES).values()
]
# Views that hold what we know beforehand, whatever the case.
CONSTANTS = {"settings", "named_causes"}
LAYERS = {"model", "harness", "quota", "client"}
PARSERS = assets.builtin("parsers")
COMPONENT = re.compile(r'component = "([^"]+)"')
GENERIC = {
    "access", "answer", "config", "gpu", "harness", "host", "kernel", "metrics", "native",
    "provider-usage", "quota",
}  # fmt: skip


def named(query: Query) -> str:
    """Give the path as the name of a test."""
    return query.path.removeprefix("queries/")


@pytest.fixture(scope="module")
def nothing() -> Prepared:
    """Give a case without a single record, judged."""
    prepared = rule_bench.prepared(RuleCase("", "", 1, "no records"), LIBRARY)
    assert prepared.rows() == []
    return prepared


def products() -> set[str]:
    """Give the programs that formats are of; what every stack has is no product."""
    folders = [folder for folder in PARSERS.iterdir() if folder.is_dir()]
    files = [file for folder in folders for file in folder.iterdir()]
    texts = [file.read_text("utf-8") for file in files if file.name.endswith(".toml")]
    found = {name for text in texts for name in COMPONENT.findall(text)}
    return {name.lower() for name in found} - GENERIC


def test_no_rule_names_a_product() -> None:
    """Products live in formats and signatures: a rule knows kinds, layers and roles."""
    names = products()
    assert {"nginx", "envoy", "vllm", "litellm", "sglang"} < names
    said = {
        (query.path, name)
        for query in ALL
        if query.group in ("conditions", "rules", "verdicts")
        for name in names
        if re.search(
            rf"\b{re.escape(name)}\b",
            re.sub("--.*", "", query.statement),
            re.IGNORECASE,
        )
    }
    assert said == set()


@pytest.mark.parametrize("query", ALL, ids=named)
def test_header(query: Query) -> None:
    """The header has what its group needs, and says it in words."""
    known, needed = KEYS[query.group]
    assert needed <= query.header.keys() <= known
    assert all(value.strip() for value in query.header.values())
    assert not query.title[0].islower()
    assert not query.title.endswith(".")


@pytest.mark.parametrize(
    "query", [q for q in ALL if q.group in {"rules", "conditions"}], ids=named
)
def test_header_of_a_conclusion(query: Query) -> None:
    """Layer and cause belong together, and a rule lies in the folder of its layer."""
    assert query.header["layer"] in LAYERS
    cause = query.header["cause"]
    assert cause == "*" or cause.split(".")[0] == query.header["layer"]
    if query.group == "rules":
        assert query.path.split("/")[2] == query.header["layer"]
        assert query.header["role"] in {"root", "symptom"}
        assert query.header["precedence"].isdecimal()


@pytest.mark.parametrize("query", [q for q in ALL if q.group != "macros"], ids=named)
def test_runs_on_an_empty_case(query: Query, nothing: Prepared) -> None:
    """Without records it gives no rows; the one row about the logs says no."""
    rows = nothing.con.execute(query.statement).fetchall()
    if query.name in CONSTANTS:
        assert rows
        return
    assert rows == [] or set(rows) == {(False,) * len(rows[0])}


@pytest.mark.parametrize(
    "query", [q for q in ALL if q.group in {"rules", "conditions"}], ids=named
)
def test_columns(query: Query, nothing: Prepared) -> None:
    """Exactly the columns of the contract, with their types."""
    queries.check_columns(query, nothing.columns(query.statement))


@pytest.mark.parametrize("query", ALL, ids=named)
def test_last_select_names_its_columns(query: Query) -> None:
    """A reader sees what a row is; only a relation of the same file may be starred."""
    last = re.split(r"(?m)^SELECT\b", query.statement)[-1]
    columns = re.split(r"(?m)^FROM\b", last)[0]
    assert not re.search(r"(?m)^\s*\*(?:,?$| EXCLUDE| REPLACE)", columns)
    for relation in re.findall(r"(\w+)\.\*", columns):
        if query.header.get("store") == "kept":
            continue  # the rows of another view as they pass by, with all their columns
        assert query.group == "verdicts"
        assert relation == "findings"


@pytest.mark.parametrize("query", ALL, ids=named)
def test_first_of_has_an_order(query: Query) -> None:
    """`first`, `last` and `LIMIT` without ORDER BY depend on the order of the rows."""
    text = re.sub(r"--.*", "", query.statement)
    assert not re.search(r"\b(first|last|arbitrary)\s*\(", text)
    for match in re.finditer(r"\bLIMIT\b", text):
        before = text[: match.start()]
        assert "ORDER BY" in before[before.rfind("SELECT") :], query.path


@pytest.mark.deep
@pytest.mark.parametrize("case", FULLEST, ids=lambda case: case.subject)
def test_order_of_records_changes_nothing(case: RuleCase) -> None:
    """The same records in another order give the same rows, to the last column.

    What the cases expect is tested on records in another order anyway.
    """
    bench = Bench(LIBRARY)
    assert bench.prepared(case, seed=7).rows() == bench.prepared(case).rows()
