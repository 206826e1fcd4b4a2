-- title: Requests that were served while the ledger charged others, and that it does not know
-- store: table
WITH spans AS (
    SELECT
        min(charges.known_ts) + to_seconds(doubts.seconds) AS ts_first,
        max(charges.known_ts) - to_seconds(doubts.seconds) AS ts_last
    FROM charges
    CROSS JOIN (
        SELECT
            CASE WHEN bool_or(charges.clock_status = 'untied') THEN 3 ELSE 0 END
                AS seconds
        FROM charges
    ) AS doubts
    GROUP BY doubts.seconds
),

-- Of whom the ledger knows nothing at all may not have to pay.
payers AS (
    SELECT
        known.user_id,
        spans.ts_first,
        spans.ts_last
    FROM (
        SELECT charges.user_id
        FROM charges
        UNION
        SELECT events.user_id
        FROM events
        WHERE events.kind IN ('quota_reserve', 'quota_release', 'quota_reclaim')
    ) AS known
    CROSS JOIN spans
    WHERE known.user_id IS NOT NULL
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
