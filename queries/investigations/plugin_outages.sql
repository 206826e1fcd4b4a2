-- title: Plugins and what they depend on: when they were gone, and whom that hit
-- topic: engines
-- answers: Which plugin failed, since when until when, and how many requests with it?
-- column plugin: plugin or its dependency
-- column ts_start: start
-- column ts_end: end; NULL: not over when the logs end
-- column lasted_s: how long, s
-- column victims: attempts failed by a plugin that rest on it or fell into its time
-- column users: users whom they hit
-- column passed: attempts that began in that time and succeeded
-- column because: what shows it
WITH outages AS (
    SELECT
        conditions.condition_id,
        conditions.scope,
        conditions.ts_start,
        conditions.ts_end,
        conditions.because
    FROM conditions
    WHERE conditions.cause = 'harness.plugin_failed' AND conditions.role = 'root'
),

victims AS (
    SELECT
        outages.condition_id,
        count(*) AS victims,
        count(DISTINCT attempts.user_id) AS users
    FROM verdicts
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
    INNER JOIN outages
        ON
            verdicts.condition_id = outages.condition_id
            OR (
                verdicts.condition_id IS NULL
                AND attempts.ts_end >= outages.ts_start
                AND (outages.ts_end IS NULL OR attempts.ts_start <= outages.ts_end)
            )
    WHERE verdicts.cause = 'harness.plugin_failed'
    GROUP BY outages.condition_id
),

passed AS (
    SELECT
        outages.condition_id,
        count(*) AS passed
    FROM outages
    INNER JOIN attempts
        ON
            attempts.ts_start >= outages.ts_start
            AND (outages.ts_end IS NULL OR attempts.ts_start <= outages.ts_end)
    WHERE NOT attempts.failed
    GROUP BY outages.condition_id
)

SELECT
    outages.scope AS plugin,
    outages.ts_start,
    outages.ts_end,
    date_diff('millisecond', outages.ts_start, outages.ts_end) / 1000 AS lasted_s,
    coalesce(victims.victims, 0) AS victims,
    coalesce(victims.users, 0) AS users,
    coalesce(passed.passed, 0) AS passed,
    outages.because
FROM outages
LEFT JOIN victims ON outages.condition_id = victims.condition_id
LEFT JOIN passed ON outages.condition_id = passed.condition_id
ORDER BY outages.ts_start ASC, outages.condition_id ASC
