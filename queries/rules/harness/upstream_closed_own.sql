-- title: The request's own record says that the upstream closed the connection
-- layer: harness
-- cause: harness.upstream_closed
-- role: symptom
-- precedence: 663
-- needs: own
-- known gaps: an engine that died without a record; an answer that cannot be read
--     and a proxy that let go itself are only near to it
SELECT
    failures.attempt_id,
    'harness.upstream_closed' AS cause,
    CASE
        WHEN
            bool_or(
                list_has_any(own.kinds, ['upstream_closed', 'upstream_reset'])
            )
            THEN 'corroborated'
        ELSE 'inferred'
    END AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: upstream closed the connection' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.layer = 'harness'
    AND list_has_any(
        own.kinds,
        ['upstream_closed', 'upstream_reset', 'upstream_invalid', 'local_reset']
    )
GROUP BY failures.attempt_id
