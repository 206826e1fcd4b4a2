-- title: How quota goes on in the next week, with its 95 % band
-- title zh: 未来一周的配额走势及其 95% 区间
WITH hours_ahead AS (
    SELECT
        forecast.*,
        row_number() OVER (
            PARTITION BY forecast.level, forecast.pool ORDER BY forecast.ts
        ) AS number
    FROM forecast
    WHERE forecast.ts IS NOT NULL
)

SELECT
    hours_ahead.level || ' ' || hours_ahead.pool AS pool,
    hours_ahead.ts + INTERVAL 1 HOUR AS ts,
    hours_ahead.total,
    hours_ahead.total_low,
    hours_ahead.total_high,
    round((hours_ahead.used + hours_ahead.total) / hours_ahead.pool_limit, 6)
        AS used_ratio,
    round((hours_ahead.used + hours_ahead.total_low) / hours_ahead.pool_limit, 6)
        AS used_ratio_low,
    round((hours_ahead.used + hours_ahead.total_high) / hours_ahead.pool_limit, 6)
        AS used_ratio_high
FROM hours_ahead
WHERE hours_ahead.number <= 168 AND hours_ahead.number % 6 = 0
ORDER BY pool ASC, ts ASC
