-- title: The ledger charges otherwise than what was used
-- layer: quota
-- cause: quota.metering_mismatch
-- known gaps: requests whose user the ledger charges nothing at all
WITH odd AS (
    SELECT
        charges.event_id,
        charges.user_id,
        charges.ts,
        charges.ts_error_us,
        charges.clock_status,
        charges.odd
    FROM charges
    WHERE charges.odd IS NOT NULL
    UNION ALL
    SELECT
        uncharged.attempt_id AS event_id,
        uncharged.user_id,
        uncharged.ts,
        uncharged.ts_error_us,
        'tied' AS clock_status,
        'served, and not charged' AS odd
    FROM uncharged
)

SELECT
    'quota.metering_mismatch' AS cause,
    'symptom' AS role,
    'user' AS scope_kind,
    odd.user_id AS scope,
    min(odd.ts) AS ts_start,
    max(odd.ts) AS ts_end,
    max(odd.ts_error_us) AS ts_error_us,
    min(odd.clock_status) AS clock_status,
    count(*) || ' of ' || odd.user_id || ': '
    || string_agg(DISTINCT odd.odd, ', ' ORDER BY odd.odd) AS because,
    list(odd.event_id ORDER BY odd.event_id)[1:40] AS evidence
FROM odd
GROUP BY odd.user_id
