-- title: The request's own record says that no upstream was left
-- layer: harness
-- cause: harness.no_live_upstream
-- role: symptom
-- precedence: 664
-- needs: own
-- known gaps: what ejected the upstreams, when its records are missing
SELECT
    failures.attempt_id,
    'harness.no_live_upstream' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: no upstream left' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.layer = 'harness' AND list_contains(own.kinds, 'no_live_upstream')
GROUP BY failures.attempt_id
