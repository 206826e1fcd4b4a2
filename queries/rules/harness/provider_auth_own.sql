-- title: The request's own record says that a provider refused the gateway's own key
-- layer: harness
-- cause: harness.provider_limit
-- role: root
-- precedence: 504
-- needs: own
-- known gaps: a key that the client gave and the gateway passed on; a limit is only the
--     nearest name for a refusal
SELECT
    failures.attempt_id,
    'harness.provider_limit' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: the provider did not accept the gateway''s key' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'provider_auth_failed'
GROUP BY failures.attempt_id
