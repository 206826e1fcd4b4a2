-- title: Attempts of one side in its window, added up by clump: who fails together
-- A clump is what one user, or one request of nobody, did within ten minutes.
WITH routes AS (
    SELECT
        events.event_id,
        nullif(regexp_extract(events.message, '^(\S+ [^\s?]+)', 1), '') AS route
    FROM events
    WHERE events.kind IN ('access', 'engine_access', 'gateway_access')
)

SELECT
    coalesce(
        'user ' || attempts.user_id,
        'request ' || attempts.request_id,
        'attempt ' || attempts.attempt_id
    ) AS who,
    time_bucket(INTERVAL 10 MINUTE, attempts.ts_end) AS ts,
    attempts.model,
    attempts.user_id,
    routes.route,
    verdicts.layer,
    verdicts.cause,
    count(*) AS attempts
FROM attempts
LEFT JOIN verdicts ON attempts.attempt_id = verdicts.attempt_id
LEFT JOIN routes ON attempts.attempt_id = routes.event_id
WHERE
    ($since IS NULL OR attempts.ts_end >= $since)
    AND ($until IS NULL OR attempts.ts_end < $until)
GROUP BY ALL
