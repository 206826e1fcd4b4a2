-- title: The request's own record says that a name could not be resolved
-- layer: harness
-- cause: harness.dns_failure
-- role: symptom
-- precedence: 660
-- needs: own
-- known gaps: names that belong to a plugin
SELECT
    failures.attempt_id,
    'harness.dns_failure' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: name not resolved' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.layer = 'harness' AND list_contains(own.kinds, 'dns_failure')
GROUP BY failures.attempt_id
