-- title: Configuration changes shortly before an incident began
-- topic: failures
-- answers: Was something changed just before it broke?
-- param before: duration = 15m; how long before the start
-- column incident_id: incident
-- column layer: layer
-- column cause: cause
-- column ts_start: start of the first failed attempt
-- column change_ts: time of the change
-- column before_s: from the change to the start, s
-- column clock_may_matter: whether the order is within the uncertainty of the clocks
-- column kind: what was done
-- column path: log that says so
-- column line: its line
-- column message: what it says
SELECT
    incidents.incident_id,
    incidents.layer,
    incidents.cause,
    incidents.ts_start,
    events.ts AS change_ts,
    date_diff('millisecond', events.ts, incidents.ts_start) / 1000 AS before_s,
    coalesce(
        date_diff('microsecond', events.ts, incidents.ts_start) < events.ts_error_us,
        TRUE
    ) AS clock_may_matter,
    events.kind,
    sources.path,
    events.line,
    events.message
FROM incidents
INNER JOIN events
    ON
        events.ts
        >= incidents.ts_start
        - $before
        - to_microseconds(coalesce(events.ts_error_us, 0))
        AND events.ts
        <= incidents.ts_start + to_microseconds(coalesce(events.ts_error_us, 0))
INNER JOIN sources ON events.source_id = sources.source_id
WHERE
    events.kind IN (
        'config_reload', 'weights_replaced', 'compiled_cache_cleared',
        'harness_restarted', 'server_started', 'engine_start', 'operator_stop'
    )
ORDER BY
    incidents.ts_start ASC,
    incidents.incident_id ASC,
    events.ts ASC,
    events.event_id ASC
