-- title: Failed attempts of one cause and scope without a long pause between them
-- store: table
WITH plugins AS (
    SELECT
        own.attempt_id,
        min(own.plugin) AS plugin
    FROM own
    WHERE own.plugin IS NOT NULL
    GROUP BY own.attempt_id
),

-- What is sorted by time is narrow: the rest joins in the end.
keyed AS (
    SELECT
        judged.attempt_id,
        judged.cause,
        conditions.scope_kind IN ('engine', 'plugin', 'pool', 'project', 'tenant')
            AS apart,
        coalesce(
            conditions.scope,
            CASE
                WHEN
                    judged.layer = 'model'
                    OR judged.cause IN (
                        'harness.upstream_timeout', 'harness.upstream_closed',
                        'harness.connect_refused'
                    )
                    THEN failures.engine
                WHEN judged.cause = 'harness.plugin_failed' THEN plugins.plugin
                WHEN judged.layer = 'quota' THEN failures.user_id
            END
        ) AS scope,
        failures.ts_start,
        failures.ts_end
    FROM judged
    INNER JOIN failures ON judged.attempt_id = failures.attempt_id
    LEFT JOIN conditions ON judged.condition_id = conditions.condition_id
    LEFT JOIN plugins ON judged.attempt_id = plugins.attempt_id
),

paused AS (
    SELECT
        keyed.*,
        keyed.ts_start - max(keyed.ts_end) OVER (
            PARTITION BY keyed.cause
            ORDER BY keyed.ts_start, keyed.attempt_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) > to_seconds(threshold('incident_pause_s'))
        -- What dies again and again, with service between, is one incident.
        AND coalesce(
            keyed.ts_start - max(keyed.ts_end) FILTER (WHERE keyed.apart) OVER (
                PARTITION BY keyed.cause, keyed.scope
                ORDER BY keyed.ts_start, keyed.attempt_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) > to_seconds(2 * threshold('incident_pause_s')),
            TRUE
        ) AS pause
    FROM keyed
),

runs AS (
    SELECT
        paused.*,
        sum(CASE WHEN paused.pause THEN 1 ELSE 0 END) OVER (
            PARTITION BY paused.cause
            ORDER BY paused.ts_start, paused.attempt_id
        ) AS run
    FROM paused
),

-- Two engines that died at once are two incidents; who has no condition of his own
-- belongs to his engine's, or stays apart.
scopes AS (
    SELECT
        runs.cause,
        runs.run,
        list(DISTINCT runs.scope) AS scopes
    FROM runs
    WHERE runs.apart AND runs.scope IS NOT NULL
    GROUP BY runs.cause, runs.run
    HAVING count(DISTINCT runs.scope) > 1
),

parted AS (
    SELECT
        runs.*,
        CASE
            WHEN list_contains(scopes.scopes, runs.scope) THEN runs.scope
            ELSE ''
        END AS part
    FROM runs
    LEFT JOIN scopes ON runs.cause = scopes.cause AND runs.run = scopes.run
),

starts AS (
    SELECT
        parted.cause,
        parted.run,
        parted.part,
        count(*) AS attempts,
        min(parted.ts_start) AS ts_start,
        min(parted.attempt_id) AS attempt_id
    FROM parted
    GROUP BY parted.cause, parted.run, parted.part
),

-- As they are shown: the greatest first.
numbered AS (
    SELECT
        starts.cause,
        starts.run,
        starts.part,
        row_number() OVER (
            ORDER BY starts.attempts DESC, starts.ts_start ASC, starts.attempt_id ASC
        ) AS incident_id
    FROM starts
)

SELECT
    parted.attempt_id,
    numbered.incident_id,
    judged.request_id,
    judged.attempt,
    judged.layer,
    parted.cause,
    judged.contributing,
    parted.scope,
    failures.engine,
    parted.ts_start,
    parted.ts_end,
    failures.ts_error_us,
    failures.user_id,
    failures.model,
    judged.condition_id
FROM parted
INNER JOIN numbered
    ON
        parted.cause = numbered.cause
        AND parted.run = numbered.run
        AND parted.part = numbered.part
INNER JOIN judged ON parted.attempt_id = judged.attempt_id
INNER JOIN failures ON parted.attempt_id = failures.attempt_id
