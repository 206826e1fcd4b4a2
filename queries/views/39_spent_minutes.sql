-- title: Minutes in which a user's tokens reached the budget per minute
-- store: table
WITH budget AS (
    SELECT settings.number AS tokens
    FROM settings
    WHERE settings.key IN ('rate_limit', 'tokens_per_minute')
    ORDER BY settings.key
    LIMIT 1
),

-- The ledger's word, else the gateway's; when is what the edge says, by id.
used AS (
    SELECT
        events.request_id,
        arg_max(events.event_id, (events.layer = 'quota', events.event_id))
            AS event_id,
        arg_max(
            coalesce(events.prompt_tokens, 0) + coalesce(events.completion_tokens, 0),
            (events.layer = 'quota', events.event_id)
        ) AS tokens
    FROM events
    WHERE
        (SELECT count(*) FROM budget) > 0
        AND (SELECT count(*) FROM refusals) > 0
        AND events.kind IN ('quota_charge', 'request_completed')
        AND events.request_id IS NOT NULL
        AND (
            events.prompt_tokens IS NOT NULL OR events.completion_tokens IS NOT NULL
        )
    GROUP BY events.request_id
),

bookings AS (
    SELECT
        used.event_id,
        attempts.user_id,
        attempts.ts_end AS ts,
        attempts.ts_error_us,
        date_trunc('minute', attempts.ts_end) AS minute,
        used.tokens
    FROM used
    INNER JOIN attempts ON used.request_id = attempts.request_id
    WHERE attempts.user_id IS NOT NULL AND NOT attempts.failed
),

running AS (
    SELECT
        bookings.*,
        sum(bookings.tokens) OVER (
            PARTITION BY bookings.user_id, bookings.minute
            ORDER BY bookings.ts, bookings.event_id
            ROWS UNBOUNDED PRECEDING
        ) AS spent
    FROM bookings
)

SELECT
    running.user_id,
    running.minute,
    min(running.ts) FILTER (WHERE running.spent >= budget.tokens) AS ts_start,
    running.minute + INTERVAL 1 MINUTE AS ts_end,
    max(running.ts_error_us) AS ts_error_us,
    'tied' AS clock_status,
    max(running.spent)::BIGINT AS spent,
    max(budget.tokens)::BIGINT AS budget,
    list(running.event_id ORDER BY running.ts, running.event_id) AS evidence
FROM running
CROSS JOIN budget
GROUP BY running.user_id, running.minute
HAVING max(running.spent) >= max(budget.tokens)
