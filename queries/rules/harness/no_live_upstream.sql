-- title: The edge's error log: no upstream was left alive
-- layer: harness
-- cause: harness.no_live_upstream
-- role: symptom
-- precedence: 610
-- needs: edge_matches
-- known gaps: what ejected the upstreams, when its records are missing
SELECT
    failures.attempt_id,
    'harness.no_live_upstream' AS cause,
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
WHERE edge_matches.kind IN ('no_live_upstream') AND edge_matches.settled
GROUP BY failures.attempt_id
