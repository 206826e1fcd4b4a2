"""The columns of every table, once: name, Arrow type, unit and meaning.

Parquet schemas, views, `docs/schema.md` and the checks in the tests all come from here.
"""

from dataclasses import dataclass

import pyarrow as pa

VERSION = 1

_TS = pa.timestamp("us")
_TEXT = pa.string()
_IDS = pa.list_(pa.int64())
_TEXTS = pa.list_(pa.string())


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `doc` states the unit where there is one."""

    name: str
    type: pa.DataType
    doc: str


def _columns(*rows: tuple[str, pa.DataType, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in rows)


SOURCES = _columns(
    ("source_id", pa.int64(), "number of the source, in path order"),
    (
        "path",
        _TEXT,
        "path relative to the given folder, which is its first part; archive!member",
    ),
    ("member", _TEXT, "member of an archive: the path behind the first !"),
    ("sha256", _TEXT, "hash of the file or member as stored"),
    ("file_bytes", pa.int64(), "bytes of the file or member as stored"),
    ("bytes", pa.int64(), "bytes after decompression, of UTF-16 after it is UTF-8"),
    ("lines", pa.int64(), "physical lines"),
    ("records", pa.int64(), "events plus rejects"),
    ("events", pa.int64(), "records that a format took"),
    ("rejects", pa.int64(), "records that no format took"),
    ("blank_lines", pa.int64(), "empty lines outside of records"),
    ("blank_bytes", pa.int64(), "bytes of the blank lines"),
    ("damaged_lines", pa.int64(), "lines with bytes that are not of the encoding"),
    ("encoding", _TEXT, "encoding of the text: utf-8, gb18030, utf-16-le, utf-16-be"),
    ("format", _TEXT, "formats that took records, in the order they were tried"),
    ("wrapper", _TEXT, "wrapper that was peeled off"),
    ("layer", _TEXT, "layer of the main format"),
    ("component", _TEXT, "program that wrote it"),
    ("host", _TEXT, "instance, as far as the path tells"),
    ("log_set", _TEXT, "rotated set that the source belongs to"),
    ("clock_id", _TEXT, "clock that stamped it"),
    ("zoned", pa.bool_(), "whether its stamps carry a time zone"),
    ("precision_us", pa.int64(), "resolution of its stamps, us"),
    ("first_ts", _TS, "earliest stamp as logged"),
    ("last_ts", _TS, "latest stamp as logged"),
    ("reason", _TEXT, "why this format"),
    ("problems", _TEXTS, "what was wrong with the file"),
)

EVENTS_RAW = _columns(
    ("event_id", pa.int64(), "source_id * 10^10 + line"),
    ("source_id", pa.int64(), "source"),
    ("line", pa.int64(), "first physical line, from 1"),
    ("lines", pa.int32(), "physical lines of the record"),
    (
        "byte_offset",
        pa.int64(),
        "offset of the first line in the decoded stream; that of UTF-16 is its UTF-8",
    ),
    ("byte_length", pa.int64(), "bytes of all its lines, line ends included"),
    ("ts_raw", _TS, "time as logged, of a start the end; UTC when it has a zone"),
    ("ts_precision_us", pa.int64(), "resolution of the stamp, us"),
    ("borrowed", pa.bool_(), "the stamp is that of the neighbouring record"),
    ("ts_outer", _TS, "time that the wrapper gives, of writing or of shipping"),
    ("host", _TEXT, "host, pod or service, as the wrapper tells"),
    ("origin", _TEXT, "program, container or file, as the wrapper tells"),
    ("output", _TEXT, "stdout or stderr, as the wrapper tells"),
    ("layer", _TEXT, "model, harness or quota; host: of none of them"),
    ("component", _TEXT, "nginx, harness, vllm, quota, kernel ..."),
    ("kind", _TEXT, "what the record means: the most specific signature"),
    ("kinds", _TEXTS, "all signatures that match; null when there is but one"),
    ("severity", _TEXT, "debug, info, warning, error, critical"),
    ("request_id", _TEXT, "request id in canonical spelling"),
    ("raw_request_id", _TEXT, "request id as logged, where it differs"),
    ("id_parts", _TEXTS, "all ids of a record that names several"),
    ("engine", _TEXT, "engine that the record names or comes from"),
    ("plugin", _TEXT, "plugin or the plugin's dependency"),
    ("pool", _TEXT, "quota pool, level:id"),
    ("user_id", _TEXT, "user"),
    ("project_id", _TEXT, "project"),
    ("tenant_id", _TEXT, "tenant"),
    ("model", _TEXT, "name of the served model"),
    ("status", pa.int32(), "HTTP status"),
    ("duration_ms", pa.float64(), "duration of the exchange, ms"),
    ("upstream_connect_ms", pa.float64(), "last upstream: connect time, ms"),
    ("upstream_header_ms", pa.float64(), "last upstream: time to header, ms"),
    ("upstream_response_ms", pa.float64(), "last upstream: time to end, ms"),
    ("upstream_hops", pa.int32(), "upstreams tried within the exchange"),
    ("forwarded", pa.bool_(), "an upstream was reached"),
    ("prompt_tokens", pa.int64(), "tokens of the prompt"),
    ("completion_tokens", pa.int64(), "tokens of the answer"),
    ("quota_amount", pa.float64(), "quota booked or used, in the log's unit"),
    ("client", _TEXT, "address of the client"),
    ("upstream_addr", _TEXT, "addresses of the upstreams, as logged"),
    ("bytes_sent", pa.int64(), "body bytes sent"),
    ("user_agent", _TEXT, "user agent"),
    (
        "message",
        _TEXT,
        "text of the record (access: the request line); the middle of over 4 KiB is left out",
    ),
    ("attrs", _TEXT, "all further fields, a JSON object"),
)

REJECTS = _columns(
    ("source_id", pa.int64(), "source"),
    ("line", pa.int64(), "first physical line, from 1"),
    ("lines", pa.int32(), "physical lines of the record"),
    ("byte_offset", pa.int64(), "offset in the decoded stream"),
    ("byte_length", pa.int64(), "bytes, line ends included"),
    ("reason", _TEXT, "why no format took it"),
    ("text", _TEXT, "the first 400 characters"),
)

CLOCKS = _columns(
    ("clock_id", _TEXT, "clock"),
    ("segment", pa.int64(), "number of the segment, from 0"),
    ("valid_from", _TS, "reference time, NULL = open"),
    ("valid_to", _TS, "reference time, NULL = open"),
    ("anchor_ts", _TS, "reference time at which offset and bounds hold"),
    ("offset_us", pa.int64(), "reading minus reference, us"),
    ("drift_ppm", pa.float64(), "change of the offset, us per s"),
    ("lo_us", pa.int64(), "lower bound of the offset, us"),
    ("hi_us", pa.int64(), "upper bound of the offset, us"),
    ("pairs", pa.int64(), "requests that tie it"),
    ("support", pa.float64(), "share of the bounds that agree"),
    ("method", _TEXT, "how it was tied"),
    ("status", _TEXT, "reference, tied, weak or untied"),
    ("time_zone_us", pa.int64(), "part of the offset that is a time zone, us"),
)

TURNS = _columns(
    ("source_id", pa.int64(), "source"),
    ("segment", pa.int64(), "segment of its clock that begins with the line"),
    ("line", pa.int64(), "first physical line, from 1"),
)

ALIASES = _columns(
    ("alias", _TEXT, "spelling of an id"),
    ("request_id", _TEXT, "the request that it names"),
    ("reason", _TEXT, "engine suffix, joined ids, trace nibble"),
)

ATTEMPTS = _columns(
    ("attempt_id", pa.int64(), "event id of the record that defines the attempt"),
    ("request_id", _TEXT, "canonical request id; NULL when it has none"),
    ("attempt", pa.int64(), "number within the request, from 1 in start order"),
    ("ts_start", _TS, "start, corrected"),
    ("ts_end", _TS, "end, corrected"),
    ("ts_error_us", pa.int64(), "uncertainty of both, us"),
    ("status", pa.int32(), "status that the client was told"),
    ("failed", pa.bool_(), "the attempt failed"),
    ("user_id", _TEXT, "user"),
    ("project_id", _TEXT, "project"),
    ("tenant_id", _TEXT, "tenant"),
    ("model", _TEXT, "model asked for"),
    ("engine", _TEXT, "engine that it was sent to"),
    ("forwarded", pa.bool_(), "sent on to an engine"),
    ("layers_seen", _TEXTS, "layers with a record of it"),
    ("source_id", pa.int64(), "source of the defining record"),
)

CONDITIONS = _columns(
    ("condition_id", pa.int64(), "number of the condition"),
    ("layer", _TEXT, "layer"),
    ("cause", _TEXT, "cause"),
    ("role", _TEXT, "root or symptom"),
    ("scope_kind", _TEXT, "engine, plugin, pool, zone, upstream, source ..."),
    ("scope", _TEXT, "what is in trouble"),
    ("ts_start", _TS, "start, corrected"),
    ("ts_end", _TS, "end, corrected; NULL = to the end of the case"),
    ("ts_error_us", pa.int64(), "uncertainty of both, us"),
    ("clock_status", _TEXT, "status of the clock that it rests on"),
    ("because", _TEXT, "what shows it"),
    ("evidence", _IDS, "event ids"),
)

FINDINGS = _columns(
    ("attempt_id", pa.int64(), "attempt"),
    ("rule", _TEXT, "rule that fired"),
    ("layer", _TEXT, "layer"),
    ("cause", _TEXT, "cause"),
    ("role", _TEXT, "root or symptom"),
    ("strength", _TEXT, "proven, corroborated or inferred"),
    ("precedence", pa.int64(), "documented order among equals, lower wins"),
    ("ts", _TS, "time of the earliest evidence, corrected"),
    ("condition_id", pa.int64(), "condition that it rests on"),
    ("clock_sensitive", pa.bool_(), "would not fire everywhere in the uncertainty"),
    ("evidence", _IDS, "event ids"),
    ("because", _TEXT, "reason in a sentence"),
)

VERDICTS = _columns(
    ("attempt_id", pa.int64(), "attempt"),
    ("request_id", _TEXT, "canonical request id"),
    ("attempt", pa.int64(), "number within the request"),
    ("layer", _TEXT, "model, harness, quota, client or undetermined"),
    ("cause", _TEXT, "cause as in the taxonomy"),
    ("strength", _TEXT, "proven, corroborated, inferred or undetermined"),
    ("rule", _TEXT, "rule that decided"),
    ("because", _TEXT, "reason in a sentence"),
    ("evidence", _IDS, "event ids"),
    ("contributing", _TEXTS, "causes that hold as well"),
    ("cleared", _TEXTS, "layer: what clears it"),
    ("missing", _TEXTS, "layer: what would settle it"),
    ("clock_sensitive", pa.bool_(), "would change within the clock uncertainty"),
    ("condition_id", pa.int64(), "condition that it rests on"),
    ("incident_id", pa.int64(), "incident"),
)

INCIDENTS = _columns(
    ("incident_id", pa.int64(), "number of the incident"),
    ("layer", _TEXT, "layer"),
    ("cause", _TEXT, "cause"),
    ("scope", _TEXT, "what was in trouble"),
    ("ts_start", _TS, "start, corrected"),
    ("ts_end", _TS, "end, corrected"),
    ("attempts", pa.int64(), "failed attempts"),
    ("users", pa.int64(), "users affected"),
    ("models", _TEXTS, "models affected"),
    ("condition_id", pa.int64(), "condition behind it, the first of several"),
    ("condition_ids", _IDS, "all conditions behind it"),
    ("requests", pa.int64(), "requests with an id that failed"),
    ("retries", pa.int64(), "failed attempts that were not the first of their request"),
    ("some_users", _TEXTS, "up to ten of the users affected"),
    ("routes", _TEXTS, "up to ten paths that were asked for, of its first attempts"),
    ("ts_trouble", _TS, "start of the trouble behind it; without one the onset"),
    (
        "ts_onset",
        _TS,
        "start of the stretch in which the share of failures is above half its mean",
    ),
    ("ts_over", _TS, "end of that stretch"),
    ("ts_error_us", pa.int64(), "uncertainty of these times, us"),
    (
        "traffic",
        pa.int64(),
        "attempts that ended in that stretch, of the engine or of all",
    ),
    ("share", pa.float64(), "failed share of that traffic, 1 = all of it"),
    ("ts_named", _TS, "first record that names the cause"),
    ("named_by", pa.int64(), "event id of that record"),
    ("ts_noticed", _TS, "first failed probe, restart or act of an operator"),
    ("noticed_by", pa.int64(), "event id of that record"),
    ("named_s", pa.float64(), "from the onset to the record that names the cause, s"),
    ("detect_s", pa.float64(), "from the onset to the probe, restart or act, s"),
    ("ts_recovered", _TS, "when it was over; NULL = not in these logs"),
    ("recover_s", pa.float64(), "from the onset to then, s"),
    ("target_s", pa.float64(), "how soon it should be over, s"),
    ("target_met", pa.bool_(), "whether it was"),
    ("root_incident_id", pa.int64(), "incident that it follows from"),
    ("follows", _TEXT, "what shows that"),
    ("follows_certainly", pa.bool_(), "later wherever the clocks may be"),
)

CASCADES = _columns(
    ("incident_id", pa.int64(), "incident"),
    ("step", pa.int64(), "number of the step, from 1, in corrected time"),
    (
        "kind",
        _TEXT,
        "cause, failures, symptom, noticed, retries, follows (another incident) or over",
    ),
    ("cause", _TEXT, "cause of the step: of the incident, the symptom, the other"),
    ("ts", _TS, "when it began, corrected"),
    ("ts_error_us", pa.int64(), "uncertainty, us"),
    ("after_certainly", pa.bool_(), "after the step before wherever the clocks may be"),
    ("attempts", pa.int64(), "failed attempts of the step"),
    ("event_id", pa.int64(), "record or attempt that shows it"),
    ("because", _TEXT, "what it is"),
)

SETTINGS = _columns(
    ("key", _TEXT, "name of the setting; those of docs/configuration.md as there"),
    ("number", pa.float64(), "what it is set to, in the setting's own unit"),
    ("event_id", pa.int64(), "record that states it; NULL = --config, or a default"),
    ("place", _TEXT, "logged, default, or file and line of what --config names"),
)

BALANCES = _columns(
    ("event_id", pa.int64(), "record of the snapshot"),
    ("ts", _TS, "time of the snapshot, corrected"),
    ("ts_error_us", pa.int64(), "uncertainty of ts, us"),
    ("clock_status", _TEXT, "status of the clock that it rests on"),
    ("user_id", _TEXT, "user whose balance it is"),
    ("project_id", _TEXT, "project of the user"),
    ("tenant_id", _TEXT, "tenant of the project"),
    ("level", _TEXT, "which pool: user, project or tenant"),
    ("level_id", _TEXT, "name of the pool"),
    ("pool_used", pa.float64(), "what the pool has used, in the ledger's unit"),
    ("pool_limit", pa.float64(), "what the pool may use, in the ledger's unit"),
    ("used_ratio", pa.float64(), "used share of the pool, 1 = all of it"),
    ("last_updated", _TS, "when the balance was worked out, as logged"),
    ("fresh", pa.bool_(), "worked out so shortly before that it tells of the pool"),
)

MISMATCHES = _columns(
    ("event_id", pa.int64(), "entry of the ledger, or attempt that it does not know"),
    ("request_id", _TEXT, "canonical request id"),
    ("user_id", _TEXT, "user who was charged, ? when the entry names none"),
    ("ts", _TS, "time of the entry, corrected"),
    ("ts_error_us", pa.int64(), "uncertainty of ts, us"),
    ("clock_status", _TEXT, "status of the clock that it rests on"),
    ("amount", pa.float64(), "amount charged, in the ledger's unit"),
    ("odd", _TEXT, "what is odd about it"),
)

REBOOKED = _columns(
    ("event_id", pa.int64(), "record of the ledger that repeats another"),
    ("first_event_id", pa.int64(), "the one that it repeats"),
)

GPU_READINGS = _columns(
    ("event_id", pa.int64(), "record, or one of the scrape's"),
    ("clock_id", _TEXT, "clock of the monitor"),
    ("ts", _TS, "time of the reading, corrected as far as it can be"),
    ("ts_error_us", pa.int64(), "uncertainty of ts, us"),
    ("clock_status", _TEXT, "status of the clock; weak: taken for right within 3 s"),
    ("gpu", _TEXT, "number or name of the GPU"),
    ("pci", _TEXT, "its address on the bus"),
    ("temp_c", pa.float64(), "temperature, degrees Celsius"),
    ("power_w", pa.float64(), "power, W"),
    ("sm_mhz", pa.float64(), "clock of the multiprocessors, MHz"),
    ("util_pct", pa.float64(), "utilisation, percent"),
    ("throttled", pa.bool_(), "slowed down by heat"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "sources": SOURCES,
    "rejects": REJECTS,
    "clocks": CLOCKS,
    "turns": TURNS,
    "aliases": ALIASES,
    "attempts": ATTEMPTS,
    "conditions": CONDITIONS,
    "findings": FINDINGS,
    "verdicts": VERDICTS,
    "incidents": INCIDENTS,
    "cascades": CASCADES,
    "settings": SETTINGS,
    "balances": BALANCES,
    "mismatches": MISMATCHES,
    "rebooked": REBOOKED,
    "gpu_readings": GPU_READINGS,
}

VIEW_DOCS = {
    "events_raw": "parsed records as logged, nothing corrected",
    "sources": "one row per input file or archive member",
    "rejects": "records that no format took",
    "clocks": "one row per segment of a clock",
    "turns": "where in a source a clock was set back, and readings come again",
    "aliases": "spellings of request ids",
    "attempts": "one row per attempt, failed or not",
    "conditions": "intervals of trouble",
    "findings": "rules that fired on an attempt",
    "verdicts": "one row per failed attempt",
    "incidents": "groups of failed attempts",
    "cascades": "each incident as a chain of steps, in corrected time",
    "settings": "limits that a configuration file or a record states",
    "balances": "what balance snapshots say of each quota pool",
    "mismatches": "entries of the ledger that do not fit what was used",
    "rebooked": "records of the ledger that repeat another",
    "gpu_readings": "what monitors read of GPUs: heat, power, clock, load",
    "events": "parsed records in corrected time, with resolved request ids",
    "ledger": "entries of the quota ledger, with what was spent and held by then",
    "in_flight": "attempts under way, after each instant at which that changed",
    "hops": "upstreams that an attempt tried, and how long each took",
    "forecast": "what each quota pool will be charged hour by hour, with a 95 % band",
    "join_quality": "how well the request ids of each source join it to other logs",
}
"""What each view of a case is, those that are worked out when asked too."""


def arrow(columns: tuple[Column, ...]) -> pa.Schema:
    """Give the Arrow schema of a table."""
    return pa.schema([(column.name, column.type) for column in columns])
