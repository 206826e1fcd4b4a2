-- title: A reload lowered the limit of requests in flight, until it is changed again
-- layer: harness
-- cause: harness.config_drift
-- known gaps: other limits, paths and data types; files that changed without a record
SELECT
    'harness.config_drift' AS cause,
    'root' AS role,
    'setting' AS scope_kind,
    lowered_limits.setting AS scope,
    lowered_limits.ts AS ts_start,
    lowered_limits.next_ts AS ts_end,
    lowered_limits.ts_error_us,
    lowered_limits.clock_status,
    'a reload lowered ' || lowered_limits.setting || ' from '
    || lowered_limits.before::BIGINT || ' to ' || lowered_limits.after::BIGINT
        AS because,
    [lowered_limits.event_id] AS evidence
FROM lowered_limits
-- A lower limit that nobody met is in order.
SEMI JOIN refusals
    ON may_overlap(
        refusals.ts_start, refusals.ts_end, 0,
        lowered_limits.ts, lowered_limits.next_ts, lowered_limits.ts_error_us
    )
