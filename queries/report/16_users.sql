-- title: Users with the most failed attempts
-- title zh: 失败尝试最多的用户
SELECT
    attempts.user_id,
    count(*) AS attempts,
    count(*) FILTER (WHERE attempts.failed) AS failed
FROM attempts
WHERE attempts.user_id IS NOT NULL
GROUP BY attempts.user_id
HAVING count(*) FILTER (WHERE attempts.failed) > 0
ORDER BY failed DESC, attempts.user_id ASC
LIMIT 20
