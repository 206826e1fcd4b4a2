-- title: The request's own record says that its plugin failed
-- layer: harness
-- cause: harness.plugin_failed
-- role: root
-- precedence: 230
-- needs: own
-- known gaps: a plugin that fails without a record (plugin_down)
SELECT
    failures.attempt_id,
    'harness.plugin_failed' AS cause,
    -- A proxy's flag says that it was so, not for what reason.
    CASE WHEN bool_and(own.in_access) THEN 'corroborated' ELSE 'proven' END
        AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: plugin failed'
    || coalesce(
        ' ('
        || arg_min(own.plugin, own.event_id) FILTER (WHERE own.plugin IS NOT NULL)
        || ')',
        ''
    ) AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    list_contains(own.kinds, 'plugin_failed')
    -- What went on for long without its plugin ended of something else.
    AND (
        own.clock_status = 'untied'
        OR own.ts
        >= failures.ts_end - INTERVAL 5 SECOND
        - micros(own.ts_error_us + failures.ts_error_us)
    )
GROUP BY failures.attempt_id
