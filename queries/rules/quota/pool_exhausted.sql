-- title: Refused with 429 before forwarding while the user's pool was empty
-- layer: quota
-- cause: quota.exceeded
-- role: root
-- precedence: 140
-- needs: conditions
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
        AND NOT failures.adrift
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

-- Whose balance a pool is, the snapshot itself says.
members AS (
    SELECT DISTINCT
        empty_pools.user_id,
        empty_pools.level,
        empty_pools.level_id
    FROM empty_pools
),

owners AS (
    SELECT
        refused.*,
        members.level AS scope_kind,
        members.level_id AS scope
    FROM refused
    INNER JOIN members ON refused.user_id = members.user_id
    UNION ALL
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
),

met AS (
    SELECT
        owners.attempt_id,
        list(conditions.condition_id ORDER BY conditions.condition_id)
            AS condition_ids,
        min(conditions.ts_start) AS ts,
        bool_or(
            must_overlap(
                owners.ts_start, owners.ts_end, owners.ts_error_us,
                conditions.ts_start, conditions.ts_end, conditions.ts_error_us
            )
        ) AS certain
    FROM owners
    INNER JOIN conditions
        ON
            conditions.cause = 'quota.exceeded'
            AND conditions.clock_status <> 'untied'
            AND owners.scope = conditions.scope
            AND owners.scope_kind IN (
                conditions.scope_kind,
                CASE
                    WHEN conditions.scope_kind NOT IN ('project', 'tenant')
                        THEN 'user'
                END
            )
            AND may_overlap(
                owners.ts_start, owners.ts_end, owners.ts_error_us,
                conditions.ts_start, conditions.ts_end, conditions.ts_error_us
            )
    GROUP BY owners.attempt_id
),

-- Conditions are numbered from 1: their numbers are places in these lists.
known AS (
    SELECT
        list(conditions.evidence ORDER BY conditions.condition_id) AS evidence,
        list(conditions.because ORDER BY conditions.condition_id) AS because
    FROM conditions
),

-- Many attempts met the same ones.
sets AS (
    SELECT
        alike.condition_ids,
        known.evidence,
        known.because
    FROM (SELECT DISTINCT met.condition_ids FROM met) AS alike
    CROSS JOIN known
),

told AS (
    SELECT
        sets.condition_ids,
        flatten(
            list_transform(sets.condition_ids, LAMBDA id: sets.evidence[id])
        )[1:20] AS evidence,
        list_min(
            list_transform(sets.condition_ids, LAMBDA id: sets.because[id])
        ) AS because
    FROM sets
)

SELECT
    met.attempt_id,
    'quota.exceeded' AS cause,
    'corroborated' AS strength,
    met.ts,
    met.condition_ids[1] AS condition_id,
    NOT met.certain AS clock_sensitive,
    told.evidence,
    'refused while ' || told.because AS because
FROM met
INNER JOIN told ON met.condition_ids = told.condition_ids
