-- title: The request's own record says that the edge turned it away
-- layer: harness
-- cause: harness.edge_limit
-- role: root
-- precedence: 202
-- needs: own
-- known gaps: a service that counts for the edge may count tokens or a quota
SELECT
    failures.attempt_id,
    'harness.edge_limit' AS cause,
    -- Who counts for the edge may count anything.
    CASE
        WHEN bool_or(NOT list_contains(own.kinds, 'rate_limited')) THEN 'proven'
        ELSE 'corroborated'
    END AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: turned away by a limit of the edge' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.layer = 'harness' AND list_contains(own.kinds, 'edge_limit')
GROUP BY failures.attempt_id
