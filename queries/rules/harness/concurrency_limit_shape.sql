-- title: Refused with 429 before forwarding, and nothing else explains it
-- layer: harness
-- cause: harness.concurrency_limit
-- role: symptom
-- precedence: 900
-- known gaps: quota, burst and edge limits whose records were not kept look the same
SELECT
    refusals.attempt_id,
    'harness.concurrency_limit' AS cause,
    'inferred' AS strength,
    refusals.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [refusals.attempt_id] AS evidence,
    'refused with 429 before forwarding; no record of quota, burst or edge limit'
        AS because
FROM refusals
INNER JOIN failures ON refusals.attempt_id = failures.attempt_id
WHERE
    failures.edge_forwarded IS FALSE
    AND NOT refusals.told_minute
    AND refusals.most_in_flight > 0
    -- A known limit that was far from reached contradicts this reading.
    AND (
        refusals.allowed IS NULL
        OR refusals.most_in_flight >= 0.9 * refusals.allowed
    )
    -- A limiter that refused without saying why leaves it open.
    AND NOT EXISTS (
        SELECT 1
        FROM own
        WHERE
            own.attempt_id = refusals.attempt_id
            AND list_contains(own.kinds, 'rate_limited')
    )
