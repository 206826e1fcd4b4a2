-- title: The request's own record says that a third party refused it
-- layer: harness
-- cause: harness.provider_limit
-- role: root
-- precedence: 503
-- needs: provider_refusals
-- known gaps: a provider that is not named
SELECT
    failures.attempt_id,
    'harness.provider_limit' AS cause,
    'proven' AS strength,
    min(provider_refusals.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(provider_refusals.event_id ORDER BY provider_refusals.event_id) AS evidence,
    'own record: the provider refused' AS because
FROM failures
INNER JOIN provider_refusals ON failures.attempt_id = provider_refusals.attempt_id
GROUP BY failures.attempt_id
