-- title: Records that name an incident's cause, and those by which somebody noticed it
-- store: table
WITH troubles AS (
    SELECT DISTINCT
        incident_members.incident_id,
        incident_members.condition_id
    FROM incident_members
    WHERE incident_members.condition_id IS NOT NULL
),

cited AS (
    SELECT
        troubles.incident_id,
        unnest(conditions.evidence) AS event_id
    FROM troubles
    INNER JOIN conditions ON troubles.condition_id = conditions.condition_id
),

names AS (
    SELECT
        cited.incident_id,
        marks.event_id,
        marks.ts,
        marks.ts_error_us
    FROM cited
    INNER JOIN marks ON cited.event_id = marks.event_id
    UNION
    SELECT
        incident_members.incident_id,
        own.event_id,
        own.ts,
        own.ts_error_us
    FROM incident_members
    INNER JOIN judged ON incident_members.attempt_id = judged.attempt_id
    INNER JOIN own
        ON
            incident_members.attempt_id = own.attempt_id
            AND list_contains(judged.evidence, own.event_id)
    WHERE own.event_id <> own.attempt_id AND judged.layer <> 'undetermined'
),

extents AS (
    SELECT
        incident_members.incident_id,
        min(incident_members.scope) AS scope,
        min(incident_members.layer) AS layer,
        min(incident_members.ts_start) AS ts_start,
        max(incident_members.ts_end) AS ts_end,
        greatest(min(incident_members.ts_start), min(conditions.ts_start))
            AS ts_trouble
    FROM incident_members
    LEFT JOIN conditions
        ON incident_members.condition_id = conditions.condition_id
    GROUP BY incident_members.incident_id
),

watched AS (
    SELECT
        marks.event_id,
        -- Its reason may stand in front of it.
        CASE
            WHEN
                marks.layer = 'harness' AND list_contains(marks.kinds, 'engine_exited')
                THEN 'engine_exited'
            ELSE marks.kind
        END AS seen,
        marks.ts,
        marks.ts_error_us,
        coalesce(pod_words.engine, engine_names.engine, marks.engine) AS engine
    FROM marks
    LEFT JOIN engine_names ON marks.engine = engine_names.label
    LEFT JOIN pod_words ON marks.event_id = pod_words.event_id
    WHERE
        marks.clock_status <> 'untied'
        -- A pod that is called like no engine is none.
        AND (marks.layer <> 'host' OR pod_words.engine IS NOT NULL)
        AND seen IN (
            'engine_unhealthy', 'health_check_failed', 'operator_stop', 'probe_kill',
            'engine_exited', 'engine_start', 'harness_unhealthy',
            'plugin_probe_failed', 'harness_restarted', 'upstream_disabled',
            'config_reload'
        )
),

-- Probes, operators, restarts: of the same engine, or of one that has no name.
notices AS (
    SELECT
        extents.incident_id,
        watched.event_id,
        watched.ts,
        watched.ts_error_us
    FROM extents
    INNER JOIN watched
        ON
            watched.ts BETWEEN extents.ts_start - INTERVAL 1 MINUTE
            AND extents.ts_end + INTERVAL 1 MINUTE
    WHERE
        CASE extents.layer
            WHEN 'model'
                THEN
                    watched.seen IN (
                        'engine_unhealthy', 'health_check_failed', 'probe_kill',
                        'operator_stop', 'engine_exited', 'engine_start'
                    )
                    AND coalesce(watched.engine, extents.scope) = extents.scope
            WHEN 'harness'
                THEN
                    watched.seen IN (
                        'harness_unhealthy', 'plugin_probe_failed',
                        'harness_restarted', 'upstream_disabled', 'config_reload'
                    )
                    -- Of an engine that did not answer, and nothing says why.
                    OR watched.engine = extents.scope
            WHEN 'quota' THEN watched.seen = 'config_reload'
            ELSE FALSE
        END
        -- A probe may fail before any request does. An act that comes before the trouble
        -- is no answer to it, and perhaps its cause.
        AND (
            watched.ts > extents.ts_trouble
            OR watched.seen IN (
                'engine_unhealthy', 'health_check_failed', 'probe_kill',
                'harness_unhealthy', 'plugin_probe_failed', 'upstream_disabled'
            )
        )
)

SELECT
    names.incident_id,
    'named' AS role,
    min(names.ts) AS ts,
    arg_min(names.ts_error_us, (names.ts, names.event_id)) AS ts_error_us,
    arg_min(names.event_id, (names.ts, names.event_id)) AS event_id
FROM names
WHERE names.ts IS NOT NULL
GROUP BY names.incident_id
UNION ALL
SELECT
    notices.incident_id,
    'noticed' AS role,
    min(notices.ts) AS ts,
    arg_min(notices.ts_error_us, (notices.ts, notices.event_id)) AS ts_error_us,
    arg_min(notices.event_id, (notices.ts, notices.event_id)) AS event_id
FROM notices
GROUP BY notices.incident_id
