-- title: Refused with 429 before forwarding while the user's pool was empty
-- layer: quota
-- cause: quota.exceeded
-- role: root
-- precedence: 140
-- known gaps: a user who is not named anywhere
SELECT
    failures.attempt_id,
    'quota.exceeded' AS cause,
    'corroborated' AS strength,
    min(conditions.ts_start) AS ts,
    min(conditions.condition_id) AS condition_id,
    NOT bool_or(
        must_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
    ) AS clock_sensitive,
    flatten(list(conditions.evidence ORDER BY conditions.condition_id))[1:20]
        AS evidence,
    'refused while ' || min(conditions.because) AS because
FROM failures
INNER JOIN conditions
    ON
        conditions.cause = 'quota.exceeded'
        AND conditions.clock_status <> 'untied'
        AND CASE conditions.scope_kind
            WHEN 'project' THEN failures.project_id = conditions.scope
            WHEN 'tenant' THEN failures.tenant_id = conditions.scope
            ELSE failures.user_id = conditions.scope
        END
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE
    failures.status IN (402, 403, 429)
    AND failures.forwarded IS FALSE
    -- A limiter that says that it refused is no pool.
    AND NOT EXISTS (
        SELECT 1
        FROM own
        WHERE
            own.attempt_id = failures.attempt_id
            AND list_contains(own.kinds, 'rate_limited')
    )
GROUP BY failures.attempt_id
