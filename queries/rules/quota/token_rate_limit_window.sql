-- title: Refused with 429 before forwarding after the minute's tokens were spent
-- layer: quota
-- cause: quota.token_rate_limit
-- role: root
-- precedence: 160
-- known gaps: budgets that slide; tokens that are booked later than they are used
SELECT
    refusals.attempt_id,
    'quota.token_rate_limit' AS cause,
    'corroborated' AS strength,
    conditions.ts_start AS ts,
    conditions.condition_id,
    FALSE AS clock_sensitive,
    conditions.evidence,
    'refused after ' || conditions.because AS because
FROM refusals
INNER JOIN failures ON refusals.attempt_id = failures.attempt_id
INNER JOIN conditions
    ON
        conditions.cause = 'quota.token_rate_limit'
        AND conditions.clock_status <> 'untied'
        AND conditions.scope = refusals.user_id
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
