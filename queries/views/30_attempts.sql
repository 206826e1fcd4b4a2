-- title: Attempts: one exchange as the outermost log saw it
-- store: parquet
SELECT
    access.event_id AS attempt_id,
    access.request_id,
    CASE
        WHEN access.request_id IS NULL THEN 1
        ELSE coalesce(numbers.attempt, 1)
    END AS attempt,
    access.ts_start,
    access.ts_end,
    access.ts_error_us,
    access.status,
    access.status >= 400 OR broken.event_id IS NOT NULL AS failed,
    coalesce(access.user_id, life.user_id) AS user_id,
    coalesce(access.project_id, life.project_id) AS project_id,
    coalesce(access.tenant_id, life.tenant_id) AS tenant_id,
    coalesce(access.model, life.model) AS model,
    -- Where it ran, else where it was first sent, unless the edge tried several.
    coalesce(
        engine_names.engine,
        CASE WHEN access.upstream_hops > 1 THEN NULL ELSE life.engine END
    ) AS engine,
    CASE
        WHEN life.in_engine AND numbers.attempt IS NULL THEN TRUE
        WHEN access.forwarded IS FALSE THEN FALSE
        WHEN life.sent_on THEN TRUE
        WHEN
            life.accepted
            AND access.status >= 400
            AND (SELECT bool_or(life.sent_on) FROM life)
            THEN FALSE
        ELSE access.forwarded
    END AS forwarded,
    CASE
        WHEN life.layers IS NULL THEN ['harness']
        ELSE list_sort(list_distinct(list_append(life.layers, 'harness')))
    END AS layers_seen,
    access.source_id
FROM access
ANTI JOIN twins ON access.event_id = twins.event_id
LEFT JOIN numbers ON access.event_id = numbers.event_id
LEFT JOIN broken ON access.event_id = broken.event_id
LEFT JOIN life ON access.request_id = life.request_id
LEFT JOIN engine_names ON life.model_label = engine_names.label
UNION ALL
SELECT
    orphans.event_id AS attempt_id,
    orphans.request_id,
    1 AS attempt,
    orphans.ts_start,
    orphans.ts_end,
    1000000 AS ts_error_us,
    orphans.status,
    TRUE AS failed,
    life.user_id,
    life.project_id,
    life.tenant_id,
    life.model,
    coalesce(engine_names.engine, life.engine) AS engine,
    coalesce(life.in_engine OR life.sent_on, FALSE) AS forwarded,
    life.layers AS layers_seen,
    orphans.event_id // 10000000000 AS source_id
FROM orphans
INNER JOIN life ON orphans.request_id = life.request_id
LEFT JOIN engine_names ON life.model_label = engine_names.label
