-- title: Causes of conditions of one side that touch its window
SELECT
    conditions.layer,
    conditions.cause,
    count(*) AS conditions
FROM conditions
WHERE
    ($since IS NULL OR coalesce(conditions.ts_end, TIMESTAMP 'infinity') >= $since)
    AND ($until IS NULL OR conditions.ts_start < $until)
GROUP BY conditions.layer, conditions.cause
ORDER BY conditions.layer, conditions.cause
