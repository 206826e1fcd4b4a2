-- title: The request's own record says that the client went away or was too slow
-- layer: client
-- cause: client.abort
-- role: root
-- precedence: 336
-- needs: own
-- known gaps: clients that gave up because a hung engine made them wait
SELECT
    failures.attempt_id,
    'client.abort' AS cause,
    CASE
        WHEN bool_or(list_contains(own.kinds, 'client_closed')) THEN 'corroborated'
        ELSE 'inferred'
    END AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: the client ' || CASE
        WHEN bool_or(list_contains(own.kinds, 'client_closed'))
            THEN 'closed the connection'
        ELSE 'was too slow'
    END AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.layer = 'harness'
    AND list_has_any(own.kinds, ['client_closed', 'client_timeout'])
    -- Whoever stands behind an edge that gave up sees it go as well.
    AND (own.in_access OR failures.status < 400 OR failures.status = 499)
GROUP BY failures.attempt_id
