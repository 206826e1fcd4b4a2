-- title: Failed attempts without a cause, by what would settle them
-- topic: failures
-- answers: What could not be explained, and which log is missing for it?
-- param top: integer = 50; how many kinds
-- column failed: attempts that look like that
-- column status: status that the client was told
-- column forwarded: whether they were sent on to an engine
-- column route: method and path, ids and numbers left out
-- column missing: what would settle them
-- column users: users whom they hit
-- column first_ts: start of the first one
-- column last_ts: start of the last one
-- column example: id of the first request
WITH open AS (
    SELECT
        attempts.attempt_id,
        attempts.request_id,
        attempts.user_id,
        attempts.ts_start,
        attempts.status,
        attempts.forwarded,
        verdicts.missing,
        regexp_replace(
            regexp_replace(
                regexp_extract(events.message, '^(\S+ [^\s?]+)', 1),
                '[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}', '<*>', 'g'
            ),
            '/[0-9]+', '/<*>', 'g'
        ) AS route
    FROM verdicts
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
    LEFT JOIN events
        ON
            verdicts.attempt_id = events.event_id
            AND events.kind IN ('access', 'engine_access', 'gateway_access')
    WHERE verdicts.layer = 'undetermined'
)

SELECT
    count(*) AS failed,
    open.status,
    open.forwarded,
    nullif(open.route, '') AS route,
    open.missing,
    count(DISTINCT open.user_id) AS users,
    min(open.ts_start) AS first_ts,
    max(open.ts_start) AS last_ts,
    arg_min(open.request_id, (open.ts_start, open.attempt_id)) AS example
FROM open
GROUP BY open.status, open.forwarded, open.route, open.missing
ORDER BY
    failed DESC,
    first_ts ASC,
    open.status ASC,
    open.route ASC,
    open.missing ASC,
    open.forwarded ASC
LIMIT $top
