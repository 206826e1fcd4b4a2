"""Rules, conditions and verdicts do what their cases say, in every part of them."""

import re
from functools import cached_property
from pathlib import Path

import duckdb
import pytest

from faultlayer import assets, mutants, queries, rule_bench, rule_cases
from faultlayer.errors import DefinitionError
from faultlayer.queries import Query
from faultlayer.rule_bench import Bench, Prepared

QUERIES = assets.builtin("queries")
LIBRARY = queries.library(QUERIES)
CASES = rule_cases.load(QUERIES)
SUBJECTS = rule_cases.subjects(QUERIES)

# Parts that no case can notice, by subject and the text of the part, and why each is
# no gap. A part that a case does notice after all must leave this list.
EQUIVALENT: dict[tuple[str, str], str] = {
    ("token_rate_limit_window", "(conditions.clock_status != 'untied')"): (
        "tokens are counted in the edge's own time so far"
    ),
    ("conditions/upstream_trouble", "(conditions.\"role\" = 'root')"): (
        "every condition of the model layer is a root so far"
    ),
}


class Subject:
    """A rule or condition with its cases, prepared once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.query: Query | None = SUBJECTS.get(name)
        self.cases = CASES.get(name, [])

    def answers(self, prepared: Prepared, statement: str) -> object:
        """Run the statement in place of the subject's own."""
        if self.query is not None and self.query.group == "conditions":
            return prepared.found(statement)
        return prepared.fired(statement)

    @cached_property
    def by_use(self) -> list[tuple[Prepared, object]]:
        """The cases and what they answer as things are, the last that noticed first."""
        assert self.query is not None
        statement = self.query.statement
        prepared = [rule_bench.prepared(case, LIBRARY, seed=1) for case in self.cases]
        return [(case, self.answers(case, statement)) for case in prepared]

    def notices(self, mutant: str) -> bool:
        """Whether some case answers otherwise with a mutant than without.

        Neighbouring parts are often noticed by one case: it is asked first.
        """
        for at, (prepared, wanted) in enumerate(self.by_use):
            try:
                same = self.answers(prepared, mutant) == wanted
            except duckdb.Error:
                same = False
            if not same:
                self.by_use.insert(0, self.by_use.pop(at))
                return True
        return False


@pytest.fixture(scope="module")
def bench() -> Bench:
    """Give the connection on which cases are asked one after another."""
    return Bench(LIBRARY)


@pytest.fixture(scope="module")
def subject(request: pytest.FixtureRequest) -> Subject:
    """Give the subject that a test is about; its two tests share the cases."""
    return Subject(request.param)


@pytest.mark.parametrize("subject", sorted({*CASES, *SUBJECTS}), indirect=True)
def test_cases_hold(subject: Subject, bench: Bench) -> None:
    """Every case gives what it should, and there are cases of both kinds."""
    query = subject.query
    found = [] if query is None else list(rule_cases.gaps(query, CASES[subject.name]))
    for case in subject.cases:
        # In an order of their own: no answer may hang on that of the file.
        prepared = bench.prepared(case, seed=1)
        found.extend(rule_cases.wrong(prepared, query))
    assert not found, "\n".join(found)


@pytest.mark.deep
@pytest.mark.parametrize("subject", sorted(SUBJECTS), indirect=True)
def test_every_part_matters(subject: Subject) -> None:
    """No part can be left out of a statement without a case that notices."""
    assert subject.query is not None
    idle = [
        part
        for mutant, part in mutants.without_conditions(subject.query.statement)
        if not subject.notices(mutant)
    ]
    known = [part for name, part in EQUIVALENT if name == subject.name]
    assert sorted(set(idle)) == sorted(known), (
        f"{subject.query.path}: these parts can be left out and no case notices."
        " Add the case that fires with one fact changed, or drop the part:\n"
        + "\n".join(f"    {part}" for part in sorted(set(idle) - set(known)))
    )


def test_case_files_prove_something_that_is_there() -> None:
    """A case file has the name of a rule or condition, in the folder of its layer."""
    assert list(rule_cases.strays(CASES, SUBJECTS)) == []


def test_precedences_are_unique() -> None:
    """The order among equals is total."""
    numbers = [
        int(query.header["precedence"])
        for query in SUBJECTS.values()
        if query.group == "rules"
    ]
    assert sorted(numbers) == sorted(set(numbers))


