"""Figures about whole days of logs are those that were worked out by hand."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.figures import cashbook, crowd, two_fires
from tests.figures.day import Day

from faultlayer import database, funnel, investigations
from faultlayer.analyze import analyze
from faultlayer.case import Case

ASKS = {one.name: one for one in investigations.load()}
Rows = list[tuple[Any, ...]]


class Figures:
    """A finished case of a day."""

    def __init__(self, day: Day, case: Case) -> None:
        self.day, self.case = day, case

    def asked(self, name: str, columns: str, *settings: str) -> Rows:
        """Give columns of a saved investigation, in its own order."""
        one = ASKS[name]
        with database.reading(self.case.path) as con:
            found = con.execute(one.query.statement, one.values(settings))
            names = [item[0] for item in found.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return [
            tuple(self.told(row[column]) for column in columns.split()) for row in rows
        ]

    def sql(self, statement: str) -> Rows:
        """Give the rows of a statement."""
        with database.reading(self.case.path) as con:
            rows = con.execute(statement).fetchall()
        return [tuple(self.told(value) for value in row) for row in rows]

    def told(self, value: Any) -> Any:
        """Spell a time as the working does, to the second, and leave the rest."""
        if not hasattr(value, "strftime"):
            return value
        return value.strftime("%H:%M:%S")


def figures(write: Callable[[Path], Day], folder: Path) -> Figures:
    """Write a day's logs and analyze them."""
    day = write(folder / "logs")
    return Figures(day, analyze([str(folder / "logs")], folder / "case"))


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Give the day of the cashbook."""
    return figures(cashbook.write, tmp_path_factory.mktemp("cashbook"))


def test_each_odd_entry_is_told_once(book: Figures) -> None:
    """Eight kinds, each with the requests that have it, and no other entry."""
    kinds = {
        "another amount than its access record": ["r11"],
        "another amount than its formula": ["r9"],
        "charged more often than it was tried": ["r5", "r5"],
        "charged, and failed": ["r6", "r15", "r15", "r15", "r15"],
        "charged, and no log knows the request": ["r8"],
        "more GPUs than other entries of that model": ["r4"],
        "other tokens than the gateway counted": ["r10"],
        "served, and not charged": ["r7"],
    }
    right = [
        (odd, book.day.rid(name)) for odd, names in kinds.items() for name in names
    ]
    assert book.asked("ledger_mismatches", "odd request_id") == right


def test_what_retries_cost(book: Figures) -> None:
    """The charge of the attempt that was served in the end was not for nothing."""
    columns = "user_id requests attempts amplification failed charged wasted_gpu_seconds wasted_amount"
    assert book.asked("retry_waste", columns) == [
        ("u-max", 5, 9, 1.8, 4, 4, 4.0, 52.0),
        ("u-lee", 6, 6, 1.0, 2, 1, 1.0, 13.0),
        ("u-kim", 5, 5, 1.0, 1, 0, 0.0, 0.0),
    ]
    [(because,)] = book.sql(
        "SELECT because FROM conditions WHERE cause = 'quota.retry_waste'"
    )
    assert because == (
        "4 charges for failed attempts, requests tried 5.0 times each: "
        "52.0 for nothing, 4.0 GPU seconds"
    )


@pytest.mark.parametrize(
    ("scope", "rows"),
    [
        (
            "user",
            [
                ("09:00:00", "u-kim", 30, 26, 4, 1, 0, 26),
                ("09:00:00", "u-lee", 0, 39, 0, 1, 0, 39),
                ("09:00:00", "u-max", 0, 13, 0, 1, 0, 13),
                ("10:00:00", "u-kim", 0, 390, 0, 4, 1, 416),
                ("10:00:00", "u-lee", 0, 39, 0, 3, 1, 78),
                ("10:00:00", "u-max", 0, 43, 0, 2, 0, 56),
                ("11:00:00", "u-max", 0, 78, 0, 5, 0, 134),
            ],
        ),
        (
            "project",
            [
                ("09:00:00", "p-lab", 30, 65, 4, 2, 0, 65),
                ("09:00:00", "p-web", 0, 13, 0, 1, 0, 13),
                ("10:00:00", "p-lab", 0, 429, 0, 7, 2, 494),
                ("10:00:00", "p-web", 0, 43, 0, 2, 0, 56),
                ("11:00:00", "p-web", 0, 78, 0, 5, 0, 134),
            ],
        ),
        (
            "tenant",
            [
                ("09:00:00", "t-sun", 30, 78, 4, 3, 0, 78),
                ("10:00:00", "t-sun", 0, 472, 0, 9, 2, 550),
                ("11:00:00", "t-sun", 0, 78, 0, 5, 0, 628),
            ],
        ),
    ],
)
def test_what_flowed(book: Figures, scope: str, rows: Rows) -> None:
    """What a user spends, its project and tenant spend, hour by hour."""
    columns = "ts pool reserved charged released charges denied spent"
    assert book.asked("quota_flow", columns, f"scope={scope}") == rows


def test_nothing_stays_reserved(book: Figures) -> None:
    """What is given back beside a charge is not given back twice."""
    held = book.sql(
        "SELECT entry, user_held FROM ledger WHERE user_id = 'u-kim' ORDER BY ts LIMIT 4"
    )
    assert held == [("reserve", 30), ("charge", 0), ("release", 0), ("charge", 0)]


def test_who_emptied_the_pool_and_until_when(book: Figures) -> None:
    """It is over when somebody of the project is served again, whoever was refused."""
    columns = "level pool empty_ts denied user_id spent spent_share requests"
    assert book.asked("pool_drain", columns) == [
        ("project", "p-lab", "10:29:50", 2, "u-kim", 416, 0.8421, 4),
        ("project", "p-lab", "10:29:50", 2, "u-lee", 78, 0.1579, 4),
    ]
    assert book.sql(
        "SELECT scope_kind, scope, ts_start, ts_end FROM conditions WHERE cause = 'quota.exceeded'"
    ) == [("project", "p-lab", "10:30:00", "11:09:59")]


@pytest.fixture(scope="module")
def fires(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Give the day of the three outages."""
    return figures(two_fires.write, tmp_path_factory.mktemp("fires"))


