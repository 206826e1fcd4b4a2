-- title: The edge's error log says that it turned this client away
-- layer: harness
-- cause: harness.edge_limit
-- role: root
-- precedence: 135
-- needs: edge_matches
-- known gaps: error lines below the level that was kept; a client behind one address
SELECT
    failures.attempt_id,
    'harness.edge_limit' AS cause,
    'corroborated' AS strength,
    min(edge_matches.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(DISTINCT edge_matches.event_id ORDER BY edge_matches.event_id) AS evidence,
    'turned away by the edge: same client, request and second in its error log'
        AS because
FROM failures
INNER JOIN edge_matches ON failures.attempt_id = edge_matches.attempt_id
WHERE edge_matches.kind = 'edge_limit' AND edge_matches.settled
GROUP BY failures.attempt_id
