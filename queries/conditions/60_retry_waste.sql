-- title: Attempts of one request that failed were charged again and again
-- layer: quota
-- cause: quota.retry_waste
-- needs: charges
-- known gaps: retries that come with an id of their own
WITH requests AS (
    SELECT
        charges.user_id,
        charges.request_id,
        any_value(charges.attempts) AS attempts,
        count(*) AS charges,
        sum(charges.amount) AS amount,
        sum(charges.gpu_seconds) AS gpu_seconds,
        min(charges.ts) AS ts_start,
        max(charges.ts) AS ts_end,
        max(charges.ts_error_us) AS ts_error_us,
        min(charges.clock_status) AS clock_status,
        list(charges.event_id ORDER BY charges.event_id) AS evidence
    FROM charges
    WHERE charges.wasted AND charges.charges > 1 AND charges.failed > 1
    GROUP BY charges.user_id, charges.request_id
)

SELECT
    'quota.retry_waste' AS cause,
    'symptom' AS role,
    'user' AS scope_kind,
    requests.user_id AS scope,
    min(requests.ts_start) AS ts_start,
    max(requests.ts_end) AS ts_end,
    max(requests.ts_error_us) AS ts_error_us,
    min(requests.clock_status) AS clock_status,
    sum(requests.charges)::BIGINT || ' charges for failed attempts, requests '
    || 'tried ' || round(sum(requests.attempts) / count(*), 1) || ' times each: '
    || round(sum(requests.amount), 2) || ' for nothing'
    || coalesce(', ' || round(sum(requests.gpu_seconds), 1) || ' GPU seconds', '')
        AS because,
    list_sort(flatten(list(requests.evidence)))[1:40] AS evidence
FROM requests
GROUP BY requests.user_id
