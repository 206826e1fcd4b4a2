-- title: Incidents: how long until someone or something reacted, and until it was over
-- topic: failures
-- answers: When did each incident begin, when was it noticed, when was it over, and was the response target kept?
-- param window: duration = 1m; how long after the end a sign still counts
-- param model_target: duration = 5m; how soon trouble of the model is to be over
-- param harness_target: duration = 2m; the same of the harness
-- param quota_target: duration = 30s; the same of the quota
-- column incident_id: incident
-- column layer: layer
-- column cause: cause
-- column scope: what was in trouble
-- column ts_start: start: of the trouble behind it, else of the first failed attempt
-- column noticed_ts: first record of a health check, a restart, a watchdog or an operator
-- column noticed_by: kind of that record
-- column detect_s: from the start to that record, s
-- column ts_end: end: of the trouble behind it, else of the last failed attempt; NULL: not over
-- column recover_s: from start to end, s
-- column target_s: response target of the layer, s
-- column kept: whether the end came within the target; NULL when there is none
-- column attempts: failed attempts
WITH spans AS (
    SELECT
        incidents.incident_id,
        incidents.layer,
        incidents.cause,
        incidents.scope,
        incidents.attempts,
        coalesce(conditions.ts_start, incidents.ts_start) AS ts_start,
        CASE
            WHEN conditions.condition_id IS NULL THEN incidents.ts_end
            ELSE conditions.ts_end
        END AS ts_end,
        CASE incidents.layer
            WHEN 'model' THEN epoch($model_target)
            WHEN 'harness' THEN epoch($harness_target)
            WHEN 'quota' THEN epoch($quota_target)
        END AS target_s
    FROM incidents
    LEFT JOIN conditions ON incidents.condition_id = conditions.condition_id
),

-- Who reacts to what: an engine's health says nothing of a plugin.
kinds AS (
    SELECT
        listed.kind,
        listed.layer
    FROM (
        VALUES
        ('engine_unhealthy', 'model'),
        ('health_check_failed', 'model'),
        ('upstream_disabled', 'model'),
        ('watchdog_kill', 'model'),
        ('operator_stop', 'model'),
        ('engine_start', 'model'),
        ('harness_unhealthy', 'harness'),
        ('harness_restarted', 'harness'),
        ('plugin_probe_failed', 'harness'),
        ('config_reload', 'harness'),
        ('config_reload', 'quota')
    ) AS listed (kind, layer)
),

signs AS (
    SELECT
        events.ts,
        events.kind,
        kinds.layer,
        events.event_id
    FROM events
    INNER JOIN kinds ON events.kind = kinds.kind
),

noticed AS (
    SELECT
        spans.incident_id,
        min(signs.ts) AS ts,
        arg_min(signs.kind, (signs.ts, signs.event_id)) AS kind
    FROM spans
    INNER JOIN signs
        ON
            spans.layer = signs.layer
            AND signs.ts >= spans.ts_start
            AND signs.ts <= coalesce(spans.ts_end, spans.ts_start) + $window
    GROUP BY spans.incident_id
)

SELECT
    spans.incident_id,
    spans.layer,
    spans.cause,
    spans.scope,
    spans.ts_start,
    noticed.ts AS noticed_ts,
    noticed.kind AS noticed_by,
    date_diff('millisecond', spans.ts_start, noticed.ts) / 1000 AS detect_s,
    spans.ts_end,
    date_diff('millisecond', spans.ts_start, spans.ts_end) / 1000 AS recover_s,
    spans.target_s,
    recover_s <= spans.target_s AS kept,
    spans.attempts
FROM spans
LEFT JOIN noticed ON spans.incident_id = noticed.incident_id
ORDER BY spans.ts_start ASC, spans.incident_id ASC
