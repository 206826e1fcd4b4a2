-- title: The edge's error log: the upstream refused the connection
-- layer: harness
-- cause: harness.connect_refused
-- role: symptom
-- precedence: 600
-- needs: edge_matches
-- known gaps: an engine that is dead and left no log
SELECT
    failures.attempt_id,
    'harness.connect_refused' AS cause,
    'corroborated' AS strength,
    min(edge_matches.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(DISTINCT edge_matches.event_id ORDER BY edge_matches.event_id) AS evidence,
    min(replace(edge_matches.kind, '_', ' ')) || ' at '
    || coalesce(min(edge_matches.upstream_addr), '?')
    || ': same client, request and second in the error log' AS because
FROM failures
INNER JOIN edge_matches ON failures.attempt_id = edge_matches.attempt_id
WHERE
    edge_matches.kind IN ('connect_refused', 'connect_failed')
    AND edge_matches.settled
GROUP BY failures.attempt_id
