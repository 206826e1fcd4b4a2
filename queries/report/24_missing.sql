-- title: What would settle the failed attempts that the logs do not explain
-- title zh: 日志无法解释的失败尝试还缺少什么
WITH items AS (
    SELECT unnest(verdicts.missing) AS missing
    FROM verdicts
    WHERE verdicts.layer = 'undetermined'
)

SELECT
    items.missing,
    count(*) AS attempts
FROM items
GROUP BY items.missing
ORDER BY attempts DESC, items.missing ASC
LIMIT 40
