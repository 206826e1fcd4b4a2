-- title: A record with the request's id says that the engine is dead
-- layer: model
-- cause: model.engine_dead
-- role: root
-- precedence: 500
-- known gaps: a death with a named reason is the matter of engine_down, which then
--     takes over
SELECT
    failures.attempt_id,
    'model.engine_dead' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: engine dead' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    list_has_any(own.kinds, ['request_engine_dead', 'engine_dead'])
    -- An engine that died of something named died as its symptom.
    AND NOT EXISTS (
        SELECT 1
        FROM conditions
        WHERE
            conditions.scope_kind = 'engine'
            AND conditions.cause <> 'model.engine_dead'
            AND (
                failures.engine IS NULL
                OR failures.engine = conditions.scope
                OR NOT EXISTS (
                    SELECT 1
                    FROM engine_names
                    WHERE engine_names.engine = conditions.scope AND engine_names.known
                )
            )
            AND conditions.clock_status <> 'untied'
            AND may_overlap(
                failures.ts_start, failures.ts_end, failures.ts_error_us,
                conditions.ts_start, conditions.ts_end, conditions.ts_error_us
            )
    )
GROUP BY failures.attempt_id
