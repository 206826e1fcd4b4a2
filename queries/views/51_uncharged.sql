-- title: Requests that were served while the ledger charged others, and that it does not know
-- store: table
WITH spans AS (
    SELECT
        charges.user_id,
        min(charges.ts) OVER () AS ts_first,
        max(charges.ts) OVER () AS ts_last,
        charges.request_id,
        charges.clock_status
    FROM charges
),

payers AS (
    SELECT DISTINCT
        spans.user_id,
        spans.ts_first,
        spans.ts_last
    FROM spans
    WHERE spans.clock_status <> 'untied'
),

eligible AS (
    SELECT
        attempts.attempt_id,
        attempts.request_id,
        attempts.user_id,
        attempts.ts_end,
        attempts.ts_error_us
    FROM attempts
    INNER JOIN payers
        ON
            attempts.user_id = payers.user_id
            AND attempts.ts_end > payers.ts_first
            AND attempts.ts_end < payers.ts_last
    WHERE
        NOT attempts.failed
        AND attempts.forwarded
        AND attempts.status < 300
        AND attempts.request_id IS NOT NULL
),

free AS (
    SELECT
        eligible.*,
        access.message
    FROM eligible
    ANTI JOIN charges ON eligible.request_id = charges.request_id
    INNER JOIN access ON eligible.attempt_id = access.event_id
    -- What only asks for lists or health costs nothing.
    WHERE access.message LIKE 'POST %'
)

SELECT
    free.attempt_id,
    free.request_id,
    free.user_id,
    free.ts_end AS ts,
    free.ts_error_us
FROM free
-- A ledger that charges a part of the traffic only is no mistake.
WHERE
    (SELECT count(*) FROM free) <= 0.5 * (SELECT count(*) FROM eligible)
