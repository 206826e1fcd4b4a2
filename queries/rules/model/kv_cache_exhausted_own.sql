-- title: The engine put the request aside for want of cache blocks, and it failed
-- layer: model
-- cause: model.kv_cache_exhausted
-- role: root
-- precedence: 532
-- needs: own
-- known gaps: engines that put requests aside without a record
SELECT
    failures.attempt_id,
    'model.kv_cache_exhausted' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: no cache block was left for it' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE list_contains(own.kinds, 'kv_cache_exhausted') AND failures.status >= 500
GROUP BY failures.attempt_id
