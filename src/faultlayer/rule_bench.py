"""Asks what rules, conditions and verdicts give for the records of a case."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from faultlayer import database, queries, rule_records
from faultlayer.classify import CORRECTED, Classifier
from faultlayer.queries import Library, Query
from faultlayer.rule_records import START, RuleCase

# What the names of prepared statements begin with.
_PLAN = "plan_"


class _Stages(Classifier):
    """A classifier that makes no more than is asked for: most cases need little.

    Planning a statement takes longer than running it over a handful of records: what
    is made again for another case is planned once and kept.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, case_dir: Path, library: Library
    ) -> None:
        super().__init__(con, case_dir, library)
        self._made: frozenset[str] = frozenset()
        self._run: dict[str, int] = {}  # how often each statement ran

    def forget(self) -> None:
        """Take note that the records are others now."""
        self._made = frozenset()
        self._bare.clear()

    def make_for(self, statement: str) -> None:
        """Make what a statement reads: views, and conditions with what they read."""
        needed = queries.words(statement)
        conditions = "conditions" in needed and "conditions" not in self._made
        if conditions:
            needed = needed.union(
                *(queries.words(c.statement) for c in self._library.conditions)
            )
        views = []
        for view in reversed(self._library.views):
            if view.order >= CORRECTED and view.name in needed:
                views.append(view)
                needed |= queries.words(view.statement)
        for view in reversed(views):
            if view.name not in self._made:
                self._make(view, in_memory=True)
                self._made |= {view.name}
        if conditions:
            self._find_conditions()

    def judge_all(self) -> None:
        """Go on to the verdicts."""
        library = self._library
        every = (*library.views, *library.conditions, *library.rules, *library.verdicts)
        # Findings are written with the help of a view that no file of its own reads.
        self.make_for(
            " ".join(["relayed_records", *(query.statement for query in every)])
        )
        self.judge()

    def _find_conditions(self) -> None:
        if "conditions" not in self._made:
            self._made |= {"conditions"}
            super()._find_conditions()

    def _make(self, query: Query, *, in_memory: bool = False) -> None:
        if query.header.get("store", "view") == "view":
            if query.name not in self._run:
                self._run[query.name] = 1
                super()._make(query, in_memory=in_memory)
            return
        statement = query.statement
        if query.header["store"] == "twice":
            statement = f"FROM ({statement}) GROUP BY ALL HAVING count(*) > 1"
        if query.name in self._run:
            self._con.execute(f"TRUNCATE {query.name}")
            first = ""
        else:
            first = f"CREATE TEMP TABLE {query.name} AS {statement}"
        self._again(query.name, f"INSERT INTO {query.name} {statement}", {}, first)

    def _empty(self, name: str) -> None:
        if name in self._run:
            self._con.execute(f"TRUNCATE {name}")
        else:
            self._run[name] = 1
            super()._empty(name)

    def _insert(
        self, query: Query, statement: str, values: Mapping[str, str | int]
    ) -> None:
        self._again(f"{query.group}_{query.name}", statement, values)

    def _again(
        self,
        name: str,
        statement: str,
        values: Mapping[str, str | int],
        first: str = "",
    ) -> None:
        """Run a statement; from the second time on it is planned already."""
        runs = self._run[name] = self._run.get(name, 0) + 1
        if runs == 1:
            self._con.execute(first or statement, dict(values))
            return
        if runs == 2:  # noqa: PLR2004
            self._con.execute(f"PREPARE {_PLAN}{name} AS {statement}")
        # Of another type than the statement has, they would have it planned anew.
        given = ", ".join(
            f"{key} := {one}::BIGINT"
            if isinstance(one, int)
            else f"{key} := {database.literal(one)}"
            for key, one in values.items()
        )
        self._con.execute(f"EXECUTE {_PLAN}{name}" + (f"({given})" if given else ""))


class Bench:
    """A connection on which cases are asked, one after another.

    `own` rules and conditions stand in the library already.
    """

    def __init__(self, library: Library) -> None:
        self.con = database.connect(threads=1)
        self.con.execute("PRAGMA disable_optimizer")  # longer than such tables repay
        rule_records.make_tables(self.con)
        self._stages = _Stages(self.con, Path(), library)

    def prepared(self, case: RuleCase, *, seed: int | None = None) -> "Prepared":
        """Take the records of a case in the place of those before.

        With a `seed` they are in another order. What the bench gave before must not
        be asked any more. Raises DefinitionError for records that no table can hold.
        """
        rule_records.fill(self.con, case, seed)
        self._stages.forget()
        return Prepared(case, self.con, self._stages)


