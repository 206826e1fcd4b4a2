-- title: The waiting queue was full, says a record that fits no other attempt
-- layer: harness
-- cause: harness.queue_full
-- role: root
-- precedence: 241
-- needs: idless_refusals
-- known gaps: a queue that overflows without a record
SELECT
    idless_refusals.attempt_id,
    'harness.queue_full' AS cause,
    'corroborated' AS strength,
    idless_refusals.ts,
    CAST(NULL AS BIGINT) AS condition_id,
    NOT idless_refusals.certain AS clock_sensitive,
    idless_refusals.evidence,
    'the waiting queue was full, at its time and of no other attempt' AS because
FROM idless_refusals
WHERE idless_refusals.kind = 'queue_full'
