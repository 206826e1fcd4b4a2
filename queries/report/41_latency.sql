-- title: Attempts by how long each part of their way took, over time
-- title zh: 各段耗时随时间的分布
WITH bounds AS (
    SELECT date_diff('second', min(attempts.ts_end), max(attempts.ts_end)) AS span_s
    FROM attempts
),

-- The narrowest that gives less than 48 of them.
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
    WHERE bounds.span_s < 48 * choices.width_s
),

waits AS (
    SELECT
        'edge' AS part,
        attempts.ts_end AS ts,
        date_diff('microsecond', attempts.ts_start, attempts.ts_end) / 1000 AS ms
    FROM attempts
    UNION ALL
    SELECT
        'header' AS part,
        hops.ts_end AS ts,
        hops.header_ms AS ms
    FROM hops
    UNION ALL
    SELECT
        'response' AS part,
        hops.ts_end AS ts,
        hops.response_ms AS ms
    FROM hops
),

-- Three steps in each power of ten: 0 begins at 1 ms, 3 at 10 ms; below 1 ms is 0 too.
steps AS (
    SELECT
        waits.part,
        time_bucket(to_seconds(widths.width_s), waits.ts) AS ts,
        widths.width_s,
        least(greatest(floor(3 * log10(greatest(waits.ms, 1)) + 1e-9), 0), 20)::INTEGER
            AS step
    FROM waits
    CROSS JOIN widths
    WHERE waits.ts IS NOT NULL AND waits.ms IS NOT NULL
)

SELECT
    steps.part,
    steps.ts,
    steps.width_s,
    steps.step,
    count(*) AS attempts
FROM steps
GROUP BY steps.part, steps.ts, steps.width_s, steps.step
ORDER BY steps.part ASC, steps.ts ASC, steps.step ASC
