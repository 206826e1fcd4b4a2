-- title: Fresh balance snapshots that show an empty pool
-- store: table
WITH snapshots AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        marks.user_id,
        marks.project_id,
        marks.tenant_id,
        (marks.attrs ->> '$.level') AS level,
        (marks.attrs ->> '$.level_id') AS level_id,
        try_cast((marks.attrs ->> '$.used_ratio') AS DOUBLE) AS used_ratio,
        try_cast((marks.attrs ->> '$.last_updated') AS TIMESTAMPTZ)::TIMESTAMP
            AS last_updated,
        marks.ts_raw
    FROM marks
    WHERE marks.kind = 'balance' AND (marks.attrs ->> '$.used_ratio') IS NOT NULL
),

listed AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        marks.ts_raw,
        unnest(from_json((marks.attrs -> '$.balances'), '["json"]')) AS balance
    FROM marks
    WHERE marks.kind = 'balance' AND (marks.attrs -> '$.balances') IS NOT NULL
),

pools AS (
    SELECT
        listed.event_id,
        listed.ts,
        listed.ts_error_us,
        listed.clock_status,
        (listed.balance ->> '$.user_id') AS user_id,
        (listed.balance ->> '$.project_id') AS project_id,
        (listed.balance ->> '$.tenant_id') AS tenant_id,
        levels.level,
        listed.balance ->> ('$.pools.' || levels.level || '.id') AS level_id,
        try_cast(
            listed.balance ->> ('$.pools.' || levels.level || '.used') AS DOUBLE
        )
        / nullif(
            try_cast(
                listed.balance ->> ('$.pools.' || levels.level || '.limit')
                AS DOUBLE
            ), 0
        ) AS used_ratio,
        try_cast((listed.balance ->> '$.last_updated') AS TIMESTAMPTZ)::TIMESTAMP
            AS last_updated,
        listed.ts_raw
    FROM listed
    CROSS JOIN (VALUES ('user'), ('project'), ('tenant')) AS levels (level)
),

combined AS (
    SELECT * FROM snapshots
    UNION ALL BY NAME
    SELECT * FROM pools
)

SELECT
    combined.event_id,
    combined.ts,
    combined.ts_error_us,
    combined.clock_status,
    combined.user_id,
    combined.project_id,
    combined.tenant_id,
    coalesce(combined.level, 'user') AS level,
    coalesce(combined.level_id, combined.user_id) AS level_id,
    combined.used_ratio
FROM combined
WHERE
    combined.used_ratio > 0.99
    AND combined.last_updated
    BETWEEN combined.ts_raw - INTERVAL 5 MINUTE
    AND combined.ts_raw + INTERVAL 5 SECOND
