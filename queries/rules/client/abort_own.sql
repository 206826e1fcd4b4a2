-- title: The gateway's record says that the request was called off from outside
-- layer: client
-- cause: client.abort
-- role: root
-- precedence: 335
-- needs: own
-- known gaps: a gateway that was stopped calls its requests off as well
SELECT
    failures.attempt_id,
    'client.abort' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: called off by its client' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.kind = 'client_closed'
    AND own.layer = 'harness'
    -- Where the edge gave up, it was the edge that called it off.
    AND failures.status = 500
GROUP BY failures.attempt_id
