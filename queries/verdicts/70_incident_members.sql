-- title: Failed attempts of one cause and scope without a long pause between them
-- store: table
WITH keyed AS (
    SELECT
        verdicts.attempt_id,
        verdicts.layer,
        verdicts.cause,
        verdicts.condition_id,
        coalesce(
            conditions.scope,
            CASE verdicts.layer
                WHEN 'model' THEN failures.engine
                WHEN 'quota' THEN failures.user_id
            END
        ) AS scope,
        failures.ts_start,
        failures.ts_end,
        failures.user_id,
        failures.model
    FROM verdicts
    INNER JOIN failures ON verdicts.attempt_id = failures.attempt_id
    LEFT JOIN conditions ON verdicts.condition_id = conditions.condition_id
),

paused AS (
    SELECT
        keyed.*,
        keyed.ts_start - max(keyed.ts_end) OVER (
            PARTITION BY keyed.cause
            ORDER BY keyed.ts_start, keyed.attempt_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) > to_seconds(threshold('incident_pause_s')) AS pause
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

starts AS (
    SELECT
        runs.cause,
        runs.run,
        min(runs.ts_start) AS ts_start,
        min(runs.attempt_id) AS attempt_id
    FROM runs
    GROUP BY runs.cause, runs.run
),

numbered AS (
    SELECT
        starts.cause,
        starts.run,
        row_number() OVER (
            ORDER BY starts.ts_start, starts.attempt_id
        ) AS incident_id
    FROM starts
)

SELECT
    runs.attempt_id,
    numbered.incident_id,
    runs.layer,
    runs.cause,
    runs.scope,
    runs.ts_start,
    runs.ts_end,
    runs.user_id,
    runs.model,
    runs.condition_id
FROM runs
INNER JOIN numbered ON runs.cause = numbered.cause AND runs.run = numbered.run
