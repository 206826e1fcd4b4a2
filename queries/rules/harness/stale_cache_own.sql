-- title: The request broke on a compiled graph of an older model
-- layer: harness
-- cause: harness.stale_cache
-- role: root
-- precedence: 236
-- needs: own
-- known gaps: a cache whose use was not recorded stays inferred
SELECT
    failures.attempt_id,
    'harness.stale_cache' AS cause,
    CASE
        WHEN bool_or(conditions.condition_id IS NOT NULL) THEN 'corroborated'
        ELSE 'inferred'
    END AS strength,
    min(own.ts) AS ts,
    min(conditions.condition_id) AS condition_id,
    FALSE AS clock_sensitive,
    list_sort(
        list_distinct(
            list_concat(
                list(own.event_id),
                flatten(list(coalesce(conditions.evidence, [])))
            )
        )
    )[1:20] AS evidence,
    'own record: the compiled graph is of another model'
    || coalesce(', and ' || min(conditions.because), '') AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
LEFT JOIN conditions
    ON
        conditions.cause = 'harness.stale_cache'
        AND conditions.clock_status <> 'untied'
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE list_contains(own.kinds, 'stale_cache')
GROUP BY failures.attempt_id
