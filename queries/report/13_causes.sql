-- title: Failed attempts by layer, cause and what was in trouble
-- title zh: 按层、原因与故障对象统计的失败尝试
SELECT
    verdicts.layer,
    verdicts.cause,
    conditions.scope,
    count(*) AS failed,
    count(DISTINCT attempts.request_id) AS requests,
    count(DISTINCT attempts.user_id) AS users,
    count(DISTINCT attempts.model) AS models,
    count(*) FILTER (WHERE verdicts.strength = 'proven') AS proven,
    count(*) FILTER (WHERE verdicts.strength = 'corroborated') AS corroborated,
    count(*) FILTER (WHERE verdicts.strength = 'inferred') AS inferred,
    count(*) FILTER (WHERE verdicts.strength = 'undetermined') AS undetermined,
    min(attempts.ts_start) AS ts_start,
    max(attempts.ts_end) AS ts_end
FROM verdicts
INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
LEFT JOIN conditions ON verdicts.condition_id = conditions.condition_id
GROUP BY verdicts.layer, verdicts.cause, conditions.scope
ORDER BY
    verdicts.layer = 'undetermined',
    failed DESC,
    verdicts.cause ASC,
    conditions.scope ASC NULLS LAST
