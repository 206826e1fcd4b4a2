-- title: A user's token budget of a minute is spent
-- layer: quota
-- cause: quota.token_rate_limit
-- known gaps: a budget per model or tenant
WITH spent AS (
    SELECT
        spent_minutes.user_id,
        spent_minutes.ts_start,
        spent_minutes.ts_end,
        spent_minutes.ts_error_us,
        spent_minutes.clock_status,
        spent_minutes.spent || ' tokens booked in the ' || spent_minutes.kind
        || ' minute of ' || spent_minutes.budget AS because,
        spent_minutes.evidence
    FROM spent_minutes
    UNION ALL
    SELECT
        token_gauges.user_id,
        token_gauges.ts_start,
        token_gauges.ts_end,
        token_gauges.ts_error_us,
        token_gauges.clock_status,
        'its gauge showed no token left' AS because,
        token_gauges.evidence
    FROM token_gauges
)

SELECT
    'quota.token_rate_limit' AS cause,
    'root' AS role,
    'user' AS scope_kind,
    spent.user_id AS scope,
    spent.ts_start,
    spent.ts_end,
    spent.ts_error_us,
    spent.clock_status,
    spent.because,
    spent.evidence
FROM spent
SEMI JOIN refusals
    ON
        spent.user_id = refusals.user_id
        AND refusals.ts_end BETWEEN spent.ts_start - INTERVAL 2 SECOND
        AND spent.ts_end + INTERVAL 2 SECOND
