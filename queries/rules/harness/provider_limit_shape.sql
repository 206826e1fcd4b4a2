-- title: A channel answered with the status of a limit, and does not say whose
-- layer: harness
-- cause: harness.provider_limit
-- role: symptom
-- precedence: 905
-- needs: own
-- known gaps: a channel that is a gateway or an engine of one's own
SELECT
    failures.attempt_id,
    'harness.provider_limit' AS cause,
    'inferred' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: a channel answered ' || min(own.attrs ->> '$.upstream_status')
    || ' and does not say whose limit it is' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.kind IN ('upstream_error', 'rate_limited', 'laundered')
    AND list_contains(own.kinds, 'upstream_error')
    AND (own.attrs ->> '$.upstream_status') IN ('402', '429', '529')
    -- What an engine of one's own has a record of, or was sent, is no third party's.
    AND NOT EXISTS (
        SELECT 1
        FROM own AS inner_record
        WHERE
            inner_record.attempt_id = failures.attempt_id
            AND (
                inner_record.layer = 'model'
                OR (
                    inner_record.kind = 'request_forwarded'
                    AND inner_record.engine IS NOT NULL
                )
            )
    )
GROUP BY failures.attempt_id
