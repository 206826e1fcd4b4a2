-- title: The request's own record says that its prompt is too long
-- layer: harness
-- cause: harness.context_overflow
-- role: root
-- precedence: 220
-- needs: own
-- known gaps: an engine's own refusal, which carries no id
SELECT
    failures.attempt_id,
    'harness.context_overflow' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: prompt longer than the context' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'context_overflow'
GROUP BY failures.attempt_id
