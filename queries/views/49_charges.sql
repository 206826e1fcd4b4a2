-- title: Entries of the ledger that charge a request, and what is odd about each
-- store: table
WITH entries AS (
    SELECT
        events.event_id,
        events.request_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        coalesce(clocks.status, 'untied') AS clock_status,
        coalesce(events.user_id, '?') AS user_id,
        events.quota_amount AS amount,
        events.prompt_tokens,
        try_cast((events.attrs ->> '$.gpus') AS DOUBLE) AS gpus,
        try_cast((events.attrs ->> '$.params_b') AS DOUBLE) AS params_b,
        try_cast((events.attrs ->> '$.seconds') AS DOUBLE) AS seconds,
        coalesce(try_cast((events.attrs ->> '$.coef') AS DOUBLE), 1) AS coef
    FROM events
    LEFT JOIN clocks
        ON events.clock_id = clocks.clock_id AND clocks.segment = 0
    WHERE events.kind = 'quota_charge' AND events.request_id IS NOT NULL
),

-- What the gateway counted for the same request.
counted AS (
    SELECT
        events.request_id,
        max(events.prompt_tokens) AS prompt_tokens
    FROM events
    SEMI JOIN entries ON events.request_id = entries.request_id
    WHERE
        events.kind IN ('request_completed', 'request_finished')
        AND events.prompt_tokens IS NOT NULL
    GROUP BY events.request_id
),

outcomes AS (
    SELECT
        attempts.request_id,
        count(*) FILTER (WHERE attempts.failed) AS failed,
        bool_or(NOT attempts.failed OR attempts.status < 500) AS served
    FROM attempts
    SEMI JOIN entries ON attempts.request_id = entries.request_id
    GROUP BY attempts.request_id
)

SELECT
    entries.event_id,
    entries.request_id,
    entries.ts,
    entries.ts_error_us,
    entries.clock_status,
    entries.user_id,
    entries.amount,
    coalesce(outcomes.failed, 0) AS failed,
    count(*) OVER (PARTITION BY entries.request_id) AS charges,
    CASE
        WHEN
            abs(
                entries.amount
                - entries.params_b * entries.seconds * entries.gpus * entries.coef
            ) > 0.01 * entries.amount + 0.01
            THEN 'another amount than its formula'
        WHEN
            entries.gpus
            >= 2 * min(entries.gpus) OVER (PARTITION BY entries.params_b)
            THEN 'more GPUs than other entries of that model'
        WHEN
            abs(entries.prompt_tokens - counted.prompt_tokens)
            > greatest(8, 0.2 * counted.prompt_tokens)
            THEN 'other tokens than the gateway counted'
        WHEN outcomes.served IS FALSE THEN 'charged, and failed'
    END AS odd
FROM entries
LEFT JOIN counted ON entries.request_id = counted.request_id
LEFT JOIN outcomes ON entries.request_id = outcomes.request_id
