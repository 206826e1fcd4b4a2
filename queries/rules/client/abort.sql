-- title: The client closed the connection before it had its answer
-- layer: client
-- cause: client.abort
-- role: root
-- precedence: 330
-- known gaps: clients that gave up because a hung engine made them wait
SELECT
    failures.attempt_id,
    'client.abort' AS cause,
    'corroborated' AS strength,
    failures.ts_end AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [failures.attempt_id] AS evidence,
    'the access record itself: 499 after '
    || coalesce(round(failures.duration_ms / 1000, 1)::VARCHAR, '?') || ' s'
        AS because
FROM failures
WHERE failures.status = 499
