-- title: When each pool will be used up, if it goes on as its snapshots show
-- topic: quota
-- answers: Which pool is next to run out, and how sure is that?
-- param limit: number = 0.8; used share that is asked for, 1 = all of it
-- column level: user, project or tenant
-- column pool: name of the pool
-- column snapshots: snapshots that it rests on; pools with less than 6 are left out
-- column first_ts: time of the first one
-- column last_ts: time of the last one
-- column used_ratio: used share by the last one
-- column per_hour: change of the used share in an hour, by a straight line
-- column per_hour_low: the same, lower end of its 95 % band
-- column per_hour_high: the same, upper end of its 95 % band
-- column crossing_ts: when the line reaches the share that is asked for; NULL: never
-- column crossing_earliest_ts: the same by the upper end of the band
WITH points AS (
    SELECT
        balances.level,
        balances.level_id AS pool,
        balances.ts,
        max(balances.used_ratio) AS used_ratio
    FROM balances
    GROUP BY balances.level, balances.level_id, balances.ts
),

-- A pool that was filled up begins anew.
drops AS (
    SELECT
        points.*,
        coalesce(
            points.used_ratio < 0.9 * lag(points.used_ratio) OVER (
                PARTITION BY points.level, points.pool ORDER BY points.ts
            ),
            FALSE
        ) AS filled
    FROM points
),

periods AS (
    SELECT
        drops.*,
        count(*) FILTER (WHERE drops.filled) OVER (
            PARTITION BY drops.level, drops.pool
            ORDER BY drops.ts ROWS UNBOUNDED PRECEDING
        ) AS period
    FROM drops
),

current_points AS (
    SELECT
        periods.level,
        periods.pool,
        periods.ts,
        periods.used_ratio,
        date_diff(
            'microsecond',
            min(periods.ts) OVER (PARTITION BY periods.level, periods.pool),
            periods.ts
        ) / 3.6e9 AS hours
    FROM periods
    QUALIFY
        periods.period
        = max(periods.period) OVER (PARTITION BY periods.level, periods.pool)
),

fits AS (
    SELECT
        current_points.level,
        current_points.pool,
        count(*) AS snapshots,
        min(current_points.ts) AS first_ts,
        max(current_points.ts) AS last_ts,
        arg_max(
            current_points.used_ratio, (current_points.ts, current_points.used_ratio)
        ) AS used_ratio,
        regr_slope(current_points.used_ratio, current_points.hours) AS slope,
        -- 2 standard errors of the slope, rounded up to what few points call for.
        2.5 * sqrt(
            greatest(
                regr_syy(current_points.used_ratio, current_points.hours)
                - regr_slope(current_points.used_ratio, current_points.hours)
                * regr_sxy(current_points.used_ratio, current_points.hours),
                0
            )
            / (count(*) - 2)
            / nullif(regr_sxx(current_points.used_ratio, current_points.hours), 0)
        ) AS band
    FROM current_points
    GROUP BY current_points.level, current_points.pool
    HAVING count(*) >= 6
)

SELECT
    fits.level,
    fits.pool,
    fits.snapshots,
    fits.first_ts,
    fits.last_ts,
    fits.used_ratio,
    round(fits.slope, 6) AS per_hour,
    round(fits.slope - fits.band, 6) AS per_hour_low,
    round(fits.slope + fits.band, 6) AS per_hour_high,
    CASE
        WHEN fits.used_ratio >= $limit THEN fits.last_ts
        WHEN fits.slope > 0 AND ($limit - fits.used_ratio) / fits.slope < 8784
            THEN
                date_trunc('second', fits.last_ts) + to_seconds(
                    round(($limit - fits.used_ratio) / fits.slope * 3600)
                )
    END AS crossing_ts,
    CASE
        WHEN fits.used_ratio >= $limit THEN fits.last_ts
        WHEN
            fits.slope + fits.band > 0
            AND ($limit - fits.used_ratio) / (fits.slope + fits.band) < 8784
            THEN
                date_trunc('second', fits.last_ts) + to_seconds(
                    round(
                        ($limit - fits.used_ratio) / (fits.slope + fits.band) * 3600
                    )
                )
    END AS crossing_earliest_ts
FROM fits
ORDER BY
    crossing_ts ASC NULLS LAST, fits.used_ratio DESC, fits.level ASC, fits.pool ASC
