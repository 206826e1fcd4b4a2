-- title: The request's own record says that it was served by an old revision
-- layer: model
-- cause: model.stale_weights
-- role: root
-- precedence: 482
-- needs: own
-- known gaps: gateways that do not compare revisions
SELECT
    failures.attempt_id,
    'model.stale_weights' AS cause,
    'proven' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: served by an old revision' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE list_contains(own.kinds, 'revision_mismatch') AND failures.status < 400
GROUP BY failures.attempt_id
