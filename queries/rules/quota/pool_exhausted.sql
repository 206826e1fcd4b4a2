-- title: Refused with 429 before forwarding while the user's pool was empty
-- layer: quota
-- cause: quota.exceeded
-- role: root
-- precedence: 140
-- known gaps: a user who is not named anywhere
WITH refused AS (
    SELECT
        failures.attempt_id,
        failures.ts_start,
        failures.ts_end,
        failures.ts_error_us,
        failures.user_id,
        failures.project_id,
        failures.tenant_id
    FROM failures
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
),

owners AS (
    SELECT
        refused.*,
        'project' AS scope_kind,
        refused.project_id AS scope
    FROM refused
    UNION ALL
    SELECT
        refused.*,
        'tenant' AS scope_kind,
        refused.tenant_id AS scope
    FROM refused
    UNION ALL
    SELECT
        refused.*,
        'user' AS scope_kind,
        refused.user_id AS scope
    FROM refused
)

SELECT
    owners.attempt_id,
    'quota.exceeded' AS cause,
    'corroborated' AS strength,
    min(conditions.ts_start) AS ts,
    min(conditions.condition_id) AS condition_id,
    NOT bool_or(
        must_overlap(
            owners.ts_start, owners.ts_end, owners.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
    ) AS clock_sensitive,
    flatten(
        list(conditions.evidence[1:20] ORDER BY conditions.condition_id)
    )[1:20] AS evidence,
    'refused while ' || min(conditions.because) AS because
FROM owners
INNER JOIN conditions
    ON
        conditions.cause = 'quota.exceeded'
        AND conditions.clock_status <> 'untied'
        AND owners.scope = conditions.scope
        AND owners.scope_kind = CASE
            WHEN conditions.scope_kind IN ('project', 'tenant')
                THEN conditions.scope_kind
            ELSE 'user'
        END
        AND may_overlap(
            owners.ts_start, owners.ts_end, owners.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
GROUP BY owners.attempt_id
