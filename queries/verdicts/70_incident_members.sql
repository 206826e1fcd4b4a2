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
        failures.ts_end,
        epoch_us(failures.ts_start)
        // greatest(1, (1000000 * threshold('incident_pause_s'))::BIGINT) AS bucket
    FROM judged
    INNER JOIN failures ON judged.attempt_id = failures.attempt_id
    LEFT JOIN conditions ON judged.condition_id = conditions.condition_id
    LEFT JOIN plugins ON judged.attempt_id = plugins.attempt_id
),

-- A pause can only be before the first attempt of a stretch as long as a pause.
buckets AS (
    SELECT
        keyed.cause,
        keyed.bucket,
        min(keyed.ts_start) AS ts_start,
        max(keyed.ts_end) AS ts_end
    FROM keyed
    GROUP BY keyed.cause, keyed.bucket
),

gaps AS (
    SELECT
        buckets.cause,
        buckets.bucket,
        buckets.ts_start,
        buckets.ts_start - max(buckets.ts_end) OVER (
            PARTITION BY buckets.cause
            ORDER BY buckets.bucket
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) > to_seconds(threshold('incident_pause_s')) AS quiet
    FROM buckets
),

firsts AS (
    SELECT
        keyed.cause,
        keyed.bucket,
        keyed.scope,
        keyed.ts_start
    FROM keyed
    INNER JOIN gaps
        ON
            keyed.cause = gaps.cause
            AND keyed.bucket = gaps.bucket
            AND keyed.ts_start = gaps.ts_start
    WHERE gaps.quiet
    QUALIFY
        row_number() OVER (
            PARTITION BY keyed.cause, keyed.bucket ORDER BY keyed.attempt_id
        ) = 1
),

scoped AS (
    SELECT
        keyed.cause,
        keyed.scope,
        keyed.bucket,
        max(keyed.ts_end) AS ts_end
    FROM keyed
    WHERE keyed.apart
    GROUP BY keyed.cause, keyed.scope, keyed.bucket
),

-- What dies again and again, with service between, is one incident.
pauses AS (
    SELECT
        firsts.cause,
        firsts.bucket
    FROM firsts
    LEFT JOIN scoped
        ON
            firsts.cause = scoped.cause
            AND firsts.scope IS NOT DISTINCT FROM scoped.scope
            AND firsts.bucket > scoped.bucket
    GROUP BY firsts.cause, firsts.bucket, firsts.ts_start
    HAVING
        coalesce(
            firsts.ts_start - max(scoped.ts_end)
            > to_seconds(2 * threshold('incident_pause_s')),
            TRUE
        )
),

numbers_of_runs AS (
    SELECT
        buckets.cause,
        buckets.bucket,
        count(pauses.bucket) OVER (
            PARTITION BY buckets.cause ORDER BY buckets.bucket
        ) AS run
    FROM buckets
    LEFT JOIN pauses
        ON buckets.cause = pauses.cause AND buckets.bucket = pauses.bucket
),

runs AS (
    SELECT
        keyed.*,
        numbers_of_runs.run
    FROM keyed
    INNER JOIN numbers_of_runs
        ON
            keyed.cause = numbers_of_runs.cause
            -- A record need not have a time.
            AND keyed.bucket IS NOT DISTINCT FROM numbers_of_runs.bucket
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
