-- title: Attempts in flight over time, against the limit
-- topic: load
-- answers: Was the harness full when it refused, and who filled it?
-- param bucket: duration = 1m; how much time a row is about
-- column ts: start of the time that the row is about
-- column most_in_flight: most attempts under way at once
-- column configured: max_concurrent_requests, as configuration or a record states it
-- column free: what was left of it at the fullest moment
-- column refused: attempts refused with 429 before they were forwarded
-- column busiest_model: model with the most under way at once
-- column busiest_user: user with the most under way at once
-- column busiest_user_in_flight: how many these were
WITH limits AS (
    SELECT max(settings.number) AS configured
    FROM settings
    WHERE settings.key = 'max_concurrent_requests'
),

fullest AS (
    SELECT
        time_bucket($bucket, in_flight.ts) AS ts,
        max(in_flight.in_flight) AS most,
        arg_max(in_flight.model, (in_flight.model_in_flight, in_flight.model)) AS model,
        arg_max(in_flight.user_id, (in_flight.user_in_flight, in_flight.user_id))
            AS user_id,
        max(in_flight.user_in_flight) AS user_most
    FROM in_flight
    GROUP BY time_bucket($bucket, in_flight.ts)
),

refusals AS (
    SELECT
        time_bucket($bucket, attempts.ts_start) AS ts,
        count(*) AS refused
    FROM attempts
    WHERE attempts.status = 429 AND attempts.forwarded IS NOT TRUE
    GROUP BY time_bucket($bucket, attempts.ts_start)
)

SELECT
    coalesce(fullest.ts, refusals.ts) AS ts,
    coalesce(fullest.most, 0) AS most_in_flight,
    limits.configured::BIGINT AS configured,
    (limits.configured - coalesce(fullest.most, 0))::BIGINT AS free,
    coalesce(refusals.refused, 0) AS refused,
    fullest.model AS busiest_model,
    fullest.user_id AS busiest_user,
    fullest.user_most AS busiest_user_in_flight
FROM fullest
CROSS JOIN limits
FULL JOIN refusals ON fullest.ts = refusals.ts
ORDER BY coalesce(fullest.ts, refusals.ts)
