-- title: Refused with 429 before forwarding, and told to come back in a minute
-- layer: quota
-- cause: quota.burst_limit
-- role: symptom
-- precedence: 895
-- known gaps: access logs that do not keep the header; another limit that tells the same
SELECT
    refusals.attempt_id,
    'quota.burst_limit' AS cause,
    'inferred' AS strength,
    refusals.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [refusals.attempt_id] AS evidence,
    'refused with 429 before forwarding, Retry-After: 60' AS because
FROM refusals
INNER JOIN failures ON refusals.attempt_id = failures.attempt_id
WHERE
    failures.edge_forwarded IS FALSE
    AND refusals.told_minute
    -- A limit per minute would say so too.
    AND NOT EXISTS (
        SELECT 1
        FROM settings
        WHERE settings.key IN ('requests_per_minute', 'tokens_per_minute')
    )
