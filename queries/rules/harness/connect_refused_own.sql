-- title: The request's own record says that the upstream could not be reached
-- layer: harness
-- cause: harness.connect_refused
-- role: symptom
-- precedence: 661
-- needs: own
-- known gaps: an engine that is dead and left no log
SELECT
    failures.attempt_id,
    'harness.connect_refused' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: ' || CASE
        WHEN bool_or(list_contains(own.kinds, 'connect_refused'))
            THEN 'connection refused'
        ELSE 'no connection to the upstream'
    END AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.layer = 'harness'
    AND (
        list_contains(own.kinds, 'connect_refused')
        -- Nobody there, unless the record says more exactly what was wrong.
        OR (
            list_contains(own.kinds, 'connect_failed')
            AND NOT list_has_any(
                own.kinds, ['tls_handshake', 'dns_failure', 'upstream_timeout']
            )
        )
    )
GROUP BY failures.attempt_id
