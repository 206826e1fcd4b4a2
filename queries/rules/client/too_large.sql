-- title: The edge's error log says that the body is too large
-- layer: client
-- cause: client.too_large
-- role: root
-- precedence: 350
-- needs: edge_matches
-- known gaps: error lines that were not kept (too_large_shape)
SELECT
    failures.attempt_id,
    'client.too_large' AS cause,
    'corroborated' AS strength,
    min(edge_matches.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(DISTINCT edge_matches.event_id ORDER BY edge_matches.event_id) AS evidence,
    'body too large: same client, request and second in the error log' AS because
FROM failures
INNER JOIN edge_matches ON failures.attempt_id = edge_matches.attempt_id
WHERE edge_matches.kind = 'too_large' AND edge_matches.settled
GROUP BY failures.attempt_id
