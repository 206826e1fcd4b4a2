-- title: The request's own record says that its structured output broke
-- layer: model
-- cause: model.grammar_failure
-- role: root
-- precedence: 486
-- needs: own
-- known gaps: output that breaks its grammar without a record; whether the client could
--     use it all the same
SELECT
    failures.attempt_id,
    'model.grammar_failure' AS cause,
    'corroborated' AS strength,
    min(own.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(own.event_id ORDER BY own.event_id) AS evidence,
    'own record: the output does not follow its grammar' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE list_contains(own.kinds, 'grammar_failure')
GROUP BY failures.attempt_id
