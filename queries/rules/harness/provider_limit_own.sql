-- title: The request's own record says that a third party refused it
-- layer: harness
-- cause: harness.provider_limit
-- role: root
-- precedence: 250
-- known gaps: a provider that is not named
SELECT
    failures.attempt_id,
    'harness.provider_limit' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: the provider refused' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'provider_limit'
GROUP BY failures.attempt_id
