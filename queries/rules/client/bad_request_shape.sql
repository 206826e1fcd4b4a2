-- title: Status 400 with nothing but the access record
-- layer: client
-- cause: client.bad_request
-- role: symptom
-- precedence: 920
-- known gaps: a gateway that gives 400 for reasons of its own
SELECT
    failures.attempt_id,
    'client.bad_request' AS cause,
    'inferred' AS strength,
    failures.ts_end AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [failures.attempt_id] AS evidence,
    'status 400, no other record' AS because
FROM failures
WHERE failures.status = 400 AND failures.has_access
