-- title: The request's own record says that the upstream timed out
-- layer: harness
-- cause: harness.upstream_timeout
-- role: symptom
-- precedence: 662
-- needs: own
-- known gaps: a slow or hung model without a record of it
SELECT
    failures.attempt_id,
    'harness.upstream_timeout' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: upstream timed out' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.layer = 'harness' AND list_contains(own.kinds, 'upstream_timeout')
GROUP BY failures.attempt_id
