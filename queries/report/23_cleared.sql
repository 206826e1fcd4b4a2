-- title: Layers that were ruled out for failed attempts, and by what
-- title zh: 为失败尝试排除的层及依据
WITH items AS (
    SELECT
        verdicts.cause,
        unnest(verdicts.cleared) AS item
    FROM verdicts
),

parts AS (
    SELECT
        items.cause,
        split_part(items.item, ': ', 1) AS layer,
        substr(items.item, strpos(items.item, ': ') + 2) AS reason
    FROM items
),

counted AS (
    SELECT
        parts.cause,
        parts.layer,
        parts.reason,
        count(*) AS times
    FROM parts
    GROUP BY parts.cause, parts.layer, parts.reason
)

SELECT
    counted.cause,
    counted.layer,
    sum(counted.times)::BIGINT AS attempts,
    count(*) AS reasons,
    arg_max(counted.reason, (counted.times, counted.reason)) AS reason
FROM counted
GROUP BY counted.cause, counted.layer
ORDER BY attempts DESC, counted.cause ASC, counted.layer ASC
LIMIT 60
