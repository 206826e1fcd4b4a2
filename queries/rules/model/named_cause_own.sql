-- title: A record with the request's id names what broke the engine
-- layer: model
-- cause: *
-- role: root
-- precedence: 490
-- needs: own
-- known gaps: reasons that named_causes does not list
SELECT
    failures.attempt_id,
    arg_min(named_causes.cause, named_causes.rank) AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(DISTINCT own.event_id ORDER BY own.event_id) AS evidence,
    'own record: '
    || replace(arg_min(named_causes.kind, named_causes.rank), '_', ' ') AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
INNER JOIN named_causes ON list_contains(own.kinds, named_causes.kind)
WHERE
    own.severity IN ('error', 'critical')
    AND named_causes.rank < 300
    -- A plugin that has a model of its own is no engine.
    AND NOT list_contains(own.kinds, 'plugin_failed')
    -- What a record of the engine's names as deeper took this with it (engine_down).
    AND NOT EXISTS (
        SELECT 1
        FROM conditions
        INNER JOIN named_causes AS deeper ON conditions.cause = deeper.cause
        WHERE
            conditions.clock_status <> 'untied'
            AND coalesce(failures.engine, conditions.scope) = conditions.scope
            AND deeper.rank < named_causes.rank
            AND deeper.rank <= 50
            AND may_overlap(
                failures.ts_start, failures.ts_end, failures.ts_error_us,
                conditions.ts_start, conditions.ts_end, conditions.ts_error_us
            )
    )
GROUP BY failures.attempt_id
