-- title: Attempts that ended in each second, per engine
-- store: table
SELECT
    date_trunc('second', attempts.ts_end) AS second,
    attempts.engine,
    count(*) FILTER (WHERE NOT attempts.failed AND attempts.forwarded) AS served,
    count(*) FILTER (WHERE attempts.status < 400 OR attempts.forwarded) AS ended,
    count(*) FILTER (WHERE NOT attempts.failed) AS good,
    count(*) AS attempts
FROM attempts
GROUP BY date_trunc('second', attempts.ts_end), attempts.engine