def test_leaving_out_knows_every_kind_of_part() -> None:
    """Sides, clauses, joins, arms and listed values go one at a time."""
    statement = """
        SELECT a.x, CASE WHEN a.y THEN 1 ELSE 2 END AS z, CASE WHEN a.q THEN 'r' END
            AS because
        FROM a
        INNER JOIN b ON a.x = b.x
        ASOF LEFT JOIN c ON a.t >= c.t
        WHERE (a.k IN ('p', 'q') OR a.j) AND NOT EXISTS (SELECT 1 FROM u WHERE u.v)
            AND list_has_any(a.l, ['s', 't'])
        GROUP BY a.x
        HAVING count(*) > 1
    """
    parts = [part for _, part in mutants.without_conditions(statement)]
    assert sorted(parts) == sorted(
        [
            "((a.k IN ('p', 'q')) OR a.j)",
            "(NOT EXISTS(SELECT 1 FROM u WHERE u.v))",
            "list_has_any(a.l, list_value('s', 't'))",
            "(a.k IN ('p', 'q'))",
            "a.j",
            "'p'",
            "'q'",
            "'s'",
            "'t'",
            "u.v",
            "(a.x = b.x)",
            "a.y",
            "(count_star() > 1)",
        ]
    )


def test_leaving_out_changes_nothing_else() -> None:
    """Each mutant is the statement without one part."""
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT x FROM range(10) AS r (x)")
    statement = "SELECT t.x FROM t WHERE t.x > 3 AND t.x < 6 AND t.x IN (1, 4, 5, 8)"
    got = {
        part: [row[0] for row in con.execute(f"{mutant} ORDER BY 1").fetchall()]
        for mutant, part in mutants.without_conditions(statement)
    }
    assert got == {
        "(t.x > 3)": [1, 4, 5],
        "(t.x < 6)": [4, 5, 8],
        "(t.x IN (1, 4, 5, 8))": [4, 5],
        "1": [4, 5],
        "4": [5],
        "5": [4],
        "8": [4, 5],
    }


def test_a_statement_that_cannot_be_taken_apart_is_an_error() -> None:
    """It would else count as one whose parts all matter."""
    with pytest.raises(DefinitionError, match="cannot be taken apart"):
        list(mutants.without_conditions("SELECT 1 FROM WHERE"))


@pytest.fixture
def own_queries(tmp_path: Path) -> Path:
    """Give a folder of definitions with one rule and its cases, all well."""
    rule = tmp_path / "rules" / "quota" / "refused.sql"
    rule.parent.mkdir(parents=True)
    rule.write_text(
        """-- title: Refused
-- layer: quota
-- cause: quota.exceeded
-- role: root
-- precedence: 1
-- known gaps: all
SELECT
    failures.attempt_id,
    'quota.exceeded' AS cause,
    'inferred' AS strength,
    failures.ts AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [failures.attempt_id] AS evidence,
    'status 429' AS because
FROM failures
WHERE failures.status = 429
"""
    )
    (tmp_path / "views").mkdir()
    (tmp_path / "views" / "10_failures.sql").write_text(
        """-- title: Failed attempts
SELECT
    events.event_id AS attempt_id,
    events.request_id,
    1 AS attempt,
    events.ts,
    events.status
FROM events
WHERE events.status >= 400
"""
    )
    cases = tmp_path / "cases" / "quota" / "refused.toml"
    cases.parent.mkdir(parents=True)
    cases.write_text(
        """[[event]]
name = "exchange"
log = "access"
kind = "access"
id = "r-1"
at = 1.0
status = 429

[[case]]
name = "429"
fires = { r-1 = "quota.exceeded inferred" }

[[case]]
name = "503"
set = { exchange = { status = 503 } }
fires = {}
"""
    )
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    """Change one place of a file."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_cases_that_hold_are_no_problem(own_queries: Path) -> None:
    """An author's folder is judged like the built-in one."""
    assert list(rule_cases.problems(own_queries)) == []


def test_problem_of_a_wrong_answer(own_queries: Path) -> None:
    """The message has file, line, case, what was expected, and what came."""
    change(own_queries / "rules/quota/refused.sql", "= 429\n", "= 503\n")
    assert list(rule_cases.problems(own_queries)) == [
        "queries/cases/quota/refused.toml:9: case '429':"
        " queries/rules/quota/refused.sql must fire"
        "\n    r-1 = 'quota.exceeded inferred', not 'nothing'",
        "queries/cases/quota/refused.toml:13: case '503':"
        " queries/rules/quota/refused.sql must fire"
        "\n    r-1 = 'nothing', not 'quota.exceeded inferred'",
    ]


