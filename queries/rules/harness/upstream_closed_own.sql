-- title: The request's own record says that the upstream closed the connection
-- layer: harness
-- cause: harness.upstream_closed
-- role: symptom
-- precedence: 663
-- known gaps: an engine that died without a record
SELECT
    failures.attempt_id,
    'harness.upstream_closed' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: upstream closed the connection' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.layer = 'harness' AND list_contains(own.kinds, 'upstream_closed')
GROUP BY failures.attempt_id
