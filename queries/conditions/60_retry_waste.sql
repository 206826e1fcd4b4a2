-- title: Attempts of one request that failed were charged again and again
-- layer: quota
-- cause: quota.retry_waste
-- needs: charges
-- known gaps: retries that come with an id of their own
SELECT
    'quota.retry_waste' AS cause,
    'symptom' AS role,
    'user' AS scope_kind,
    charges.user_id AS scope,
    min(charges.ts) AS ts_start,
    max(charges.ts) AS ts_end,
    max(charges.ts_error_us) AS ts_error_us,
    min(charges.clock_status) AS clock_status,
    count(*) || ' charges for ' || count(DISTINCT charges.request_id)
    || ' requests that failed, each '
    || round(count(*) / count(DISTINCT charges.request_id), 1) || ' times: '
    || round(sum(charges.amount), 2) || ' for nothing'
    || coalesce(', ' || round(sum(charges.gpu_seconds), 1) || ' GPU seconds', '')
        AS because,
    list(charges.event_id ORDER BY charges.event_id)[1:40] AS evidence
FROM charges
WHERE charges.charges > 1 AND charges.failed > 1
GROUP BY charges.user_id
