"""An error log borrows the clock of the access log beside it."""

import duckdb
import pytest

from faultlayer.clocks import siblings
from faultlayer.clocks.clock import Clock, constant

_TABLES = """
CREATE TABLE sources (clock_id VARCHAR, component VARCHAR, layer VARCHAR, path VARCHAR);
CREATE TABLE parsed (
    clock_id VARCHAR, ts_raw TIMESTAMP, kind VARCHAR, client VARCHAR, status INTEGER
);
INSERT INTO sources VALUES
('edge', ?, 'harness', 'logs/edge/access.log'),
('errors', 'nginx', 'harness', 'logs/edge/error.log');
"""


@pytest.mark.parametrize(
    ("program", "known"),
    [("nginx", True), ("kong", True), ("apisix", True), ("caddy", False)],
)
def test_what_is_nginx_inside_has_one_clock(program: str, known: bool) -> None:
    """A refusal in both logs, nine hours apart as written: the zone of the error log."""
    with duckdb.connect() as con:
        first, second, third, _ = _TABLES.split(";")
        con.execute(first)
        con.execute(second)
        con.execute(third, [program])
        con.execute(
            """INSERT INTO parsed VALUES
            ('edge', '2026-11-30 05:00:07', 'access', '10.0.3.7', 429),
            ('errors', '2026-11-30 14:00:07', 'edge_limit', '10.0.3.7', NULL)"""
        )
        edge = Clock("edge", "reference", "most requests", (constant(0, 0, 0),))
        found = siblings.borrow(con, {"edge": edge}, ["errors"])
    assert [(one.status, one.whole.offset) for one in found] == (
        [("tied", 9 * 3_600_000_000)] if known else []
    )
