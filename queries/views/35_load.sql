-- title: Attempts in flight per second, refused ones left out
-- store: table
WITH wanted AS (
    SELECT count(*) AS refusals
    FROM failures
    WHERE failures.status = 429 AND failures.forwarded IS NOT TRUE
),

steps AS (
    SELECT
        date_trunc('second', attempts.ts_start) AS second,
        count(*) AS started,
        0 AS ended
    FROM attempts
    WHERE
        (SELECT wanted.refusals FROM wanted) > 0
        AND (attempts.status < 400 OR attempts.forwarded)
    GROUP BY date_trunc('second', attempts.ts_start)
    UNION ALL
    SELECT
        seconds.second,
        0 AS started,
        sum(seconds.ended)::BIGINT AS ended
    FROM seconds
    GROUP BY seconds.second
),

turns AS (
    SELECT
        steps.second,
        sum(steps.started)::BIGINT AS started,
        sum(steps.ended)::BIGINT AS ended
    FROM steps
    GROUP BY steps.second
)

SELECT
    turns.second,
    turns.started,
    turns.ended,
    (sum(turns.started - turns.ended) OVER running)::BIGINT AS in_flight
FROM turns
WINDOW running AS (ORDER BY turns.second ROWS UNBOUNDED PRECEDING)
