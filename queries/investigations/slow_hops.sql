-- title: How long each upstream took: connecting, first byte, whole answer
-- topic: load
-- answers: Which upstream is the slow one, and in which part of its work?
-- param since: time; only attempts that ended from then on
-- param until: time; only attempts that ended before then
-- column upstream: address of the upstream, else the engine; NULL where no log says
-- column hops: how often it was tried
-- column failed: attempts that failed at it or behind it
-- column connect_p95_ms: until the connection stood, ms: 95 of 100 took no longer
-- column header_p50_ms: until the first byte, ms: the median
-- column header_p95_ms: until the first byte, ms: 95 of 100 took no longer
-- column response_p50_ms: until the end, ms: the median
-- column response_p95_ms: until the end, ms: 95 of 100 took no longer
-- column response_max_ms: until the end, ms: the longest
SELECT
    coalesce(hops.upstream, hops.engine) AS upstream,
    count(*) AS hops,
    count(*) FILTER (WHERE hops.failed) AS failed,
    quantile_disc(hops.connect_ms, 0.95) AS connect_p95_ms,
    quantile_disc(hops.header_ms, 0.5) AS header_p50_ms,
    quantile_disc(hops.header_ms, 0.95) AS header_p95_ms,
    quantile_disc(hops.response_ms, 0.5) AS response_p50_ms,
    quantile_disc(hops.response_ms, 0.95) AS response_p95_ms,
    max(hops.response_ms) AS response_max_ms
FROM hops
WHERE
    ($since IS NULL OR hops.ts_end >= $since)
    AND ($until IS NULL OR hops.ts_end < $until)
GROUP BY coalesce(hops.upstream, hops.engine)
ORDER BY
    response_p95_ms DESC NULLS LAST, hops DESC, coalesce(hops.upstream, hops.engine) ASC
