-- title: Tokens of each user in each minute, against the limit
-- topic: quota
-- answers: Who used up the tokens of a minute, and were requests refused for it?
-- param top: integer = 50; how many minutes, the fullest first
-- param user: text; only this user
-- column ts: start of the minute
-- column user_id: user
-- column tokens: tokens of the requests that ended in it
-- column configured: tokens in a minute, as configuration or a record states it
-- column use_of_limit: tokens as a share of it
-- column requests: requests that they belong to
-- column refused: requests of the user refused with 429 in that minute
WITH limits AS (
    SELECT max(settings.number) AS configured
    FROM settings
    WHERE settings.key = 'tokens_per_minute'
),

-- The ledger's word, else the gateway's, else the engine's.
used AS (
    SELECT
        events.request_id,
        arg_max(
            coalesce(events.prompt_tokens, 0) + coalesce(events.completion_tokens, 0),
            (events.layer = 'quota', events.layer = 'harness', events.event_id)
        ) AS tokens
    FROM events
    WHERE
        events.request_id IS NOT NULL
        AND (
            events.prompt_tokens IS NOT NULL OR events.completion_tokens IS NOT NULL
        )
    GROUP BY events.request_id
),

lasts AS (
    SELECT
        attempts.request_id,
        arg_max(attempts.user_id, (attempts.attempt, attempts.attempt_id)) AS user_id,
        max(attempts.ts_end) AS ts_end
    FROM attempts
    WHERE attempts.request_id IS NOT NULL AND NOT attempts.failed
    GROUP BY attempts.request_id
),

minutes AS (
    SELECT
        date_trunc('minute', lasts.ts_end) AS ts,
        lasts.user_id,
        sum(used.tokens)::BIGINT AS tokens,
        count(*) AS requests
    FROM lasts
    INNER JOIN used ON lasts.request_id = used.request_id
    GROUP BY date_trunc('minute', lasts.ts_end), lasts.user_id
),

refusals AS (
    SELECT
        date_trunc('minute', attempts.ts_end) AS ts,
        attempts.user_id,
        count(*) AS refused
    FROM attempts
    WHERE attempts.status = 429
    GROUP BY date_trunc('minute', attempts.ts_end), attempts.user_id
)

SELECT
    minutes.ts,
    minutes.user_id,
    minutes.tokens,
    limits.configured::BIGINT AS configured,
    round(minutes.tokens / nullif(limits.configured, 0), 4) AS use_of_limit,
    minutes.requests,
    coalesce(refusals.refused, 0) AS refused
FROM minutes
CROSS JOIN limits
LEFT JOIN refusals
    ON
        minutes.ts = refusals.ts
        AND minutes.user_id IS NOT DISTINCT FROM refusals.user_id
WHERE $user IS NULL OR minutes.user_id = $user
ORDER BY minutes.tokens DESC, minutes.ts ASC, minutes.user_id ASC
LIMIT $top
