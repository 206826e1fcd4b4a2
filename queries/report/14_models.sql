-- title: Attempts and failures by the model that was asked for
-- title zh: 按所请求模型统计的尝试与失败
SELECT
    attempts.model,
    count(*) AS attempts,
    count(*) FILTER (WHERE attempts.failed) AS failed,
    count(DISTINCT attempts.user_id) FILTER (WHERE attempts.failed) AS failed_users
FROM attempts
GROUP BY attempts.model
HAVING count(*) FILTER (WHERE attempts.failed) > 0
ORDER BY failed DESC, attempts.model ASC NULLS LAST
LIMIT 20
