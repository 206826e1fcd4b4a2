-- title: Requests of a refused user within the burst window, up to each refusal
-- store: table
WITH limits AS (
    SELECT
        most.number AS burst_limit,
        span.number AS window_s
    FROM settings AS most
    INNER JOIN settings AS span ON span.key = 'burst_window_s'
    WHERE most.key = 'burst_limit'
),

theirs AS (
    SELECT
        attempts.attempt_id,
        attempts.user_id,
        attempts.ts_start,
        CAST(limits.window_s * 1000000 AS BIGINT) AS window_us
    FROM attempts
    CROSS JOIN limits
    WHERE
        attempts.user_id IN (
            SELECT refusals.user_id
            FROM refusals
            WHERE refusals.user_id IS NOT NULL
        )
),

-- Whole-second stamps and lost lines make the count uncertain by one second.
counted AS (
    SELECT
        theirs.attempt_id,
        theirs.user_id,
        count(*) OVER (
            PARTITION BY theirs.user_id
            ORDER BY epoch_us(theirs.ts_start)
            RANGE BETWEEN theirs.window_us PRECEDING AND 500000 FOLLOWING
        ) AS requests
    FROM theirs
)

SELECT
    counted.attempt_id,
    counted.user_id,
    counted.requests,
    limits.burst_limit,
    limits.window_s
FROM counted
CROSS JOIN limits
WHERE counted.requests > limits.burst_limit
