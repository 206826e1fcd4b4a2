-- title: Minutes, of the clock or sliding, in which a user's tokens reached the budget
-- store: table
WITH budget AS (
    SELECT settings.number AS tokens
    FROM settings
    WHERE settings.key = 'tokens_per_minute'
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
),

calendar AS (
    SELECT
        running.user_id,
        running.minute,
        min(running.ts) FILTER (WHERE running.spent >= budget.tokens) AS ts_start,
        running.minute + INTERVAL 1 MINUTE AS ts_end,
        max(running.ts_error_us) AS ts_error_us,
        max(running.spent)::BIGINT AS spent,
        max(budget.tokens)::BIGINT AS budget,
        list(running.event_id ORDER BY running.ts, running.event_id) AS evidence
    FROM running
    CROSS JOIN budget
    GROUP BY running.user_id, running.minute
    HAVING max(running.spent) >= max(budget.tokens)
),

-- The same over any sixty seconds, until the first of them is a minute old.
sliding AS (
    SELECT
        bookings.user_id,
        bookings.event_id,
        bookings.ts,
        bookings.ts_error_us,
        sum(bookings.tokens) OVER last_minute AS spent,
        min(bookings.ts) OVER last_minute + INTERVAL 1 MINUTE AS ts_end
    FROM bookings
    WINDOW
        last_minute AS (
            PARTITION BY bookings.user_id
            ORDER BY bookings.ts
            RANGE BETWEEN INTERVAL 1 MINUTE PRECEDING AND CURRENT ROW
        )
),

over AS (
    SELECT
        sliding.*,
        budget.tokens,
        coalesce(
            sliding.ts > max(sliding.ts_end) OVER (
                PARTITION BY sliding.user_id
                ORDER BY sliding.ts, sliding.event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            TRUE
        ) AS first
    FROM sliding
    CROSS JOIN budget
    WHERE sliding.spent >= budget.tokens
),

numbered AS (
    SELECT
        over.*,
        count(*) FILTER (WHERE over.first) OVER (
            PARTITION BY over.user_id ORDER BY over.ts, over.event_id
        ) AS run
    FROM over
),

slides AS (
    SELECT
        numbered.user_id,
        min(numbered.ts) AS ts_start,
        max(numbered.ts_end) AS ts_end,
        max(numbered.ts_error_us) AS ts_error_us,
        max(numbered.spent)::BIGINT AS spent,
        max(numbered.tokens)::BIGINT AS budget,
        list(numbered.event_id ORDER BY numbered.ts, numbered.event_id)[1:20]
            AS evidence
    FROM numbered
    GROUP BY numbered.user_id, numbered.run
),

-- Refusals that no minute of the clock explains.
left_over AS (
    SELECT
        refusals.user_id,
        refusals.ts_end
    FROM refusals
    ANTI JOIN calendar
        ON
            refusals.user_id = calendar.user_id
            AND refusals.ts_end BETWEEN calendar.ts_start - INTERVAL 2 SECOND
            AND calendar.ts_end + INTERVAL 2 SECOND
)

SELECT
    calendar.user_id,
    'calendar' AS kind,
    calendar.ts_start,
    calendar.ts_end,
    calendar.ts_error_us,
    'tied' AS clock_status,
    calendar.spent,
    calendar.budget,
    calendar.evidence
FROM calendar
UNION ALL
SELECT
    slides.user_id,
    'sliding' AS kind,
    slides.ts_start,
    slides.ts_end,
    slides.ts_error_us,
    'tied' AS clock_status,
    slides.spent,
    slides.budget,
    slides.evidence
FROM slides
SEMI JOIN left_over
    ON
        slides.user_id = left_over.user_id
        AND left_over.ts_end BETWEEN slides.ts_start AND slides.ts_end
