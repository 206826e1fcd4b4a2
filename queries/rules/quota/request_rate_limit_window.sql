-- title: Refused with 429 before forwarding as one too many of its user's minute
-- layer: quota
-- cause: quota.request_rate_limit
-- role: root
-- precedence: 155
-- needs: minutes
-- known gaps: limits of a key or a team; users that no log names; a limit that neither
--     a log nor --config states
SELECT
    refusals.attempt_id,
    'quota.request_rate_limit' AS cause,
    'corroborated' AS strength,
    refusals.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list_sort(list_distinct([refusals.attempt_id, minutes.event_id])) AS evidence,
    minutes.requests || ' requests of ' || refusals.user_id
    || ' within a minute, limit ' || minutes.most::BIGINT AS because
FROM refusals
INNER JOIN minutes ON refusals.attempt_id = minutes.attempt_id
