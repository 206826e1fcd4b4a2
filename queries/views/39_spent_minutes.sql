-- title: Minutes in which a user's booked tokens reached the budget per minute
-- store: table
WITH budget AS (
    SELECT settings.number AS tokens
    FROM settings
    WHERE settings.key IN ('rate_limit', 'tokens_per_minute')
    ORDER BY settings.key
    LIMIT 1
),

bookings AS (
    SELECT
        events.event_id,
        events.user_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        coalesce(clocks.status, 'untied') AS clock_status,
        date_trunc('minute', events.ts) AS minute,
        coalesce(events.prompt_tokens, 0) + coalesce(events.completion_tokens, 0)
            AS tokens
    FROM events
    LEFT JOIN clocks ON events.clock_id = clocks.clock_id AND clocks.segment = 0
    WHERE
        events.kind = 'quota_charge'
        AND events.user_id IS NOT NULL
        AND (SELECT count(*) FROM budget) > 0
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
    min(running.ts) AS ts_start,
    running.minute + INTERVAL 1 MINUTE AS ts_end,
    max(running.ts_error_us) AS ts_error_us,
    min(running.clock_status) AS clock_status,
    max(running.spent)::BIGINT AS spent,
    max(budget.tokens)::BIGINT AS budget,
    list(running.event_id ORDER BY running.event_id) AS evidence
FROM running
CROSS JOIN budget
WHERE running.spent >= budget.tokens
GROUP BY running.user_id, running.minute
