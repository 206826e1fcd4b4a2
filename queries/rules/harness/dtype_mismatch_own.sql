-- title: The request broke on a data type that the configuration asks for
-- layer: harness
-- cause: harness.dtype_mismatch
-- role: root
-- precedence: 234
-- needs: own
-- known gaps: a mismatch that the load did not record stays inferred
SELECT
    failures.attempt_id,
    'harness.dtype_mismatch' AS cause,
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
    'own record: another data type expected'
    || coalesce(', and ' || min(conditions.because), '') AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
LEFT JOIN conditions
    ON
        conditions.cause = 'harness.dtype_mismatch'
        AND conditions.clock_status <> 'untied'
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE list_contains(own.kinds, 'dtype_mismatch')
GROUP BY failures.attempt_id
