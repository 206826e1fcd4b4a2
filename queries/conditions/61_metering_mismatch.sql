-- title: The ledger charges otherwise than what was used
-- layer: quota
-- cause: quota.metering_mismatch
-- known gaps: requests that were served and not charged; entries without a request
SELECT
    'quota.metering_mismatch' AS cause,
    'symptom' AS role,
    'user' AS scope_kind,
    charges.user_id AS scope,
    min(charges.ts) AS ts_start,
    max(charges.ts) AS ts_end,
    max(charges.ts_error_us) AS ts_error_us,
    min(charges.clock_status) AS clock_status,
    count(*) || ' entries of ' || charges.user_id || ': '
    || string_agg(DISTINCT charges.odd, ', ' ORDER BY charges.odd) AS because,
    list(charges.event_id ORDER BY charges.event_id)[1:40] AS evidence
FROM charges
WHERE charges.odd IS NOT NULL
GROUP BY charges.user_id
