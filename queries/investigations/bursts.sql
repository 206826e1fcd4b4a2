-- title: Users with the most requests within a few seconds
-- topic: load
-- answers: Who sends in bursts, how many at once, and were they refused for it?
-- param window: duration = 5s; how long a burst is
-- param top: integer = 20; how many users
-- column user_id: user
-- column most: most attempts that began within the window
-- column burst_ts: end of that window
-- column configured: burst_limit, as configuration or a record states it
-- column attempts: all attempts of the user
-- column refused: of these, refused with 429 before they were forwarded
WITH windows AS (
    SELECT CAST(epoch($window) * 1000000 AS BIGINT) AS window_us
),

counted AS (
    SELECT
        attempts.user_id,
        attempts.ts_start,
        attempts.attempt_id,
        attempts.status = 429 AND attempts.forwarded IS NOT TRUE AS refused,
        count(*) OVER (
            PARTITION BY attempts.user_id
            ORDER BY epoch_us(attempts.ts_start)
            RANGE BETWEEN windows.window_us PRECEDING AND CURRENT ROW
        ) AS within
    FROM attempts
    CROSS JOIN windows
    WHERE attempts.user_id IS NOT NULL AND attempts.ts_start IS NOT NULL
)

SELECT
    counted.user_id,
    max(counted.within) AS most,
    arg_max(counted.ts_start, (counted.within, -counted.attempt_id)) AS burst_ts,
    (
        SELECT max(settings.number)::BIGINT
        FROM settings
        WHERE settings.key = 'burst_limit'
    ) AS configured,
    count(*) AS attempts,
    count(*) FILTER (WHERE counted.refused) AS refused
FROM counted
GROUP BY counted.user_id
ORDER BY most DESC, refused DESC, counted.user_id ASC
LIMIT $top
