-- title: The request's own record says that the engine was still loading
-- layer: model
-- cause: model.not_ready
-- role: symptom
-- precedence: 670
-- needs: own
-- known gaps: a load after a death that no kept log tells of
SELECT
    failures.attempt_id,
    'model.not_ready' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: the engine was still loading' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'not_ready'
GROUP BY failures.attempt_id
