-- title: The request's own record says that the TLS handshake with the upstream failed
-- layer: harness
-- cause: harness.tls_handshake
-- role: root
-- precedence: 232
-- needs: own
-- known gaps: gateways that call every broken connection a TLS error
SELECT
    failures.attempt_id,
    'harness.tls_handshake' AS cause,
    -- An error alone does not say whose connection it was.
    CASE
        WHEN
            bool_or(
                own.in_access
                OR regexp_matches(
                    events.message,
                    '(?i)handshake|upstream|backend|engine|proxy|channel|verify failed'
                )
            )
            THEN 'proven'
        ELSE 'corroborated'
    END AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: TLS handshake failed' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
INNER JOIN events ON own.event_id = events.event_id
WHERE own.layer = 'harness' AND list_contains(own.kinds, 'tls_handshake')
GROUP BY failures.attempt_id
