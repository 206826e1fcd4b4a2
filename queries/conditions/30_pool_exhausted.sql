-- title: A quota pool is empty
-- layer: quota
-- cause: quota.exceeded
-- known gaps: a pool that nobody was refused from and no snapshot shows
WITH denials AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        coalesce(marks.user_id, life.user_id) AS user_id,
        coalesce(marks.project_id, life.project_id) AS project_id,
        coalesce(marks.tenant_id, life.tenant_id) AS tenant_id,
        marks.pool
    FROM marks
    LEFT JOIN life ON marks.request_id = life.request_id
    WHERE
        marks.kind IN ('quota_exceeded', 'quota_deny')
        AND marks.clock_status <> 'untied'
        AND NOT EXISTS (
            SELECT 1
            FROM lagging
            WHERE lagging.request_id = marks.request_id
        )
),

owners AS (
    SELECT
        empty_pools.*,
        'user' AS owner_kind,
        empty_pools.user_id AS owner
    FROM empty_pools
    UNION ALL
    SELECT
        empty_pools.*,
        empty_pools.level AS owner_kind,
        empty_pools.level_id AS owner
    FROM empty_pools
),

askers AS (
    SELECT
        denials.event_id,
        denials.ts,
        'user' AS owner_kind,
        denials.user_id AS owner
    FROM denials
    UNION ALL
    SELECT
        denials.event_id,
        denials.ts,
        'project' AS owner_kind,
        denials.project_id AS owner
    FROM denials
    UNION ALL
    SELECT
        denials.event_id,
        denials.ts,
        'tenant' AS owner_kind,
        denials.tenant_id AS owner
    FROM denials
),

-- A snapshot that shows both the user's and the project's own is one.
matched AS (
    SELECT DISTINCT
        askers.event_id,
        owners.event_id AS snapshot_id,
        owners.level,
        owners.level_id
    FROM askers
    INNER JOIN owners
        ON
            askers.owner_kind = owners.owner_kind
            AND askers.owner = owners.owner
            AND (
                owners.clock_status = 'untied'
                OR abs(date_diff('second', askers.ts, owners.ts))
                <= threshold('balance_fresh_s')
            )
),

shown AS (
    SELECT
        denials.*,
        matched.snapshot_id,
        matched.level,
        matched.level_id
    FROM denials
    LEFT JOIN matched ON denials.event_id = matched.event_id
),

named AS (
    SELECT
        shown.event_id,
        shown.snapshot_id,
        shown.ts,
        shown.ts_error_us,
        shown.clock_status,
        shown.user_id,
        coalesce(
            shown.level_id,
            nullif(regexp_extract(shown.pool, '[^:]+$'), ''),
            shown.user_id,
            '?'
        ) AS scope,
        CASE
            WHEN shown.level IS NOT NULL THEN shown.level
            WHEN shown.pool LIKE '%:%' THEN split_part(shown.pool, ':', 1)
            WHEN shown.pool IS NOT NULL THEN 'pool'
            ELSE 'unknown pool'
        END AS level
    FROM shown
),

-- The pool is empty until one of its users is served again.
good AS (
    SELECT
        attempts.user_id,
        attempts.ts_start
    FROM attempts
    WHERE NOT attempts.failed
),

next_good AS (
    SELECT
        named.scope,
        named.level,
        named.ts,
        good.ts_start AS next_ts
    FROM named
    ASOF INNER JOIN good
        ON named.user_id = good.user_id AND named.ts < good.ts_start
),

served AS (
    SELECT
        next_good.scope,
        next_good.level,
        next_good.ts,
        min(next_good.next_ts) AS next_ts
    FROM next_good
    GROUP BY next_good.scope, next_good.level, next_good.ts
),

-- Who is never served again did perhaps not ask: then anybody else of the pool, once
-- nobody was refused any more.
later AS (
    SELECT
        users.scope,
        users.level,
        min(good.ts_start) AS next_ts
    FROM (
        SELECT DISTINCT
            named.scope,
            named.level,
            named.user_id,
            max(named.ts) OVER (PARTITION BY named.scope, named.level) AS ts
        FROM named
    ) AS users
    INNER JOIN good ON users.user_id = good.user_id AND users.ts < good.ts_start
    GROUP BY users.scope, users.level
)

SELECT
    'quota.exceeded' AS cause,
    'root' AS role,
    named.level AS scope_kind,
    named.scope,
    min(named.ts) AS ts_start,
    coalesce(served.next_ts, later.next_ts) AS ts_end,
    max(named.ts_error_us) AS ts_error_us,
    min(named.clock_status) AS clock_status,
    CASE
        WHEN named.level = 'unknown pool'
            THEN 'quota refused to ' || named.scope || '; no record names the pool'
        ELSE 'the pool of ' || named.level || ' ' || named.scope || ' is empty'
    END AS because,
    list_sort(
        list_distinct(
            list_concat(
                list(named.event_id),
                list(named.snapshot_id)
                FILTER (WHERE named.snapshot_id IS NOT NULL)
            )
        )
    )[1:40] AS evidence
FROM named
LEFT JOIN served
    ON
        named.scope = served.scope
        AND named.level = served.level
        AND named.ts = served.ts
LEFT JOIN later ON named.scope = later.scope AND named.level = later.level
GROUP BY named.level, named.scope, coalesce(served.next_ts, later.next_ts)
UNION ALL
SELECT
    'quota.exceeded' AS cause,
    'root' AS role,
    empty_pools.level AS scope_kind,
    empty_pools.level_id AS scope,
    min(empty_pools.since) AS ts_start,
    max(empty_pools.ts) + INTERVAL 60 SECOND AS ts_end,
    max(empty_pools.ts_error_us) AS ts_error_us,
    min(empty_pools.clock_status) AS clock_status,
    'the pool of ' || empty_pools.level || ' ' || empty_pools.level_id
    || ' is empty' AS because,
    list_sort(list(DISTINCT empty_pools.event_id))[1:40] AS evidence
FROM empty_pools
ANTI JOIN named
    ON
        empty_pools.level = named.level
        AND empty_pools.level_id = named.scope
WHERE
    NOT EXISTS (
        SELECT 1
        FROM lagging
        WHERE lagging.user_id = empty_pools.user_id
    )
GROUP BY empty_pools.level, empty_pools.level_id
