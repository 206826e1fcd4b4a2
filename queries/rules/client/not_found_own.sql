-- title: The request's own record says that there is no such path or object
-- layer: client
-- cause: client.not_found
-- role: root
-- precedence: 320
-- needs: own
-- known gaps: a refusal without a record (not_found_shape)
SELECT
    failures.attempt_id,
    'client.not_found' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: not found' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.kind = 'not_found'
    AND failures.status < 500
    -- What an upstream of the gateway misses is not the client's fault.
    AND NOT list_contains(own.kinds, 'upstream_error')
GROUP BY failures.attempt_id
