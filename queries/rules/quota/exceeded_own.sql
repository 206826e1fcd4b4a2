-- title: The request's own record says that its quota is used up
-- layer: quota
-- cause: quota.exceeded
-- role: root
-- precedence: 100
-- needs: own
-- known gaps: a gateway that launders the reason; a pool that no record names
SELECT
    failures.attempt_id,
    'quota.exceeded' AS cause,
    -- A proxy's flag says that it was so, not for what reason.
    CASE WHEN bool_and(own.in_access) THEN 'corroborated' ELSE 'proven' END
        AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: quota exceeded'
    || coalesce(
        ', pool '
        || arg_min(own.pool, own.event_id) FILTER (WHERE own.pool IS NOT NULL),
        ''
    ) AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    (
        own.kind = 'quota_deny'
        OR (
            own.kind = 'quota_exceeded'
            -- What a provider refused for its own limit is the gateway's echo of it.
            AND NOT EXISTS (
                SELECT 1
                FROM provider_refusals
                WHERE provider_refusals.attempt_id = failures.attempt_id
            )
        )
    )
    -- What waits to be given back is not used up (reclamation_lag).
    AND NOT EXISTS (
        SELECT 1
        FROM lagging
        WHERE lagging.request_id = failures.request_id
    )
GROUP BY failures.attempt_id
