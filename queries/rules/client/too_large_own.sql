-- title: The request's own record says that its body is too large
-- layer: client
-- cause: client.too_large
-- role: root
-- precedence: 327
-- needs: own
-- known gaps: a body that an upstream of the gateway found too large
SELECT
    failures.attempt_id,
    'client.too_large' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: body too large' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'too_large' AND failures.status < 500
GROUP BY failures.attempt_id
