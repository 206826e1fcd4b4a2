-- title: Where attempts spent their time, over time: network, waiting, answering, edge
-- topic: load
-- answers: Which part of the way became slow, and when?
-- param bucket: duration = 1m; how much time a row is about
-- param model: text; only this model
-- column ts: start of the time that the row is about
-- column attempts: attempts that ended in it and reached an upstream
-- column failed: failed ones of these
-- column network_p95_ms: until the connection stood, ms: 95 of 100 took no longer
-- column waiting_p95_ms: from there to the first byte, ms
-- column answering_p95_ms: from the first byte to the end of the answer, ms
-- column edge_p95_ms: what the whole exchange took beyond its upstreams, ms
WITH exchanges AS (
    SELECT
        hops.attempt_id,
        min(hops.ts_end) AS ts_end,
        bool_or(hops.failed) AS failed,
        sum(hops.connect_ms) AS connect_ms,
        sum(hops.header_ms - coalesce(hops.connect_ms, 0)) AS waiting_ms,
        sum(hops.response_ms - hops.header_ms) AS answering_ms,
        greatest(min(hops.duration_ms) - sum(hops.response_ms), 0) AS edge_ms
    FROM hops
    WHERE $model IS NULL OR hops.model = $model
    GROUP BY hops.attempt_id
)

SELECT
    time_bucket($bucket, exchanges.ts_end) AS ts,
    count(*) AS attempts,
    count(*) FILTER (WHERE exchanges.failed) AS failed,
    quantile_disc(exchanges.connect_ms, 0.95) AS network_p95_ms,
    quantile_disc(exchanges.waiting_ms, 0.95) AS waiting_p95_ms,
    quantile_disc(exchanges.answering_ms, 0.95) AS answering_p95_ms,
    quantile_disc(exchanges.edge_ms, 0.95) AS edge_p95_ms
FROM exchanges
GROUP BY time_bucket($bucket, exchanges.ts_end)
ORDER BY ts
