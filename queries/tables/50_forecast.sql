-- title: How each pool is used up from the end of the ledger on, by hour
WITH ends AS (
    SELECT date_trunc('hour', max(ledger.ts)) AS ts_end
    FROM ledger
),

slots AS (
    SELECT unnest(range(24)) AS slot
),

weekdays AS (
    SELECT unnest(range(7)) AS weekday
),

steps AS (
    SELECT unnest(range(672)) AS hour
),

-- Whole hours, counted backwards from the last one; a day is 24 of them.
entries AS (
    SELECT
        ledger.entry,
        ledger.ts,
        ledger.user_id,
        ledger.project_id,
        ledger.tenant_id,
        ledger.amount,
        date_diff('hour', date_trunc('hour', ledger.ts), ends.ts_end) - 1 AS back
    FROM ledger
    CROSS JOIN ends
    WHERE ledger.ts >= ends.ts_end - INTERVAL 1344 HOUR
),

-- A day without a single entry is one that these logs lack.
days AS (
    SELECT entries.back // 24 AS day
    FROM entries
    WHERE entries.back >= 0
    GROUP BY entries.back // 24
),

charges AS (
    SELECT
        levels.level,
        CASE levels.level
            WHEN 'user' THEN entries.user_id
            WHEN 'project' THEN entries.project_id
            ELSE entries.tenant_id
        END AS pool,
        entries.back,
        entries.ts,
        entries.amount
    FROM entries
    CROSS JOIN (VALUES ('user'), ('project'), ('tenant')) AS levels (level)
    WHERE entries.entry = 'charge' AND entries.amount IS NOT NULL
),

hourly AS (
    SELECT
        charges.level,
        charges.pool,
        charges.back,
        sum(charges.amount) AS amount
    FROM charges
    WHERE charges.pool IS NOT NULL
    GROUP BY charges.level, charges.pool, charges.back
),

spenders AS (
    SELECT
        hourly.level,
        hourly.pool,
        sum(hourly.amount) AS amount,
        max(hourly.back) + 1 AS hours
    FROM hourly
    GROUP BY hourly.level, hourly.pool
),

snapshots AS (
    SELECT
        balances.level,
        balances.level_id AS pool,
        arg_max(balances.pool_used, (balances.ts, balances.event_id)) AS used,
        arg_max(balances.pool_limit, (balances.ts, balances.event_id)) AS pool_limit,
        max(balances.ts) AS ts
    FROM balances
    WHERE
        balances.ts IS NOT NULL
        AND balances.level_id IS NOT NULL
        AND balances.pool_limit > 0
    GROUP BY balances.level, balances.level_id
),

-- The 20 of each level that spent most, and the 20 that are fullest.
pools AS (
    SELECT
        coalesce(spenders.level, snapshots.level) AS level,
        coalesce(spenders.pool, snapshots.pool) AS pool,
        spenders.hours,
        snapshots.used,
        snapshots.pool_limit,
        snapshots.ts AS snapshot_ts
    FROM spenders
    FULL JOIN snapshots
        ON spenders.level = snapshots.level AND spenders.pool = snapshots.pool
    QUALIFY
        row_number() OVER (
            PARTITION BY coalesce(spenders.level, snapshots.level)
            ORDER BY
                spenders.amount DESC NULLS LAST,
                coalesce(spenders.pool, snapshots.pool) ASC
        ) <= 20
        OR row_number() OVER (
            PARTITION BY coalesce(spenders.level, snapshots.level)
            ORDER BY
                snapshots.used / snapshots.pool_limit DESC NULLS LAST,
                coalesce(spenders.pool, snapshots.pool) ASC
        ) <= 20
),

since AS (
    SELECT
        pools.level,
        pools.pool,
        sum(charges.amount) AS amount
    FROM pools
    INNER JOIN charges
        ON
            pools.level = charges.level
            AND pools.pool = charges.pool
            AND pools.snapshot_ts < charges.ts
    GROUP BY pools.level, pools.pool
),

-- With four weeks behind it a pool has a shape of the week, and is tried week by week.
reaches AS (
    SELECT
        pools.level,
        pools.pool,
        pools.used + coalesce(since.amount, 0) AS used,
        pools.pool_limit,
        count(days.day) * 24 AS hours,
        count(days.day) >= 28 AS weekly,
        CASE WHEN count(days.day) >= 28 THEN 7 ELSE 1 END AS step
    FROM pools
    LEFT JOIN days ON days.day < pools.hours // 24
    LEFT JOIN since ON pools.level = since.level AND pools.pool = since.pool
    GROUP BY ALL
),

