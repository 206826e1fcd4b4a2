-- title: Refused with 429 before forwarding as one too many of its user's burst
-- layer: quota
-- cause: quota.burst_limit
-- role: root
-- precedence: 150
-- needs: bursts
-- known gaps: users that no log names; bursts over several gateways
SELECT
    bursts.attempt_id,
    'quota.burst_limit' AS cause,
    'corroborated' AS strength,
    refusals.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [refusals.attempt_id] AS evidence,
    bursts.requests || ' requests of ' || bursts.user_id || ' within '
    || bursts.window_s::BIGINT || ' s, limit ' || bursts.burst_limit::BIGINT AS because
FROM bursts
INNER JOIN refusals ON bursts.attempt_id = refusals.attempt_id
