"""The columns of the views that a case works out when they are asked for.

What they select stands in `queries/tables/`.
"""

import pyarrow as pa

from faultlayer.schema import Column

_TS = pa.timestamp("us")
_TEXT = pa.string()


def _columns(*rows: tuple[str, pa.DataType, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in rows)


LEDGER = _columns(
    ("event_id", pa.int64(), "record of the entry"),
    ("ts", _TS, "time of the entry, corrected"),
    ("ts_error_us", pa.int64(), "uncertainty of ts, us; NULL = clock is untied"),
    ("entry", _TEXT, "reserve, charge, release, reclaim or deny"),
    ("request_id", _TEXT, "canonical request id"),
    ("user_id", _TEXT, "user"),
    ("project_id", _TEXT, "project"),
    ("tenant_id", _TEXT, "tenant"),
    ("amount", pa.float64(), "amount of the entry, in the ledger's unit"),
    ("status", pa.int32(), "how the attempt ended that it is for, where it says so"),
    ("prompt_tokens", pa.int64(), "tokens of the prompt, as the ledger says"),
    ("completion_tokens", pa.int64(), "tokens of the answer, as the ledger says"),
    ("gpu_seconds", pa.float64(), "seconds times GPUs that were charged for, s"),
    ("user_spent", pa.float64(), "charged to the user since the ledger begins"),
    (
        "user_held",
        pa.float64(),
        "reserved for the user, not charged, released or reclaimed yet",
    ),
    ("project_spent", pa.float64(), "charged to the project since the ledger begins"),
    ("tenant_spent", pa.float64(), "charged to the tenant since the ledger begins"),
)

IN_FLIGHT = _columns(
    ("ts", _TS, "instant, corrected"),
    ("model", _TEXT, "model asked for by what began or ended then"),
    ("user_id", _TEXT, "user of what began or ended then"),
    ("started", pa.int64(), "attempts of both that began at that instant"),
    ("ended", pa.int64(), "attempts of both that ended at that instant"),
    ("in_flight", pa.int64(), "all attempts under way after it; refused ones left out"),
    ("model_in_flight", pa.int64(), "the same of the model"),
    ("user_in_flight", pa.int64(), "the same of the user"),
)

HOPS = _columns(
    ("attempt_id", pa.int64(), "attempt"),
    ("hop", pa.int32(), "number of the upstream within the attempt, from 1"),
    ("hops", pa.int32(), "upstreams that the attempt tried"),
    ("request_id", _TEXT, "canonical request id"),
    ("attempt", pa.int64(), "number within the request, from 1 in start order"),
    ("ts_start", _TS, "start of the attempt, corrected"),
    ("ts_end", _TS, "end of the attempt, corrected"),
    ("status", pa.int32(), "status that the client was told"),
    ("failed", pa.bool_(), "the attempt failed"),
    ("user_id", _TEXT, "user"),
    ("model", _TEXT, "model asked for"),
    ("engine", _TEXT, "engine that the attempt was sent to"),
    ("upstream", _TEXT, "address of the upstream, as logged"),
    ("connect_ms", pa.float64(), "until the connection stood, ms"),
    ("header_ms", pa.float64(), "until the first byte of the answer, ms"),
    ("response_ms", pa.float64(), "until the end of the answer, ms"),
    ("duration_ms", pa.float64(), "duration of the whole exchange, ms"),
)

JOIN_QUALITY = _columns(
    ("source_id", pa.int64(), "source"),
    ("path", _TEXT, "path of the source"),
    ("layer", _TEXT, "layer of the source"),
    ("component", _TEXT, "program that wrote it"),
    ("events", pa.int64(), "its records"),
    ("with_id", pa.int64(), "records that bear a request id"),
    ("requests", pa.int64(), "different request ids"),
    ("joined", pa.int64(), "of these, ids that another log has too"),
    ("alone", pa.int64(), "ids that no other log has"),
    ("repeated", pa.int64(), "ids of more than one access record of the source"),
    ("colliding", pa.int64(), "ids that several users share"),
    ("attempts", pa.int64(), "attempts whose id it has"),
    ("attempts_share", pa.float64(), "the same as a share of all attempts with an id"),
)

FORECAST = _columns(
    ("level", _TEXT, "which pool: user, project or tenant"),
    ("pool", _TEXT, "name of the pool"),
    ("hours", pa.int64(), "whole hours of history that it rests on, at most 8 weeks"),
    ("ts", _TS, "start of an hour to come, corrected; NULL = no forecast"),
    ("expected", pa.float64(), "charged in that hour, in the ledger's unit"),
    ("low", pa.float64(), "the same, lower end of its 95 % band"),
    ("high", pa.float64(), "the same, upper end of its 95 % band"),
    ("total", pa.float64(), "charged from the end of the ledger to that hour's end"),
    ("total_low", pa.float64(), "the same, lower end of its 95 % band"),
    ("total_high", pa.float64(), "the same, upper end of its 95 % band"),
    ("used", pa.float64(), "used at the end of the ledger; NULL = no snapshot tells"),
    ("pool_limit", pa.float64(), "what the pool may use, in the ledger's unit"),
    ("refused", _TEXT, "why there is no forecast; NULL = there is one"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "ledger": LEDGER,
    "in_flight": IN_FLIGHT,
    "hops": HOPS,
    "join_quality": JOIN_QUALITY,
    "forecast": FORECAST,
}
