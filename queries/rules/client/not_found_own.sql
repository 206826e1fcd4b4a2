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
INNER JOIN events ON own.event_id = events.event_id
WHERE
    own.kind = 'not_found'
    AND failures.status < 500
    -- What an upstream of the gateway misses is not the client's fault.
    AND NOT list_contains(own.kinds, 'upstream_error')
    -- Nor that a gateway does not find what others got from it.
    AND NOT (
        regexp_matches(coalesce(events.message, ''), '(?i)\bmodel\b')
        AND EXISTS (
            SELECT 1
            FROM attempts
            WHERE attempts.model = failures.model AND NOT attempts.failed
        )
    )
GROUP BY failures.attempt_id
