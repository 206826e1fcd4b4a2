-- title: A plugin cannot reach what it depends on, until it connects again
-- layer: harness
-- cause: harness.plugin_failed
-- needs: marks
-- known gaps: an outage that only requests notice, without a record of its own
WITH lost AS (
    SELECT
        marks.event_id,
        marks.plugin,
        marks.log_dir,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        (
            SELECT min(back.ts)
            FROM marks AS back
            WHERE
                back.kind IN ('plugin_connected', 'plugin_probe_ok')
                AND back.plugin = marks.plugin
                AND back.log_dir = marks.log_dir
                AND (back.ts, back.event_id) > (marks.ts, marks.event_id)
        ) AS back_ts
    FROM marks
    WHERE
        marks.kind IN ('plugin_connect_failed', 'plugin_probe_failed')
        AND marks.request_id IS NULL
        AND marks.plugin IS NOT NULL
)

SELECT
    'harness.plugin_failed' AS cause,
    'root' AS role,
    'plugin' AS scope_kind,
    lost.plugin AS scope,
    min(lost.ts) AS ts_start,
    lost.back_ts AS ts_end,
    max(lost.ts_error_us) AS ts_error_us,
    min(lost.clock_status) AS clock_status,
    'no connection to ' || lost.plugin AS because,
    list(lost.event_id ORDER BY lost.ts, lost.event_id)[1:20] AS evidence
FROM lost
GROUP BY lost.plugin, lost.log_dir, lost.back_ts
