-- title: The request's own record says that the request is invalid
-- layer: client
-- cause: client.bad_request
-- role: root
-- precedence: 300
-- needs: own
-- known gaps: a refusal without a record (bad_request_shape)
SELECT
    failures.attempt_id,
    'client.bad_request' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: invalid request' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'bad_request' AND failures.status < 500
GROUP BY failures.attempt_id
