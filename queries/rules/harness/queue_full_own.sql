-- title: The request's own record says that the waiting queue is full
-- layer: harness
-- cause: harness.queue_full
-- role: root
-- precedence: 210
-- needs: own
-- known gaps: a queue that overflows without a record
SELECT
    failures.attempt_id,
    'harness.queue_full' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: queue full' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'queue_full'
GROUP BY failures.attempt_id
