-- title: The request's own record says that its answer is not a number
-- layer: model
-- cause: model.nan_output
-- role: root
-- precedence: 480
-- needs: own
-- known gaps: engines that only count corrupted requests
SELECT
    failures.attempt_id,
    'model.nan_output' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: not a number in the output' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE list_contains(own.kinds, 'nan_output')
GROUP BY failures.attempt_id
