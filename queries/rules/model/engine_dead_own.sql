-- title: A record with the request's id says that the engine is dead
-- layer: model
-- cause: model.engine_dead
-- role: root
-- precedence: 500
-- needs: own
-- known gaps: a death with a named reason is the matter of engine_down, which then
--     takes over
SELECT
    failures.attempt_id,
    'model.engine_dead' AS cause,
    -- Proven only when the dying engine itself gave its last word and nothing that
    -- could have killed it is left without a place in time.
    CASE
        WHEN
            EXISTS (
                SELECT 1
                FROM marks
                WHERE
                    marks.clock_status = 'untied'
                    AND list_has_any(
                        marks.kinds, (SELECT list(named_causes.kind) FROM named_causes)
                    )
            )
            OR bool_or(silent_deaths.event_id IS NOT NULL)
            THEN 'corroborated'
        ELSE 'proven'
    END AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(DISTINCT own.event_id ORDER BY own.event_id) AS evidence,
    'own record: engine dead' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
LEFT JOIN silent_deaths
    ON abs(date_diff('second', silent_deaths.ts, own.ts)) <= 10
WHERE
    list_has_any(own.kinds, ['request_engine_dead', 'engine_dead'])
    -- An engine that died of something named died as its symptom.
    AND NOT EXISTS (
        SELECT 1
        FROM conditions
        WHERE
            conditions.scope_kind = 'engine'
            AND conditions.cause NOT IN (
                'model.engine_dead', 'model.slow', 'model.not_ready'
            )
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
