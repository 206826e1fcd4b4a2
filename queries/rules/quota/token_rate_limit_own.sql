-- title: The request's own record says that the token budget per minute is spent
-- layer: quota
-- cause: quota.token_rate_limit
-- role: root
-- precedence: 120
-- needs: own
-- known gaps: a budget that logs nothing (token_rate_limit_window)
SELECT
    failures.attempt_id,
    'quota.token_rate_limit' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: token rate limit' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    own.kind = 'token_rate_limit'
    -- What a provider refused for its own limit is the gateway's echo of it.
    AND NOT EXISTS (
        SELECT 1
        FROM provider_refusals
        WHERE provider_refusals.attempt_id = failures.attempt_id
    )
GROUP BY failures.attempt_id
