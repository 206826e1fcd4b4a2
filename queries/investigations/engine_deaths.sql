-- title: Engines that died or did not work, and whom that hit
-- topic: engines
-- answers: Which engine was in trouble, of what, for how long, and how many requests fell with it?
-- column condition_id: condition
-- column cause: cause
-- column engine: engine, or what else of the model layer was in trouble
-- column ts_start: start
-- column ts_end: end; NULL: not over when the logs end
-- column lasted_s: how long, s
-- column error_ms: uncertainty of both times, ms; NULL: the clock is untied
-- column victims: failed attempts that rest on it
-- column users: users whom they hit
-- column models: models that were asked for
-- column because: what shows it
WITH victims AS (
    SELECT
        verdicts.condition_id,
        count(*) AS victims,
        count(DISTINCT attempts.user_id) AS users,
        list_sort(
            list(DISTINCT attempts.model) FILTER (WHERE attempts.model IS NOT NULL)
        ) AS models
    FROM verdicts
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
    WHERE verdicts.condition_id IS NOT NULL
    GROUP BY verdicts.condition_id
)

SELECT
    conditions.condition_id,
    conditions.cause,
    conditions.scope AS engine,
    conditions.ts_start,
    conditions.ts_end,
    date_diff('millisecond', conditions.ts_start, conditions.ts_end) / 1000 AS lasted_s,
    conditions.ts_error_us / 1000 AS error_ms,
    coalesce(victims.victims, 0) AS victims,
    coalesce(victims.users, 0) AS users,
    coalesce(victims.models, []) AS models,
    conditions.because
FROM conditions
LEFT JOIN victims ON conditions.condition_id = victims.condition_id
WHERE conditions.layer = 'model' AND conditions.role = 'root'
ORDER BY conditions.ts_start ASC, conditions.condition_id ASC
