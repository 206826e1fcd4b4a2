-- title: Refused with 429 before forwarding after the minute's tokens were spent
-- layer: quota
-- cause: quota.token_rate_limit
-- role: root
-- precedence: 160
-- needs: conditions
-- known gaps: tokens that are booked later than they are used
SELECT
    refusals.attempt_id,
    'quota.token_rate_limit' AS cause,
    'corroborated' AS strength,
    min(conditions.ts_start) AS ts,
    min(conditions.condition_id) AS condition_id,
    FALSE AS clock_sensitive,
    flatten(list(conditions.evidence ORDER BY conditions.condition_id))[1:20]
        AS evidence,
    'refused after ' || string_agg(conditions.because, ', ' ORDER BY conditions.because)
        AS because
FROM refusals
INNER JOIN failures ON refusals.attempt_id = failures.attempt_id
INNER JOIN conditions
    ON
        conditions.cause = 'quota.token_rate_limit'
        AND conditions.clock_status <> 'untied'
        AND NOT failures.adrift
        AND conditions.scope = refusals.user_id
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
GROUP BY refusals.attempt_id
