-- title: The edge's error log: the TLS handshake with the upstream failed
-- layer: harness
-- cause: harness.tls_handshake
-- role: root
-- precedence: 290
-- needs: edge_matches
-- known gaps: handshakes that fail before an access line is written
SELECT
    failures.attempt_id,
    'harness.tls_handshake' AS cause,
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
WHERE edge_matches.kind IN ('tls_handshake') AND edge_matches.settled
GROUP BY failures.attempt_id
