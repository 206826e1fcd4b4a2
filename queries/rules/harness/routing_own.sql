-- title: The request's own record says that there is no route to its model
-- layer: harness
-- cause: harness.routing
-- role: symptom
-- precedence: 240
-- needs: own
-- known gaps: a route that was lost because engines failed: the model's condition takes over
SELECT
    failures.attempt_id,
    'harness.routing' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: no route to the model' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.kind = 'no_route'
    -- The gateway knows the model, and sent it where it is not.
    OR (own.kind = 'not_found' AND list_contains(own.kinds, 'upstream_error'))
GROUP BY failures.attempt_id
