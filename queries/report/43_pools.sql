-- title: Used share of the fullest pools over time
-- title zh: 占用最多的配额池的已用比例随时间的变化
WITH bounds AS (
    SELECT date_diff('second', min(balances.ts), max(balances.ts)) AS span_s
    FROM balances
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

fullest AS (
    SELECT
        balances.level,
        balances.level_id,
        max(balances.used_ratio) AS most
    FROM balances
    WHERE balances.used_ratio IS NOT NULL AND balances.ts IS NOT NULL
    GROUP BY balances.level, balances.level_id
    ORDER BY most DESC, balances.level ASC, balances.level_id ASC
    LIMIT 6
)

SELECT
    balances.level,
    balances.level_id AS pool,
    time_bucket(to_seconds(widths.width_s), balances.ts) AS ts,
    widths.width_s,
    arg_max(balances.used_ratio, (balances.ts, balances.event_id)) AS used_ratio,
    max(fullest.most) AS most
FROM balances
INNER JOIN fullest
    ON
        balances.level = fullest.level
        AND balances.level_id = fullest.level_id
CROSS JOIN widths
WHERE balances.used_ratio IS NOT NULL AND balances.ts IS NOT NULL
GROUP BY balances.level, balances.level_id, ts, widths.width_s
ORDER BY most DESC, balances.level ASC, pool ASC, ts ASC
