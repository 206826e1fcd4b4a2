-- title: Requests of a refused user in the minute up to each refusal, where too many
-- store: table
WITH theirs AS (
    SELECT
        attempts.attempt_id,
        attempts.user_id,
        attempts.ts_start
    FROM attempts
    SEMI JOIN refusals ON attempts.user_id = refusals.user_id
    WHERE
        EXISTS (
            SELECT 1
            FROM settings
            WHERE settings.key = 'requests_per_minute'
        )
),

-- Whole-second stamps make the count uncertain by one second.
counted AS (
    SELECT
        theirs.attempt_id,
        count(*) OVER (
            PARTITION BY theirs.user_id
            ORDER BY epoch_us(theirs.ts_start)
            RANGE BETWEEN 60000000 PRECEDING AND 500000 FOLLOWING
        ) AS requests
    FROM theirs
)

SELECT
    counted.attempt_id,
    counted.requests,
    settings.number AS most,
    settings.event_id
FROM counted
INNER JOIN settings
    ON
        settings.key = 'requests_per_minute'
        AND counted.requests > settings.number