def test_problem_of_a_rule_without_cases(own_queries: Path) -> None:
    """A rule must be seen to fire and to stay silent."""
    (own_queries / "cases/quota/refused.toml").unlink()
    got = list(rule_cases.problems(own_queries))
    assert [line.split(";")[0] for line in got] == [
        "queries/rules/quota/refused.sql: no case in which it fires something",
        "queries/rules/quota/refused.sql: no case in which it fires nothing",
    ]


def test_problem_of_a_file_that_proves_nothing(own_queries: Path) -> None:
    """A case file is called like its rule, in the folder of its layer."""
    cases = own_queries / "cases/quota/refused.toml"
    cases.rename(cases.with_name("refusal.toml"))
    got = list(rule_cases.problems(own_queries))
    assert got[0].startswith("queries/cases/quota/refusal.toml: no rule or condition")


def test_problem_of_a_folder(own_queries: Path) -> None:
    """The folder of a case file is the layer of its rule."""
    folder = own_queries / "cases/model"
    folder.mkdir()
    (own_queries / "cases/quota/refused.toml").rename(folder / "refused.toml")
    assert list(rule_cases.problems(own_queries)) == [
        "queries/cases/model/refused.toml: belongs in queries/cases/quota"
    ]


def test_problem_of_a_contract(own_queries: Path) -> None:
    """A rule that returns other columns is told which it must return."""
    change(own_queries / "rules/quota/refused.sql", "'status 429'", "429")
    got = list(rule_cases.problems(own_queries))
    assert len(got) == 2
    assert "because INTEGER instead of" in got[0]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("events", ""),
        ("aliases", "does not need aliases"),
        ("evnts", "evnts does not exist"),
    ],
)
def test_problem_of_a_table_that_is_not_needed(
    own_queries: Path, table: str, said: str
) -> None:
    """A header must not have a rule passed over that would fire."""
    rule = own_queries / "rules/quota/refused.sql"
    change(rule, "-- known gaps", f"-- needs: {table}\n-- known gaps")
    got = list(rule_cases.problems(own_queries))
    assert len(got) == bool(said)
    assert said in "".join(got)


def test_problem_of_a_statement(own_queries: Path) -> None:
    """A rule that does not run says so with the database's words, once per case."""
    change(own_queries / "rules/quota/refused.sql", "failures.ts AS", "failures.tt AS")
    got = list(rule_cases.problems(own_queries))
    assert len(got) == 2
    assert "queries/rules/quota/refused.sql: Binder Error" in got[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('log = "access"', 'log = "acces"', "no log 'acces'"),
        ("status = 429", "state = 429", r"no columns \['state'\]"),
        ("status = 429", 'status = "429"', "another type"),
    ],
)
def test_problem_of_a_record(
    own_queries: Path, old: str, new: str, message: str
) -> None:
    """A record that cannot be one is reported with the case it is in."""
    change(own_queries / "cases/quota/refused.toml", old, new)
    got = list(rule_cases.problems(own_queries))
    assert got
    assert got[0].startswith("queries/cases/quota/refused.toml:9")
    assert re.search(message, got[0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fires = {}", "fire = {}", r"503: unknown keys \['fire'\]"),
        ("fires = {}", "", "503: expects nothing"),
        ("set = { exchange", "set = { exchanged", r"no shared records \['exchanged'\]"),
        ('name = "503"', "", "'name' is missing"),
        ("at = 1.0", "at = ", "line 6"),
    ],
)
def test_problem_of_a_case_file(
    own_queries: Path, old: str, new: str, message: str
) -> None:
    """A case file that cannot be read is an error with its path and reason."""
    change(own_queries / "cases/quota/refused.toml", old, new)
    with pytest.raises(DefinitionError, match=message) as caught:
        list(rule_cases.problems(own_queries))
    assert "queries/cases/quota/refused.toml" in str(caught.value)


def test_names_stay_unique() -> None:
    """No rule shares its name with another, in any layer."""
    names = [query.name for query in queries.load(QUERIES, "rules")]
    assert sorted(names) == sorted(set(names))
