"""The view `events`: records in the time of the reference clock, with resolved ids."""

import pyarrow as pa

from faultlayer import schema
from faultlayer.schema import Column

_DERIVED = {
    "ts": Column("ts", pa.timestamp("us"), "time corrected by the source's clock, UTC"),
    "ts_error_us": Column(
        "ts_error_us", pa.int64(), "uncertainty of ts, us; NULL = clock is untied"
    ),
    "clock_id": Column("clock_id", pa.string(), "clock that stamped it"),
}

_EVENTS_FIRST = """
    event_id source_id line byte_offset byte_length ts ts_raw ts_precision_us
    ts_error_us layer component kind severity request_id raw_request_id engine
    plugin pool user_id project_id tenant_id model status duration_ms
    upstream_connect_ms upstream_header_ms upstream_response_ms upstream_hops
    forwarded prompt_tokens completion_tokens quota_amount message attrs
"""


def _event_columns() -> tuple[Column, ...]:
    known = {column.name: column for column in schema.EVENTS_RAW} | _DERIVED
    first = _EVENTS_FIRST.split()
    rest = [name for name in known if name not in first]
    return tuple(known[name] for name in (*first, *rest))


EVENTS = _event_columns()
"""Columns of the view `events`: those that CONTRACT guarantees, then the rest."""


def view(
    stamps: str | None = None,
    *,
    turned: bool,
    even: bool = False,
    aliased: bool = True,
) -> str:
    """Give the body of the view `events`, over the other views of a case.

    `stamps` replaces `STAMPS`. What is known to be simple costs a fraction: `turned`: a
    clock of the case was set back, so that the lines must be looked at as well; `even`:
    each clock is off by one constant; `aliased`: some id has another spelling.
    """
    ts = _shifted("raw.ts_raw") if even else _corrected("raw.ts_raw", "stamps")
    special = {
        "ts": f"CASE WHEN stamps.offset_us IS NULL THEN raw.ts_raw ELSE {ts} END AS ts",
        "ts_error_us": "raw.ts_precision_us + stamps.error_us AS ts_error_us",
        "clock_id": "stamps.clock_id",
        "request_id": "coalesce(aliases.request_id, raw.request_id) AS request_id"
        if aliased
        else "raw.request_id",
        "raw_request_id": "coalesce(raw.raw_request_id, raw.request_id)"
        " AS raw_request_id",
    }
    items = ",\n    ".join(special.get(c.name, f"raw.{c.name}") for c in EVENTS)
    segment = "" if even else _IN_SEGMENT + (_IN_LAP if turned else "")
    return f"""{stamps or STAMPS}
SELECT
    {items}
FROM events_raw AS raw
LEFT JOIN stamps
    ON
        raw.source_id = stamps.source_id{segment}{_ALIASES if aliased else ""}"""


def _shifted(reading: str) -> str:
    return f"make_timestamp(epoch_us({reading}) - stamps.offset_us)"


def _corrected(reading: str, clock: str) -> str:
    """Give the reference time at which a clock showed `reading`."""
    since = f"epoch_us({reading}) - epoch_us({clock}.anchor_ts) - {clock}.offset_us"
    scale = f"(1 + {clock}.drift_ppm * 1e-6)"
    return (
        f"make_timestamp(epoch_us({clock}.anchor_ts)"
        f" + CAST(round(({since}) / {scale}) AS BIGINT))"
    )


_ALIASES = """
LEFT JOIN aliases ON raw.request_id = aliases.alias"""
_IN_SEGMENT = """
        AND coalesce(raw.ts_raw, TIMESTAMP '-infinity') >= stamps.reads_from
        AND coalesce(raw.ts_raw, TIMESTAMP '-infinity') < stamps.reads_to"""
_IN_LAP = """
        AND raw.line >= stamps.line_from
        AND raw.line < stamps.line_to"""

# A record without a stamp is of the first segment, which has no beginning.
# A segment holds from its valid_from to the next one's, as read off that clock. Where
# the clock was set back the same readings come twice: there the line of the turn parts
# a source into laps, and readings tell within each. Where no turn is known the later
# segment gets them.
STAMPS = """WITH segments AS (
    SELECT
        clock_id,
        segment,
        coalesce(anchor_ts, valid_from, TIMESTAMP '2000-01-01') AS anchor_ts,
        CASE WHEN status <> 'untied' THEN offset_us END AS offset_us,
        coalesce(drift_ppm, 0) AS drift_ppm,
        CASE
            WHEN status = 'untied' OR lo_us IS NULL OR hi_us IS NULL THEN NULL
            ELSE greatest(hi_us - offset_us, offset_us - lo_us)
        END AS error_us,
        CASE
            WHEN valid_from IS NULL THEN TIMESTAMP '-infinity'
            ELSE make_timestamp(
                epoch_us(valid_from) + coalesce(offset_us, 0)
                + CAST(round(
                    coalesce(drift_ppm, 0) * 1e-6
                    * (epoch_us(valid_from) - epoch_us(coalesce(anchor_ts, valid_from)))
                ) AS BIGINT)
            )
        END AS reads_from
    FROM clocks
),

laps AS (
    SELECT
        sources.source_id,
        segments.*,
        turns.line,
        count(turns.line)
            OVER (PARTITION BY sources.source_id ORDER BY segments.segment) AS lap
    FROM sources
    INNER JOIN segments ON sources.clock_id = segments.clock_id
    LEFT JOIN turns
        ON
            sources.source_id = turns.source_id
            AND segments.segment = turns.segment
),

begun AS (
    SELECT
        * EXCLUDE (reads_from),
        max(CASE WHEN line IS NULL THEN reads_from ELSE TIMESTAMP '-infinity' END)
            OVER (PARTITION BY source_id, lap ORDER BY segment) AS reads_from,
        coalesce(max(line) OVER (PARTITION BY source_id, lap), 0) AS line_from
    FROM laps
),

stamps AS (
    SELECT
        source_id,
        clock_id,
        anchor_ts,
        offset_us,
        drift_ppm,
        error_us,
        reads_from,
        lead(reads_from, 1, TIMESTAMP 'infinity')
            OVER (PARTITION BY source_id, lap ORDER BY segment) AS reads_to,
        line_from,
        coalesce(
            min(line) OVER (
                PARTITION BY source_id
                ORDER BY lap
                RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ),
            9223372036854775807
        ) AS line_to
    FROM begun
)
"""

EVEN = """SELECT
    count(*) = count(DISTINCT source_id) AND coalesce(bool_and(drift_ppm = 0), TRUE)
FROM settled"""
"""Whether each source of `settled`, a table of `STAMPS`, has one constant offset."""
