-- title: Attempts: one exchange as the outermost log saw it
-- store: parquet
-- keep: failed
WITH inner_lives AS (
    SELECT lives.*
    FROM lives
    SEMI JOIN orphans ON lives.request_id = orphans.request_id
),

-- Logs that name who was asked, but nothing that says whether anybody was.
naming AS (
    SELECT DISTINCT events.source_id
    FROM events
    WHERE
        events.kind = 'access'
        AND events.upstream_addr IS NOT NULL
        AND events.forwarded IS NULL
),

-- A refusal that names nobody there was never sent on.
exchanges AS (
    SELECT
        access.* EXCLUDE (forwarded),
        CASE
            WHEN
                access.forwarded IS NULL
                AND access.upstream_addr IS NULL
                AND access.status IN (402, 403, 429)
                AND naming.source_id IS NOT NULL
                THEN FALSE
            ELSE access.forwarded
        END AS forwarded
    FROM access
    LEFT JOIN naming ON access.source_id = naming.source_id
)

SELECT
    access.event_id AS attempt_id,
    access.request_id,
    coalesce(special.attempt, 1) AS attempt,
    access.ts_start,
    access.ts_end,
    access.ts_error_us,
    access.status,
    access.status >= 400 OR coalesce(special.broken, FALSE) AS failed,
    coalesce(access.user_id, life.user_id) AS user_id,
    coalesce(access.project_id, life.project_id) AS project_id,
    coalesce(access.tenant_id, life.tenant_id) AS tenant_id,
    coalesce(access.model, life.model) AS model,
    -- Where it ran, else where it was first sent, unless the edge tried several.
    coalesce(
        life.model_engine,
        CASE WHEN access.upstream_hops > 1 THEN NULL ELSE life.engine END
    ) AS engine,
    CASE
        WHEN life.in_engine AND special.attempt IS NULL THEN TRUE
        WHEN access.forwarded IS FALSE THEN FALSE
        WHEN life.sent_on THEN TRUE
        WHEN
            life.accepted
            AND access.status >= 400
            AND (SELECT bool_or(lives.sent_on) FROM lives)
            THEN FALSE
        ELSE access.forwarded
    END AS forwarded,
    CASE
        WHEN life.layer_bits IS NULL THEN ['harness']
        ELSE layers_of(life.layer_bits | layer_bit('harness'))
    END AS layers_seen,
    access.source_id,
    TRUE AS has_access,
    access.forwarded AS edge_forwarded,
    access.duration_ms,
    access.upstream_header_ms,
    access.upstream_hops
FROM exchanges AS access
LEFT JOIN special ON access.event_id = special.event_id
LEFT JOIN lives AS life ON access.request_id = life.request_id
WHERE special.twin IS NOT TRUE
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
    coalesce(life.model_engine, life.engine) AS engine,
    coalesce(life.in_engine OR life.sent_on, FALSE) AS forwarded,
    layers_of(life.layer_bits) AS layers_seen,
    orphans.event_id // 10000000000 AS source_id,
    FALSE AS has_access,
    NULL AS edge_forwarded,
    NULL AS duration_ms,
    NULL AS upstream_header_ms,
    NULL AS upstream_hops
FROM orphans
INNER JOIN inner_lives AS life ON orphans.request_id = life.request_id
UNION ALL
SELECT
    uncovered.event_id AS attempt_id,
    NULL AS request_id,
    1 AS attempt,
    uncovered.ts_start,
    uncovered.ts_end,
    uncovered.ts_error_us,
    uncovered.status,
    uncovered.status >= 400 AS failed,
    uncovered.user_id,
    uncovered.project_id,
    uncovered.tenant_id,
    uncovered.model,
    uncovered.engine,
    CASE WHEN uncovered.engine IS NOT NULL THEN TRUE END AS forwarded,
    CASE
        WHEN uncovered.engine IS NULL THEN ['harness']
        ELSE ['model']
    END AS layers_seen,
    uncovered.source_id,
    TRUE AS has_access,
    NULL AS edge_forwarded,
    uncovered.duration_ms,
    NULL AS upstream_header_ms,
    NULL AS upstream_hops
FROM uncovered
