-- title: Status 401 with nothing but the access record
-- layer: client
-- cause: client.auth
-- role: symptom
-- precedence: 930
-- known gaps: a gateway that gives 401 for reasons of its own
SELECT
    failures.attempt_id,
    'client.auth' AS cause,
    'inferred' AS strength,
    failures.ts_end AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [failures.attempt_id] AS evidence,
    'status 401, no other record' AS because
FROM failures
WHERE
    failures.status = 401
    AND failures.has_access
    -- What an upstream of the gateway refused to the gateway is not the client's fault.
    AND NOT EXISTS (
        SELECT 1
        FROM own
        WHERE
            own.attempt_id = failures.attempt_id
            AND list_has_any(
                own.kinds, ['upstream_error', 'provider_auth_failed']
            )
    )
