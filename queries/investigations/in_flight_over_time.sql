-- title: Attempts in flight over time, against the limit
-- topic: load
-- answers: Was the harness full when it refused, and who filled it?
-- param bucket: duration = 1m; how much time a row is about
-- column ts: start of the time that the row is about; none where nothing changed
-- column most_in_flight: most attempts under way at once
-- column configured: max_concurrent_requests, as configuration or a record states it
-- column configured_by: log and line that say so, else the line of --config
-- column free: what was left of it at the fullest moment
-- column refused: attempts refused with 429 before they were forwarded
-- column busiest_model: model with the most under way at once
-- column busiest_user: user with the most under way at once
-- column busiest_user_in_flight: how many these were
WITH limits AS (
    SELECT
        max(settings.number) AS configured,
        max(coalesce(sources.path || ':' || events.line, settings.place)) AS said_by
    FROM settings
    LEFT JOIN events ON settings.event_id = events.event_id
    LEFT JOIN sources ON events.source_id = sources.source_id
    WHERE settings.key = 'max_concurrent_requests'
),

-- Before an instant there were as many as after it, but for what changed.
instants AS (
    SELECT
        in_flight.ts,
        greatest(
            max(in_flight.in_flight),
            max(in_flight.in_flight) - sum(in_flight.started - in_flight.ended)
        )::BIGINT AS most
    FROM in_flight
    GROUP BY in_flight.ts
),

sides AS (
    SELECT
        in_flight.ts,
        in_flight.model,
        in_flight.user_id,
        greatest(0, in_flight.ended - in_flight.started) AS gone,
        in_flight.model_in_flight,
        in_flight.user_in_flight
    FROM in_flight
),

busiest AS (
    SELECT
        time_bucket($bucket, sides.ts) AS ts,
        arg_max(sides.model, (sides.model_in_flight + sides.gone, sides.model))
            AS model,
        arg_max(sides.user_id, (sides.user_in_flight + sides.gone, sides.user_id))
            AS user_id,
        max(sides.user_in_flight + sides.gone) AS user_most
    FROM sides
    GROUP BY time_bucket($bucket, sides.ts)
),

fullest AS (
    SELECT
        time_bucket($bucket, instants.ts) AS ts,
        max(instants.most) AS most
    FROM instants
    GROUP BY time_bucket($bucket, instants.ts)
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
    limits.said_by AS configured_by,
    (limits.configured - coalesce(fullest.most, 0))::BIGINT AS free,
    coalesce(refusals.refused, 0) AS refused,
    busiest.model AS busiest_model,
    busiest.user_id AS busiest_user,
    busiest.user_most AS busiest_user_in_flight
FROM fullest
INNER JOIN busiest ON fullest.ts = busiest.ts
FULL JOIN refusals ON fullest.ts = refusals.ts
CROSS JOIN limits
ORDER BY coalesce(fullest.ts, refusals.ts)
