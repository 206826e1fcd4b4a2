-- title: The request's own record says that the key was not accepted
-- layer: client
-- cause: client.auth
-- role: root
-- precedence: 310
-- needs: own
-- known gaps: a refusal without a record (auth_shape)
SELECT
    failures.attempt_id,
    'client.auth' AS cause,
    -- A proxy's flag says that it was so, not for what reason.
    CASE WHEN bool_and(own.in_access) THEN 'corroborated' ELSE 'proven' END
        AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: not authenticated' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.kind = 'auth_failed'
    AND failures.status < 500
    -- What an upstream of the gateway misses is not the client's fault.
    AND NOT list_contains(own.kinds, 'upstream_error')
GROUP BY failures.attempt_id
