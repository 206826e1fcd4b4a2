-- title: What balance snapshots say of each pool
-- store: case
WITH snapshots AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.ts_raw,
        -- A stamp with a zone is right to within the skew of hosts.
        CASE
            WHEN marks.clock_status = 'untied' AND sources.zoned
                THEN greatest(marks.ts_error_us, 5000000)
            ELSE marks.ts_error_us
        END AS ts_error_us,
        CASE
            WHEN marks.clock_status = 'untied' AND sources.zoned THEN 'weak'
            ELSE marks.clock_status
        END AS clock_status,
        marks.user_id,
        marks.project_id,
        marks.tenant_id,
        marks.attrs
    FROM marks
    INNER JOIN sources ON marks.source_id = sources.source_id
    WHERE marks.kind = 'balance'
),

single AS (
    SELECT
        snapshots.* EXCLUDE (attrs),
        (snapshots.attrs ->> '$.level') AS level,
        (snapshots.attrs ->> '$.level_id') AS level_id,
        try_cast((snapshots.attrs ->> '$.used') AS DOUBLE) AS pool_used,
        try_cast((snapshots.attrs ->> '$.limit') AS DOUBLE) AS pool_limit,
        coalesce(
            ratio(snapshots.attrs ->> '$.used_ratio'),
            try_cast((snapshots.attrs ->> '$.used') AS DOUBLE)
            / nullif(try_cast((snapshots.attrs ->> '$.limit') AS DOUBLE), 0)
        ) AS used_ratio,
        instant(snapshots.attrs ->> '$.last_updated') AS last_updated
    FROM snapshots
    WHERE (snapshots.attrs -> '$.balances') IS NULL
),

listed AS (
    SELECT
        snapshots.* EXCLUDE (attrs, user_id, project_id, tenant_id),
        unnest(from_json((snapshots.attrs -> '$.balances'), '["json"]')) AS balance
    FROM snapshots
    WHERE (snapshots.attrs -> '$.balances') IS NOT NULL
),

people AS (
    SELECT
        listed.*,
        coalesce(
            (listed.balance ->> '$.user_id'), (listed.balance ->> '$.user')
        ) AS user_id,
        coalesce(
            (listed.balance ->> '$.project_id'), (listed.balance ->> '$.project')
        ) AS project_id,
        coalesce(
            (listed.balance ->> '$.tenant_id'), (listed.balance ->> '$.tenant')
        ) AS tenant_id,
        instant(listed.balance ->> '$.last_updated') AS last_updated,
        -- Each may have a stamp of its own; the record has that of the first.
        listed.ts
        + (coalesce(instant(listed.balance ->> '$.ts'), listed.ts_raw) - listed.ts_raw)
            AS own_ts
    FROM listed
),

pools AS (
    SELECT
        people.event_id,
        people.own_ts AS ts,
        people.ts_raw + (people.own_ts - people.ts) AS ts_raw,
        people.ts_error_us,
        people.clock_status,
        people.user_id,
        people.project_id,
        people.tenant_id,
        levels.level,
        people.balance ->> ('$.pools.' || levels.level || '.id') AS level_id,
        try_cast(
            people.balance ->> ('$.pools.' || levels.level || '.used') AS DOUBLE
        ) AS pool_used,
        try_cast(
            people.balance ->> ('$.pools.' || levels.level || '.limit') AS DOUBLE
        ) AS pool_limit,
        pool_used / nullif(pool_limit, 0) AS used_ratio,
        people.last_updated
    FROM people
    CROSS JOIN (VALUES ('user'), ('project'), ('tenant')) AS levels (level)
    WHERE (people.balance -> '$.pools') IS NOT NULL
),

effective AS (
    SELECT
        people.event_id,
        people.own_ts AS ts,
        people.ts_raw + (people.own_ts - people.ts) AS ts_raw,
        people.ts_error_us,
        people.clock_status,
        people.user_id,
        people.project_id,
        people.tenant_id,
        (people.balance ->> '$.effective_quota.level') AS level,
        (people.balance ->> '$.effective_quota.id') AS level_id,
        try_cast((people.balance ->> '$.effective_quota.used') AS DOUBLE)
            AS pool_used,
        try_cast((people.balance ->> '$.effective_quota.limit') AS DOUBLE)
            AS pool_limit,
        ratio(people.balance ->> '$.used_ratio') AS used_ratio,
        people.last_updated
    FROM people
    WHERE (people.balance -> '$.pools') IS NULL
),

combined AS (
    SELECT * FROM single
    UNION ALL BY NAME
    SELECT * FROM pools
    UNION ALL BY NAME
    SELECT * FROM effective
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
    coalesce(
        combined.level_id,
        CASE combined.level
            WHEN 'project' THEN combined.project_id
            WHEN 'tenant' THEN combined.tenant_id
            ELSE combined.user_id
        END
    ) AS level_id,
    combined.pool_used,
    combined.pool_limit,
    combined.used_ratio,
    combined.last_updated,
    combined.last_updated
    BETWEEN combined.ts_raw - to_seconds(threshold('balance_fresh_s'))
    AND combined.ts_raw + INTERVAL 5 SECOND AS fresh
FROM combined
WHERE combined.used_ratio IS NOT NULL
