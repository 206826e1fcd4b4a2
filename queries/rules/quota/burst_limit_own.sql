-- title: The request's own record says that its user sent too many at once
-- layer: quota
-- cause: quota.burst_limit
-- role: root
-- precedence: 110
-- needs: own
-- known gaps: a burst limit that logs nothing (burst_limit_window)
SELECT
    failures.attempt_id,
    'quota.burst_limit' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: burst limit' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE own.kind = 'burst_limit'
GROUP BY failures.attempt_id
