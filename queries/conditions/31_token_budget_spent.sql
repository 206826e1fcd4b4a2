-- title: A user's token budget of a minute is spent
-- layer: quota
-- cause: quota.token_rate_limit
-- known gaps: a budget that slides instead of starting with the minute; a budget per
--     model or tenant
SELECT
    'quota.token_rate_limit' AS cause,
    'root' AS role,
    'user' AS scope_kind,
    spent_minutes.user_id AS scope,
    spent_minutes.ts_start,
    spent_minutes.ts_end,
    spent_minutes.ts_error_us,
    spent_minutes.clock_status,
    spent_minutes.spent || ' tokens booked in the calendar minute of '
    || spent_minutes.budget AS because,
    spent_minutes.evidence
FROM spent_minutes
SEMI JOIN refusals
    ON
        spent_minutes.user_id = refusals.user_id
        AND refusals.ts_end BETWEEN spent_minutes.ts_start - INTERVAL 2 SECOND
        AND spent_minutes.ts_end + INTERVAL 2 SECOND
