"""A clock without ids is that of its machine, when the records name it."""

from collections.abc import Iterator, Sequence

import duckdb
import pytest

from faultlayer.clocks import machines
from faultlayer.clocks.clock import Clock, constant

HOUR = 3_600_000_000


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection with empty `sources` and `events_raw`."""
    with duckdb.connect() as connection:
        connection.execute(
            """
            CREATE TABLE sources (
                source_id BIGINT, clock_id VARCHAR, zoned BOOLEAN, events BIGINT,
                first_ts TIMESTAMP, host VARCHAR
            );
            CREATE TABLE events_raw (
                source_id BIGINT, host VARCHAR, layer VARCHAR, attrs VARCHAR
            );
            """
        )
        yield connection


def add(
    con: duckdb.DuckDBPyConnection,
    clock: str,
    hosts: Sequence[str | None],
    *,
    zoned: bool = True,
    first: str = "2026-11-30 12:00:00",
    layer: str = "host",
    attrs: str = "{}",
) -> None:
    """Add a source of a clock whose records name these hosts."""
    con.execute(
        "INSERT INTO sources SELECT (SELECT count(*) FROM sources), $1, $2, $3,"
        " $4::TIMESTAMP, 'gpu-node-3'",
        [clock, zoned, len(hosts), first],
    )
    for host in hosts:
        con.execute(
            "INSERT INTO events_raw SELECT (SELECT count(*) - 1 FROM sources), $1, $2, $3",
            [host, layer, attrs],
        )


def engine(offset: int, status: str = "tied") -> dict[str, Clock]:
    """Give a tied clock of an engine."""
    line = constant(offset, offset - 5, offset + 5, 40, 1.0)
    return {"engine": Clock("engine", status, "shared request ids", (line,))}


def shared(con: duckdb.DuckDBPyConnection, tied: dict[str, Clock]) -> list[Clock]:
    """Tie the kernel's clock."""
    return machines.share(con, tied, ["kernel"])


def test_the_kernel_has_the_clock_of_its_machine(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """With zones on both sides the offset is the same, with its bounds."""
    add(con, "engine", ["gpu-node-3", None], layer="model")
    add(con, "kernel", ["GPU-node-3"])
    line = constant(1_300, 1_295, 1_305, 0, 1.0)
    method = "the clock of engine on gpu-node-3"
    assert shared(con, engine(1_300)) == [Clock("kernel", "tied", method, (line,))]
    assert [one.status for one in shared(con, engine(1_300, "weak"))] == ["weak"]


def test_a_name_in_the_line_counts_too(con: duckdb.DuckDBPyConnection) -> None:
    """Syslog's host of a kernel line, or NCCL's of an engine's, but no HTTP host."""
    add(con, "engine", [None], layer="model", attrs='{"host":"gpu-node-3"}')
    add(con, "kernel", [None], attrs='{"host":"gpu-node-3"}')
    assert len(shared(con, engine(7))) == 1
    add(con, "edge", [None], layer="harness", attrs='{"host":"llm.local"}')
    edge = {"edge": engine(7)["engine"]}
    assert machines.share(con, edge, ["kernel"]) == []


def test_zones_are_not_guessed(con: duckdb.DuckDBPyConnection) -> None:
    """What writes no zone is tied weakly through its like; zones come off otherwise."""
    add(con, "engine", ["gpu-node-3"], zoned=False)
    add(con, "kernel", ["gpu-node-3"])
    (kernel,) = shared(con, engine(8 * HOUR + 1_300))
    assert [one.offset for one in kernel.segments] == [1_300]
    con.execute("UPDATE sources SET zoned = FALSE")
    (kernel,) = shared(con, engine(8 * HOUR + 1_300))
    assert [one.offset for one in kernel.segments] == [8 * HOUR + 1_300]
    assert kernel.status == "weak"
    assert kernel.method.endswith("in the same zone as assumed")
    con.execute("UPDATE sources SET zoned = (clock_id = 'engine')")
    assert shared(con, engine(1_300)) == []


@pytest.mark.parametrize(
    ("hosts", "first"),
    [
        (["gpu-node-4"], "2026-11-30 12:00:00"),
        (["gpu-node-3", "gpu-node-4"], "2026-11-30 12:00:00"),
        ([None], "2026-11-30 12:00:00"),
        (["gpu-node-3"], "1970-01-01 11:00:00"),
    ],
)
def test_nothing_is_tied_silently(
    con: duckdb.DuckDBPyConnection, hosts: list[str | None], first: str
) -> None:
    """Another machine, several, a mere folder, or a count from the start tie nothing."""
    add(con, "engine", ["gpu-node-3"], layer="model")
    add(con, "kernel", hosts, first=first)
    assert shared(con, engine(0)) == []


def test_localhost_is_no_machine(con: duckdb.DuckDBPyConnection) -> None:
    """Every machine is called that."""
    add(con, "engine", ["localhost"], layer="model")
    add(con, "kernel", ["localhost"])
    assert shared(con, engine(0)) == []
