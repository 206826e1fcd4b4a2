-- title: How many attempts were in the harness after each instant at which that changed
WITH steps AS (
    SELECT
        attempts.ts_start AS ts,
        attempts.model,
        attempts.user_id,
        1 AS started,
        0 AS ended
    FROM attempts
    WHERE
        attempts.ts_start IS NOT NULL
        AND attempts.ts_end IS NOT NULL
        -- What is refused takes no place.
        AND (attempts.status < 400 OR attempts.forwarded)
    UNION ALL
    SELECT
        attempts.ts_end AS ts,
        attempts.model,
        attempts.user_id,
        0 AS started,
        1 AS ended
    FROM attempts
    WHERE
        attempts.ts_start IS NOT NULL
        AND attempts.ts_end IS NOT NULL
        AND (attempts.status < 400 OR attempts.forwarded)
),

turns AS (
    SELECT
        steps.ts,
        steps.model,
        steps.user_id,
        sum(steps.started)::BIGINT AS started,
        sum(steps.ended)::BIGINT AS ended
    FROM steps
    GROUP BY steps.ts, steps.model, steps.user_id
)

SELECT
    turns.ts,
    turns.model,
    turns.user_id,
    turns.started,
    turns.ended,
    (sum(turns.started - turns.ended) OVER everything)::BIGINT AS in_flight,
    (sum(turns.started - turns.ended) OVER models)::BIGINT AS model_in_flight,
    (sum(turns.started - turns.ended) OVER users)::BIGINT AS user_in_flight
FROM turns
WINDOW
    everything AS (ORDER BY turns.ts RANGE UNBOUNDED PRECEDING),
    models AS (
        PARTITION BY turns.model ORDER BY turns.ts RANGE UNBOUNDED PRECEDING
    ),
    users AS (
        PARTITION BY turns.user_id ORDER BY turns.ts RANGE UNBOUNDED PRECEDING
    )
