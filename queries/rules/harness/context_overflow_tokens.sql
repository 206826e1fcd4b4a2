-- title: Refused before forwarding with a prompt that is longer than the context
-- layer: harness
-- cause: harness.context_overflow
-- role: root
-- precedence: 243
-- needs: prompts
-- known gaps: a context length that neither a log nor --config states; prompts that are
--     counted after the refusal only
SELECT
    prompts.attempt_id,
    'harness.context_overflow' AS cause,
    'corroborated' AS strength,
    failures.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list_sort(list_distinct([prompts.attempt_id, prompts.event_id, prompts.limit_id]))
        AS evidence,
    'a prompt of ' || prompts.tokens || ' tokens, the context has '
    || prompts.most::BIGINT AS because
FROM prompts
INNER JOIN failures ON prompts.attempt_id = failures.attempt_id
WHERE failures.forwarded IS FALSE
