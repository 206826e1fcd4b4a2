-- title: There was no engine for it since the quota had ended the load
-- layer: quota
-- cause: quota.model_load_denied
-- role: root
-- precedence: 505
-- needs: conditions, own
-- known gaps: gateways with several engines of which others serve
SELECT
    failures.attempt_id,
    'quota.model_load_denied' AS cause,
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
    'no engine, since ' || min(conditions.because) AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
INNER JOIN conditions
    ON
        conditions.cause = 'quota.model_load_denied'
        AND conditions.clock_status <> 'untied'
        AND NOT failures.adrift
        AND coalesce(failures.engine, own.engine, conditions.scope) = conditions.scope
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE
    own.kind IN ('no_route', 'not_ready', 'connect_refused', 'request_forwarded')
    -- The load was of another model.
    AND NOT EXISTS (
        SELECT 1
        FROM denied_loads
        WHERE
            list_contains(conditions.evidence, denied_loads.event_id)
            AND denied_loads.model <> failures.model
    )
GROUP BY failures.attempt_id
