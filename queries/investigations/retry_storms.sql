-- title: Requests that were tried again and again
-- topic: failures
-- answers: Which requests were repeated most, how fast, and against what?
-- param limit: integer = 3; only requests of at least so many attempts
-- param top: integer = 50; how many requests
-- column request_id: request
-- column user_id: user
-- column model: model that was asked for
-- column attempts: attempts
-- column failed: failed attempts
-- column first_ts: start of the first attempt
-- column last_ts: start of the last attempt
-- column shortest_wait_ms: shortest time from the end of one attempt to the next, ms
-- column causes: causes of the failed ones
-- column succeeded: whether the last one succeeded
WITH waits AS (
    SELECT
        attempts.*,
        date_diff(
            'millisecond',
            lag(attempts.ts_end) OVER (
                PARTITION BY attempts.request_id
                ORDER BY attempts.attempt, attempts.attempt_id
            ),
            attempts.ts_start
        ) AS wait_ms
    FROM attempts
    WHERE
        attempts.request_id IN (
            SELECT repeated.request_id
            FROM attempts AS repeated
            WHERE repeated.attempt > 1
        )
)

SELECT
    waits.request_id,
    min(waits.user_id) AS user_id,
    min(waits.model) AS model,
    count(*) AS attempts,
    count(*) FILTER (WHERE waits.failed) AS failed,
    min(waits.ts_start) AS first_ts,
    max(waits.ts_start) AS last_ts,
    min(waits.wait_ms) AS shortest_wait_ms,
    list_sort(
        coalesce(
            list(DISTINCT verdicts.cause) FILTER (WHERE verdicts.cause IS NOT NULL), []
        )
    ) AS causes,
    NOT arg_max(waits.failed, (waits.attempt, waits.attempt_id)) AS succeeded
FROM waits
LEFT JOIN verdicts ON waits.attempt_id = verdicts.attempt_id
GROUP BY waits.request_id
HAVING count(*) >= $limit
ORDER BY attempts DESC, first_ts ASC, waits.request_id ASC
LIMIT $top
