-- title: The request's tokens are not in the model's vocabulary
-- layer: model
-- cause: model.tokenizer_mismatch
-- role: root
-- precedence: 484
-- needs: own
-- known gaps: clients that send ids of tokens themselves
SELECT
    failures.attempt_id,
    'model.tokenizer_mismatch' AS cause,
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
    'own record: token id outside of the vocabulary'
    || coalesce(', and ' || min(conditions.because), '') AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
LEFT JOIN conditions
    ON
        conditions.cause = 'model.tokenizer_mismatch'
        AND conditions.clock_status <> 'untied'
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE list_contains(own.kinds, 'token_out_of_vocabulary')
GROUP BY failures.attempt_id