def prepared(
    case: RuleCase, library: Library, *, seed: int | None = None
) -> "Prepared":
    """Take the records of a case on a connection of its own; see `Bench.prepared`."""
    return Bench(library).prepared(case, seed=seed)


class Prepared:
    """A case whose records are there; what a statement reads is made for it.

    Asking raises duckdb.Error for a query that does not run.
    """

    def __init__(
        self, case: RuleCase, con: duckdb.DuckDBPyConnection, stages: _Stages
    ) -> None:
        self.case = case
        self.con = con
        self._stages = stages
        self._judged = False

    def fired(self, statement: str) -> dict[str, str]:
        """Run a rule's statement; gives `{request id: "cause strength"}`.

        Later attempts of a request are `id#2`, attempts without an id `-`; several
        causes of one attempt are joined by `; `; a finding that the clocks could
        change ends in ` clock_sensitive`.
        """
        return self._answers(f"({statement})")

    def without(self, table: str, query: Query) -> object:
        """Give what a rule or condition answers when a table has no rows."""
        answer = self.fired if query.group == "rules" else self.found
        self.con.execute("BEGIN")
        try:
            self.con.execute(f"DELETE FROM {table}")
            return answer(query.statement)
        finally:
            self.con.execute("ROLLBACK")

    def verdicts(self) -> dict[str, str]:
        """Give the verdicts, written like what `fired` gives."""
        self._judge()
        return self._answers("verdicts")

    def found(self, statement: str) -> tuple[str, ...]:
        """Run a condition's statement; gives "cause kind:scope from..to", in order.

        Times are seconds of the case; an open end is left out. Symptoms and conditions
        whose clock is untied say so in a last word.
        """
        self._stages.make_for(statement)
        rows = self.con.execute(
            f"""
            SELECT cause, scope_kind, scope, ts_start, ts_end, role, clock_status
            FROM ({statement})
            ORDER BY ts_start, cause, scope_kind, scope, ts_end
            """
        ).fetchall()
        return tuple(
            f"{cause} {kind}:{scope} {_seconds(first)}..{_seconds(last)}"
            + (" symptom" if role == "symptom" else "")
            + (" untied" if clock == "untied" else "")
            for cause, kind, scope, first, last, role, clock in rows
        )

    def columns(self, statement: str) -> list[tuple[str, str]]:
        """Give names and types of what a statement returns."""
        self._stages.make_for(statement)
        rows = self.con.execute(f"DESCRIBE {statement}").fetchall()
        return [(row[0], row[1]) for row in rows]

    def reasons(self) -> str:
        """Say which rules decided and why, one attempt a line."""
        self._judge()
        rows = self.con.execute(
            "SELECT coalesce(request_id, '-'), rule, because FROM verdicts ORDER BY ALL"
        ).fetchall()
        return "\n".join(f"    {who}: {rule}: {why}" for who, rule, why in rows)

    def rows(self) -> list[tuple[Any, ...]]:
        """Give every row of all that is concluded, in an order of their own."""
        self._judge()
        found: list[tuple[Any, ...]] = []
        names = ("attempts", "conditions", "findings", "verdicts", "incidents")
        for name in (*names, "cascades"):
            got = self.con.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall()
            found.extend((name, *row) for row in got)
        return found

    def _judge(self) -> None:
        if not self._judged:
            self._stages.judge_all()
            self._judged = True

    def _answers(self, relation: str) -> dict[str, str]:
        self._stages.make_for(f"{relation} failures")
        rows = self.con.execute(
            f"""
            SELECT
                coalesce(failures.request_id, '-')
                || CASE WHEN failures.attempt > 1 THEN '#' || failures.attempt ELSE ''
                END,
                string_agg(
                    answers.cause || ' ' || answers.strength
                    || CASE WHEN answers.clock_sensitive THEN ' clock_sensitive'
                    ELSE '' END,
                    '; ' ORDER BY answers.cause, answers.strength
                )
            FROM {relation} AS answers
            INNER JOIN failures ON answers.attempt_id = failures.attempt_id
            GROUP BY 1
            ORDER BY 1
            """
        ).fetchall()
        return dict(rows)


def _seconds(moment: datetime | None) -> str:
    return "" if moment is None else f"{(moment - START).total_seconds():.6g}"