history AS (
    SELECT
        reaches.level,
        reaches.pool,
        reaches.weekly,
        days.day,
        slots.slot,
        days.day // reaches.step AS fold,
        reaches.step,
        coalesce(hourly.amount, 0) AS amount
    FROM reaches
    INNER JOIN spenders
        ON reaches.level = spenders.level AND reaches.pool = spenders.pool
    INNER JOIN days ON days.day < spenders.hours // 24
    CROSS JOIN slots
    LEFT JOIN hourly
        ON
            reaches.level = hourly.level
            AND reaches.pool = hourly.pool
            AND hourly.back = days.day * 24 + slots.slot
    WHERE reaches.hours >= 336
),

-- Fold -1 is what comes; each other one is tried with what lies before it alone.
folds AS (
    SELECT DISTINCT
        history.level,
        history.pool,
        history.weekly,
        history.step,
        history.fold
    FROM history
    UNION ALL
    SELECT DISTINCT
        history.level,
        history.pool,
        history.weekly,
        history.step,
        -1 AS fold
    FROM history
),

before AS (
    SELECT
        folds.level,
        folds.pool,
        folds.fold,
        folds.weekly,
        history.day,
        history.slot,
        history.amount,
        dense_rank() OVER (
            PARTITION BY folds.level, folds.pool, folds.fold ORDER BY history.day
        ) AS age
    FROM folds
    INNER JOIN history
        ON
            folds.level = history.level
            AND folds.pool = history.pool
            AND history.fold > folds.fold
),

means AS (
    SELECT
        before.level,
        before.pool,
        before.fold,
        count(*) // 24 AS days,
        avg(before.amount) AS overall,
        avg(before.amount) FILTER (WHERE before.age <= 7) AS recent
    FROM before
    GROUP BY before.level, before.pool, before.fold
),

-- Both shapes lean towards flat, by two days and by half a week.
by_slot AS (
    SELECT
        before.level,
        before.pool,
        before.fold,
        before.slot,
        (sum(before.amount) + 2 * any_value(means.overall))
        / (count(*) + 2) AS amount
    FROM before
    INNER JOIN means
        ON
            before.level = means.level
            AND before.pool = means.pool
            AND before.fold = means.fold
    GROUP BY before.level, before.pool, before.fold, before.slot
),

by_weekday AS (
    SELECT
        before.level,
        before.pool,
        before.fold,
        before.day % 7 AS weekday,
        (sum(before.amount) / 24 + 0.5 * any_value(means.overall))
        / (count(*) / 24 + 0.5) AS amount
    FROM before
    INNER JOIN means
        ON
            before.level = means.level
            AND before.pool = means.pool
            AND before.fold = means.fold
    WHERE before.weekly
    GROUP BY before.level, before.pool, before.fold, before.day % 7
),

shapes AS (
    SELECT
        by_slot.level,
        by_slot.pool,
        by_slot.fold,
        by_slot.slot,
        weekdays.weekday,
        means.days,
        means.recent
        * coalesce(by_slot.amount / nullif(means.overall, 0), 1)
        * coalesce(by_weekday.amount / nullif(means.overall, 0), 1) AS expected,
        means.recent
    FROM by_slot
    INNER JOIN means
        ON
            by_slot.level = means.level
            AND by_slot.pool = means.pool
            AND by_slot.fold = means.fold
    CROSS JOIN weekdays
    LEFT JOIN by_weekday
        ON
            by_slot.level = by_weekday.level
            AND by_slot.pool = by_weekday.pool
            AND by_slot.fold = by_weekday.fold
            AND weekdays.weekday = by_weekday.weekday
),

tried AS (
    SELECT
        history.level,
        history.pool,
        history.fold,
        history.day,
        history.weekly,
        history.amount,
        shapes.expected,
        (history.amount - shapes.expected)
        / nullif(shapes.expected + 0.1 * shapes.recent, 0) AS off
    FROM history
    INNER JOIN shapes
        ON
            history.level = shapes.level
            AND history.pool = shapes.pool
            AND history.fold = shapes.fold
            AND history.slot = shapes.slot
            AND history.day % 7 = shapes.weekday
    WHERE shapes.days >= CASE WHEN history.weekly THEN 14 ELSE 3 END
),

