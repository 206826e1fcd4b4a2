-- title: Silences of a log of a minute or more that are long for it
-- title zh: 日志中一分钟以上且超出其常态的静默
WITH seconds AS (
    SELECT DISTINCT
        sources.log_set,
        date_trunc('second', events.ts) AS ts
    FROM events
    INNER JOIN sources ON events.source_id = sources.source_id
    WHERE
        events.ts IS NOT NULL
        AND events.kind NOT IN ('config_setting', 'config_comment')
),

steps AS (
    SELECT
        seconds.log_set,
        lag(seconds.ts) OVER (
            PARTITION BY seconds.log_set ORDER BY seconds.ts
        ) AS from_ts,
        seconds.ts AS to_ts
    FROM seconds
),

usual AS (
    SELECT
        steps.log_set,
        quantile_disc(date_diff('second', steps.from_ts, steps.to_ts), 0.99) AS usual_s
    FROM steps
    WHERE steps.from_ts IS NOT NULL
    GROUP BY steps.log_set
)

SELECT
    steps.log_set AS path,
    steps.from_ts,
    steps.to_ts,
    date_diff('second', steps.from_ts, steps.to_ts) AS silent_s,
    usual.usual_s
FROM steps
INNER JOIN usual ON steps.log_set = usual.log_set
WHERE
    date_diff('second', steps.from_ts, steps.to_ts) >= 60
    AND date_diff('second', steps.from_ts, steps.to_ts) > 3 * usual.usual_s
ORDER BY silent_s DESC, steps.from_ts ASC, steps.log_set ASC
LIMIT 12
