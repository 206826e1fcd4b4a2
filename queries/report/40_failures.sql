-- title: Failed attempts by layer over time
-- title zh: 各层失败尝试随时间的变化
WITH bounds AS (
    SELECT date_diff('second', min(attempts.ts_end), max(attempts.ts_end)) AS span_s
    FROM attempts
),

-- The narrowest that gives less than 120 of them.
choices AS (
    SELECT
        unnest(
            [
                1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
                14400, 28800, 86400, 604800, 2592000, 31536000, 315360000,
                3153600000, 31536000000
            ]
        )::BIGINT AS width_s
),

widths AS (
    SELECT min(choices.width_s) AS width_s
    FROM bounds
    CROSS JOIN choices
    WHERE bounds.span_s < 120 * choices.width_s
),

bars AS (
    SELECT
        time_bucket(to_seconds(widths.width_s), attempts.ts_end) AS ts,
        widths.width_s,
        attempts.attempt_id
    FROM attempts
    CROSS JOIN widths
    WHERE attempts.ts_end IS NOT NULL
)

SELECT
    bars.ts,
    bars.width_s,
    count(*) AS attempts,
    count(verdicts.layer) AS failed,
    count(*) FILTER (WHERE verdicts.layer = 'model') AS model,
    count(*) FILTER (WHERE verdicts.layer = 'harness') AS harness,
    count(*) FILTER (WHERE verdicts.layer = 'quota') AS quota,
    count(*) FILTER (WHERE verdicts.layer = 'client') AS client,
    count(*) FILTER (WHERE verdicts.layer = 'undetermined') AS undetermined
FROM bars
LEFT JOIN verdicts ON bars.attempt_id = verdicts.attempt_id
GROUP BY bars.ts, bars.width_s
ORDER BY bars.ts
