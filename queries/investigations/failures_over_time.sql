-- title: Failed attempts by layer and cause over time
-- topic: failures
-- answers: When did which cause begin to fail requests, and when did it end?
-- param bucket: duration = 1m; how much time a row is about
-- param layer: text; only this layer
-- param since: time; only attempts that ended from then on
-- param until: time; only attempts that ended before then
-- column ts: start of the time that the row is about
-- column layer: layer that failed them
-- column cause: cause
-- column failed: failed attempts that ended in that time
-- column users: users whom they hit
SELECT
    time_bucket($bucket, attempts.ts_end) AS ts,
    verdicts.layer,
    verdicts.cause,
    count(*) AS failed,
    count(DISTINCT attempts.user_id) AS users
FROM verdicts
INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
WHERE
    ($layer IS NULL OR verdicts.layer = $layer)
    AND ($since IS NULL OR attempts.ts_end >= $since)
    AND ($until IS NULL OR attempts.ts_end < $until)
GROUP BY
    time_bucket($bucket, attempts.ts_end),
    verdicts.layer,
    verdicts.cause
ORDER BY
    ts ASC, failed DESC, verdicts.cause ASC
