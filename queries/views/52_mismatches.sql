-- title: Entries of the ledger that are odd, and served requests that it does not know
-- store: case
SELECT
    charges.event_id,
    charges.request_id,
    charges.user_id,
    charges.ts,
    charges.ts_error_us,
    charges.clock_status,
    charges.amount,
    charges.odd
FROM charges
WHERE charges.odd IS NOT NULL
UNION ALL
SELECT
    uncharged.attempt_id AS event_id,
    uncharged.request_id,
    uncharged.user_id,
    uncharged.ts,
    uncharged.ts_error_us,
    'tied' AS clock_status,
    CAST(NULL AS DOUBLE) AS amount,
    'served, and not charged' AS odd
FROM uncharged
