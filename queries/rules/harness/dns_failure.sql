-- title: The edge's error log: the upstream's name could not be resolved
-- layer: harness
-- cause: harness.dns_failure
-- role: symptom
-- precedence: 640
-- needs: edge_matches
-- known gaps: resolvers inside a plugin
SELECT
    failures.attempt_id,
    'harness.dns_failure' AS cause,
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
WHERE edge_matches.kind IN ('dns_failure') AND edge_matches.settled
GROUP BY failures.attempt_id
