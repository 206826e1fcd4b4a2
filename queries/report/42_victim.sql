-- title: The failed attempt of the greatest incident whose duration is nearest to the median
-- title zh: 最大故障中耗时最接近中位数的失败尝试
WITH greatest_ones AS (
    SELECT incidents.incident_id
    FROM incidents
    ORDER BY
        incidents.layer = 'undetermined',
        incidents.attempts DESC,
        incidents.ts_start ASC,
        incidents.incident_id ASC
    LIMIT 1
),

victims AS (
    SELECT
        attempts.attempt_id,
        attempts.request_id,
        attempts.attempt,
        verdicts.incident_id,
        verdicts.cause,
        date_diff('microsecond', attempts.ts_start, attempts.ts_end) / 1000
            AS duration_ms
    FROM verdicts
    INNER JOIN greatest_ones ON verdicts.incident_id = greatest_ones.incident_id
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
),

middles AS (
    SELECT quantile_disc(victims.duration_ms, 0.5) AS median_ms
    FROM victims
)

SELECT
    victims.attempt_id,
    victims.request_id,
    victims.attempt,
    victims.incident_id,
    victims.cause,
    victims.duration_ms,
    middles.median_ms
FROM victims
CROSS JOIN middles
ORDER BY
    victims.request_id IS NULL,
    abs(victims.duration_ms - middles.median_ms) ASC NULLS LAST,
    victims.attempt_id ASC
LIMIT 1