def test_three_outages(fires: Figures) -> None:
    """Each has its scope, onset, victims; what is not over is missed all the same."""
    columns = "incident_id cause scope attempts ts_onset ts_noticed ts_recovered target_s kept"
    assert fires.asked("detection", columns) == [
        (
            2,
            "model.cuda_oom",
            "engine-a",
            20,
            "14:10:00",
            "14:10:40",
            "14:13:19",
            300,
            True,
        ),
        (
            3,
            "harness.plugin_failed",
            "milvus",
            14,
            "14:11:05",
            None,
            "14:15:30",
            120,
            False,
        ),
        (
            1,
            "harness.upstream_timeout",
            "engine-b",
            96,
            "14:33:05",
            "14:36:00",
            None,
            120,
            False,
        ),
    ]


@pytest.mark.parametrize(
    ("since", "until", "start", "results", "shapes"),
    [
        (None, None, "model", "F+?? +FF+ +?", "aas"),
        ("14:00", "14:09", None, "++?+ ++++ +?", ""),
        ("14:09", "14:10:59", "model", "F+?+ ++++ +?", "a"),
        ("14:13:30", "14:20", "harness", "++?+ +F++ +?", "s"),
        ("14:20", None, "harness", "++?? ++F+ +?", "a"),
        ("15:20", None, None, "???? ???? ??", ""),
    ],
)
def test_the_funnel_of_a_window(
    fires: Figures,
    since: str | None,
    until: str | None,
    start: str | None,
    results: str,
    shapes: str,
) -> None:
    """Only what the window holds fails, and a window without logs passes nothing."""
    window = [
        None if at is None else datetime.fromisoformat(f"2026-06-17T{at}")
        for at in (since, until)
    ]
    found = funnel.gather(fires.case, *window)
    marks = {"pass": "+", "fail": "F", "no evidence": "?"}
    assert "".join(marks[one["result"]] for one in found["checks"]) == results.replace(
        " ", ""
    )
    assert found["start"] == start
    assert "".join(row["shape"][0] for row in found["shapes"]) == shapes


SHAPE = "incident_id failed engine_share model_share user_share users_hit users_served pool shape speaks_for support"


