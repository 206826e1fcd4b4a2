-- title: The client closed the connection in the middle of its answer
-- layer: client
-- cause: client.abort
-- role: root
-- precedence: 340
-- needs: edge_matches
-- known gaps: error logs that were not kept at the level info
SELECT
    failures.attempt_id,
    'client.abort' AS cause,
    'corroborated' AS strength,
    min(edge_matches.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(DISTINCT edge_matches.event_id ORDER BY edge_matches.event_id) AS evidence,
    'the client closed the connection while the answer was being sent' AS because
FROM failures
INNER JOIN edge_matches ON failures.attempt_id = edge_matches.attempt_id
WHERE failures.status < 400 AND edge_matches.kind = 'client_closed'
GROUP BY failures.attempt_id
