-- title: Status 413 with nothing but the access record
-- layer: client
-- cause: client.too_large
-- role: symptom
-- precedence: 950
-- known gaps: a gateway that gives 413 for reasons of its own
SELECT
    failures.attempt_id,
    'client.too_large' AS cause,
    'inferred' AS strength,
    failures.ts_end AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [failures.attempt_id] AS evidence,
    'status 413, no other record' AS because
FROM failures
WHERE failures.status = 413 AND failures.has_access