def test_the_shape_of_outages(fires: Figures) -> None:
    """All alike speaks for an engine, also where only its silence was seen.

    At engine-b 93 of the 96 from 14:33:05 on, beside the 3 + 2 + 1 served in the minutes
    14:33 to 14:35; its users ask engine-a 101 times meanwhile. Of 27 requests to engine-b
    14 fall with the plugin; its two users are served 7 times by engine-a.
    """
    assert fires.asked("shape", SHAPE) == [
        (1, 93, 0.9394, 0.9394, 0.465, 4, 0, None, "all alike", "model", "contradicts"),
        (2, 20, 1.0, 1.0, 0.625, 4, 0, None, "all alike", "model", "supports"),
        (3, 14, None, 0.5185, 0.6667, 2, 2, None, "some", "harness", "supports"),
    ]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Give the day on which much was in flight."""
    return figures(crowd.write, tmp_path_factory.mktemp("crowd"))


def test_in_flight(many: Figures) -> None:
    """Who leaves makes room for who comes at that instant."""
    columns = "ts most_in_flight configured configured_by free refused busiest_model busiest_user busiest_user_in_flight"
    assert many.asked("in_flight_over_time", columns)[:2] == [
        ("12:00:00", 4, 4, "logs/config/gateway.yaml:2", 0, 1, "heron", "u-kim", 2),
        ("12:01:00", 1, 4, "logs/config/gateway.yaml:2", 3, 0, "heron", "u-kim", 1),
    ]
    most = "SELECT max({0}) FROM in_flight WHERE ts < TIMESTAMP '2026-09-08 12:01:00' GROUP BY {1} ORDER BY {1}"
    assert many.sql(most.format("model_in_flight", "model")) == [(3,), (1,)]
    assert many.sql(most.format("user_in_flight", "user_id")) == [(2,), (1,), (1,)]
    assert many.sql("SELECT min(ts) FROM in_flight WHERE in_flight = 4") == [
        ("12:00:07",)
    ]


def test_bursts_and_minutes(many: Figures) -> None:
    """The window ends where it is fullest; a minute is the clock's, or the last 60 s."""
    assert many.asked("bursts", "user_id most burst_ts configured attempts refused")[
        :1
    ] == [("u-bot", 8, "12:05:04", 6, 8, 2)]
    columns = "ts user_id tokens use_of_limit requests refused"
    found = many.asked("tokens_per_minute", columns)
    assert [row for row in found if row[1] in ("u-tok", "u-toc")] == [
        ("12:12:00", "u-toc", 3200, 1.0667, 2, 1),
        ("12:10:00", "u-tok", 2900, 0.9667, 2, 0),
        ("12:11:00", "u-tok", 1700, 0.5667, 1, 1),
    ]
    assert many.sql(
        "SELECT cause, strength, because FROM verdicts WHERE cause LIKE '%limit' AND layer = 'quota' ORDER BY attempt_id"
    ) == [
        (
            "quota.burst_limit",
            "corroborated",
            "7 requests of u-bot within 5 s, limit 6",
        ),
        (
            "quota.burst_limit",
            "corroborated",
            "8 requests of u-bot within 5 s, limit 6",
        ),
        (
            "quota.token_rate_limit",
            "corroborated",
            "refused after 4600 tokens booked in the sliding minute of 3000",
        ),
        (
            "quota.token_rate_limit",
            "corroborated",
            "refused after 3200 tokens booked in the calendar minute of 3000",
        ),
    ]


def test_hops(many: Figures) -> None:
    """Each hop of a line is measured against the thresholds, and what equals them is not above."""
    ids = {many.day.rid(name): name for name in ("h1", "h2", "h3", "h4", "h5")}
    for name, column, right in (
        ("slow_connects", "connect_ms", [("h1", "10.8.0.2:80", 1500), ("h3", "10.8.0.1:80", 1200)]),
        ("slow_headers", "header_ms", [("h1", "10.8.0.2:80", 6000), ("h4", "10.8.0.4:80", 5200)]),
        ("slow_answers", "response_ms", [("h1", "10.8.0.2:80", 12000)]),
    ):  # fmt: skip
        found = many.asked(name, f"request_id upstream {column}")
        assert [(ids[rid], *rest) for rid, *rest in found if rid in ids] == right
    found = many.asked(
        "slow_hops", "upstream hops connect_p95_ms response_p50_ms response_max_ms"
    )
    assert sorted(row for row in found if row[0].startswith("10.8")) == [
        ("10.8.0.1:80", 4, 1200, 20, 1200),
        ("10.8.0.2:80", 2, 1500, 0, 12000),
        ("10.8.0.3:80", 1, 1, 400, 400),
        ("10.8.0.4:80", 1, 2, 5300, 5300),
        ("10.8.0.5:80", 1, 1000, 10000, 10000),
    ]


def test_where_the_time_went(many: Figures) -> None:
    """Of h1 to h4: h1 connects 2 + 1500 ms and answers 6 s, the edge adds 96 ms; h4 waits 9 + 5198."""
    columns = "ts attempts network_p95_ms waiting_p95_ms answering_p95_ms edge_p95_ms"
    found = many.asked("latency_over_time", columns)
    assert [row[1:] for row in found if row[0] == "12:20:00"] == [
        (4, 1502, 5207, 6000, 96)
    ]


def test_ids_that_do_not_join(many: Figures) -> None:
    """Orphans on either side, ids that come twice, ids of two users."""
    columns = "requests joined alone repeated colliding attempts attempts_share"
    assert many.asked("joins", columns)[1:] == [
        (35, 34, 1, 2, 1, 37, 1.0),
        (22, 21, 1, 0, 1, 23, 0.6216),
        (34, 34, 0, 0, 1, 36, 0.973),
    ]


def test_the_shape_of_an_empty_pool(many: Figures) -> None:
    """All of one project, while others are served. Of five incidents four are too small."""
    found = many.asked("shape", SHAPE)
    assert [row for row in found if row[8]] == [
        (1, 3, None, 0.6, 1.0, 2, 2, "project p-x", "one pool", "quota", "supports")
    ]
