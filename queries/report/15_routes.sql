-- title: Failed attempts by route
-- title zh: 按路由统计的失败尝试
WITH routes AS (
    SELECT
        verdicts.attempt_id,
        nullif(
            regexp_extract(events_raw.message, '^(\S+ [^\s?]+)', 1), ''
        ) AS route
    FROM verdicts
    INNER JOIN events_raw ON verdicts.attempt_id = events_raw.event_id
    WHERE events_raw.kind = 'access'
)

SELECT
    routes.route,
    count(*) AS failed,
    count(*) OVER () AS routes
FROM routes
WHERE routes.route IS NOT NULL
GROUP BY routes.route
ORDER BY failed DESC, routes.route ASC
LIMIT 20
