-- title: The request's own record says that too many were in flight
-- layer: harness
-- cause: harness.concurrency_limit
-- role: root
-- precedence: 200
-- needs: own
-- known gaps: a limit that logs nothing (concurrency_limit_load, concurrency_limit_shape);
--     what a proxy that sheds load had run out of
SELECT
    failures.attempt_id,
    'harness.concurrency_limit' AS cause,
    -- A breaker also opens on what a hung or dead engine has piled up.
    CASE
        WHEN bool_and(own.kind = 'overloaded') THEN 'corroborated'
        WHEN
            bool_and(own.in_access)
            AND EXISTS (
                SELECT 1
                FROM conditions
                WHERE
                    conditions.scope_kind = 'engine'
                    AND conditions.clock_status <> 'untied'
                    AND may_overlap(
                        any_value(failures.ts_start), any_value(failures.ts_end),
                        any_value(failures.ts_error_us), conditions.ts_start,
                        conditions.ts_end, conditions.ts_error_us
                    )
            )
            THEN 'corroborated'
        ELSE 'proven'
    END AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: concurrency limit' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind IN ('concurrency_limit', 'overloaded')
GROUP BY failures.attempt_id
