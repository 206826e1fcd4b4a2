-- title: The request's own record says that it waited too long for a free place
-- layer: harness
-- cause: harness.concurrency_limit
-- role: symptom
-- precedence: 665
-- needs: own
-- known gaps: places that hung or slow engines held, without a record of theirs
SELECT
    failures.attempt_id,
    'harness.concurrency_limit' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: waited for a free place until its time was up' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.layer = 'harness' AND list_contains(own.kinds, 'queue_timeout')
GROUP BY failures.attempt_id
