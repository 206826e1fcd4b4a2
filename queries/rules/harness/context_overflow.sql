-- title: A prompt was too long, says a record that fits no other attempt
-- layer: harness
-- cause: harness.context_overflow
-- role: root
-- precedence: 242
-- needs: idless_refusals
-- known gaps: refusals of which the status is unusual
SELECT
    idless_refusals.attempt_id,
    'harness.context_overflow' AS cause,
    'corroborated' AS strength,
    idless_refusals.ts,
    CAST(NULL AS BIGINT) AS condition_id,
    NOT idless_refusals.certain AS clock_sensitive,
    idless_refusals.evidence,
    'a prompt was longer than the context, at its time and of no other attempt'
        AS because
FROM idless_refusals
WHERE idless_refusals.kind = 'context_overflow'
