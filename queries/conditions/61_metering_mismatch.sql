-- title: The ledger charges otherwise than what was used
-- layer: quota
-- cause: quota.metering_mismatch
-- needs: mismatches
-- known gaps: requests whose user the ledger does not know at all
SELECT
    'quota.metering_mismatch' AS cause,
    'symptom' AS role,
    'user' AS scope_kind,
    mismatches.user_id AS scope,
    min(mismatches.ts) AS ts_start,
    max(mismatches.ts) AS ts_end,
    max(mismatches.ts_error_us) AS ts_error_us,
    min(mismatches.clock_status) AS clock_status,
    count(*) || ' of ' || mismatches.user_id || ': '
    || string_agg(DISTINCT mismatches.odd, ', ' ORDER BY mismatches.odd) AS because,
    list(mismatches.event_id ORDER BY mismatches.event_id)[1:40] AS evidence
FROM mismatches
GROUP BY mismatches.user_id
