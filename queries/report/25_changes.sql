-- title: What was changed or restarted in the quarter of an hour before an incident began
-- title zh: 故障开始前一刻钟内的变更或重启
SELECT
    incidents.incident_id,
    incidents.cause,
    incidents.ts_onset,
    events.ts AS change_ts,
    events.ts_error_us,
    date_diff('millisecond', events.ts, incidents.ts_onset) / 1000 AS before_s,
    events.kind,
    coalesce(sources.member, sources.path) AS path,
    events.line,
    events.message
FROM incidents
INNER JOIN events
    ON
        events.ts >= incidents.ts_onset - to_seconds(900)
        AND events.ts <= incidents.ts_onset
INNER JOIN sources ON events.source_id = sources.source_id
WHERE
    events.kind IN (
        'config_reload', 'weights_replaced', 'compiled_cache_cleared',
        'harness_restarted', 'server_started', 'engine_start', 'operator_stop'
    )
QUALIFY
    row_number() OVER (
        PARTITION BY incidents.incident_id
        ORDER BY events.ts DESC, events.event_id DESC
    ) <= 3
ORDER BY
    incidents.attempts DESC,
    incidents.ts_start ASC,
    incidents.incident_id ASC,
    events.ts ASC,
    events.event_id ASC
LIMIT 30
