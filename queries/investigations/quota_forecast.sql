-- title: When each pool will be used up, if it goes on as its ledger shows
-- title zh: 按账本的走势，各配额池何时用尽
-- topic: quota
-- answers: Which pool is next to run out, and how sure is that?
-- param limit: number = 0.8; used share that is asked for, 1 = all of it
-- column level: user, project or tenant
-- column pool: name of the pool; of each level the 20 that spent most and the 20 fullest
-- column hours: whole hours of history in the ledger
-- column used_ratio: used share at the end of the ledger; NULL: no snapshot tells
-- column per_day: expected charges of the next 24 hours, in the ledger's unit
-- column per_day_low: the same, lower end of its 95 % band
-- column per_day_high: the same, upper end of its 95 % band
-- column crossing_ts: when the share that is asked for is expected; NULL: not within reach
-- column crossing_earliest_ts: the same by the upper end of the band
-- column reach_ts: how far the forecast reaches
-- column refused: why there is no forecast
WITH hours_ahead AS (
    SELECT
        forecast.*,
        (forecast.used + forecast.total) / forecast.pool_limit AS ratio,
        (forecast.used + forecast.total_high) / forecast.pool_limit AS ratio_high,
        row_number() OVER (
            PARTITION BY forecast.level, forecast.pool ORDER BY forecast.ts
        ) AS number
    FROM forecast
)

SELECT
    hours_ahead.level,
    hours_ahead.pool,
    max(hours_ahead.hours) AS hours,
    round(max(hours_ahead.used / hours_ahead.pool_limit), 6) AS used_ratio,
    max(hours_ahead.total) FILTER (WHERE hours_ahead.number = 24) AS per_day,
    max(hours_ahead.total_low) FILTER (WHERE hours_ahead.number = 24) AS per_day_low,
    max(hours_ahead.total_high) FILTER (WHERE hours_ahead.number = 24) AS per_day_high,
    min(hours_ahead.ts) FILTER (WHERE hours_ahead.ratio >= $limit) AS crossing_ts,
    min(hours_ahead.ts) FILTER (WHERE hours_ahead.ratio_high >= $limit)
        AS crossing_earliest_ts,
    max(hours_ahead.ts) + INTERVAL 1 HOUR AS reach_ts,
    any_value(hours_ahead.refused) AS refused
FROM hours_ahead
GROUP BY hours_ahead.level, hours_ahead.pool
ORDER BY
    crossing_earliest_ts ASC NULLS LAST,
    used_ratio DESC NULLS LAST,
    per_day DESC NULLS LAST,
    hours_ahead.level ASC,
    hours_ahead.pool ASC