bands AS (
    SELECT
        tried.level,
        tried.pool,
        quantile_cont(tried.off, 0.025) AS low,
        quantile_cont(tried.off, 0.975) AS high
    FROM tried
    GROUP BY tried.level, tried.pool
),

tried_days AS (
    SELECT
        tried.level,
        tried.pool,
        tried.fold,
        tried.weekly,
        sum(tried.amount) / nullif(sum(tried.expected), 0) - 1 AS off,
        sum(tried.amount) AS amount,
        sum(tried.expected) AS expected
    FROM tried
    GROUP BY tried.level, tried.pool, tried.fold, tried.weekly, tried.day
),

tried_folds AS (
    SELECT
        tried_days.level,
        tried_days.pool,
        tried_days.weekly,
        sum(tried_days.off ** 2) AS off_2,
        count(*) AS days,
        sum(tried_days.amount) / nullif(sum(tried_days.expected), 0) - 1 AS off
    FROM tried_days
    GROUP BY tried_days.level, tried_days.pool, tried_days.fold, tried_days.weekly
),

-- How far sums of a day, and of as many days as were tried at once, have been off.
misses AS (
    SELECT
        tried_folds.level,
        tried_folds.pool,
        sqrt(sum(tried_folds.off_2) / sum(tried_folds.days)) AS day,
        sqrt(avg(tried_folds.off ** 2) * (1 + 2 / count(*))) AS long
    FROM tried_folds
    GROUP BY tried_folds.level, tried_folds.pool
),

ahead AS (
    SELECT
        reaches.level,
        reaches.pool,
        reaches.hours,
        reaches.used,
        reaches.pool_limit,
        steps.hour,
        shapes.expected,
        shapes.recent,
        sum(shapes.expected) OVER (
            PARTITION BY reaches.level, reaches.pool
            ORDER BY steps.hour ROWS UNBOUNDED PRECEDING
        ) AS total
    FROM reaches
    CROSS JOIN steps
    INNER JOIN shapes
        ON
            reaches.level = shapes.level
            AND reaches.pool = shapes.pool
            AND shapes.fold = -1
            AND shapes.slot = 23 - steps.hour % 24
            AND shapes.weekday = 6 - steps.hour // 24 % 7
    WHERE steps.hour < CASE WHEN reaches.weekly THEN 672 ELSE 168 END
),

hours_ahead AS (
    SELECT
        ahead.*,
        ahead.expected + bands.low * (ahead.expected + 0.1 * ahead.recent) AS low,
        ahead.expected + bands.high * (ahead.expected + 0.1 * ahead.recent) AS high,
        2 * greatest(
            misses.day * sqrt(24 / (ahead.hour + 1)),
            CASE WHEN ahead.hour >= 24 THEN misses.long ELSE misses.day END
        ) AS band
    FROM ahead
    INNER JOIN bands ON ahead.level = bands.level AND ahead.pool = bands.pool
    INNER JOIN misses ON ahead.level = misses.level AND ahead.pool = misses.pool
)

SELECT
    reaches.level,
    reaches.pool,
    reaches.hours::BIGINT AS hours,
    ends.ts_end + to_hours(hours_ahead.hour) AS ts,
    round(hours_ahead.expected, 3) AS expected,
    round(greatest(hours_ahead.low, 0), 3) AS low,
    round(hours_ahead.high, 3) AS high,
    round(hours_ahead.total, 3) AS total,
    round(hours_ahead.total * greatest(1 - hours_ahead.band, 0), 3) AS total_low,
    round(hours_ahead.total * (1 + hours_ahead.band), 3) AS total_high,
    round(reaches.used, 3) AS used,
    reaches.pool_limit,
    CASE
        WHEN hours_ahead.hour IS NULL
            THEN
                'too little history: ' || reaches.hours // 24
                || ' whole days in the ledger, 14 are needed'
    END AS refused
FROM reaches
CROSS JOIN ends
LEFT JOIN hours_ahead
    ON reaches.level = hours_ahead.level AND reaches.pool = hours_ahead.pool
