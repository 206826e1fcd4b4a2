-- title: What engines say of their load over time: running, waiting, cache, speed
-- topic: engines
-- answers: Was an engine full, out of cache or standing still when requests failed?
-- param bucket: duration = 1m; how much time a row is about
-- column ts: start of the time that the row is about
-- column engine: engine, else the clock of its log
-- column records: records of its statistics
-- column most_running: most requests that it ran at once
-- column most_waiting: most requests that waited
-- column kv_cache_pct: highest use of the KV cache, percent
-- column generation_tps: mean of the tokens per second that it generated
-- column deaths: records of its death in that time
SELECT
    time_bucket($bucket, events.ts) AS ts,
    coalesce(events.engine, events.clock_id) AS engine,
    count(*) FILTER (WHERE events.kind IN ('engine_stats', 'engine_progress'))
        AS records,
    max(try_cast((events.attrs ->> '$.running') AS DOUBLE))::BIGINT AS most_running,
    max(try_cast((events.attrs ->> '$.waiting') AS DOUBLE))::BIGINT AS most_waiting,
    max(
        coalesce(
            try_cast((events.attrs ->> '$.kv_cache_pct') AS DOUBLE),
            100 * try_cast((events.attrs ->> '$.kv_cache') AS DOUBLE),
            100 * try_cast((events.attrs ->> '$.kv_cache_used') AS DOUBLE)
        )
    ) AS kv_cache_pct,
    round(avg(try_cast((events.attrs ->> '$.generation_tps') AS DOUBLE)), 1)
        AS generation_tps,
    count(*) FILTER (WHERE events.kind = 'engine_dead') AS deaths
FROM events
WHERE
    events.kind IN ('engine_stats', 'engine_progress', 'engine_dead')
    -- As a range too, since that skips row groups of other records.
    AND events.kind BETWEEN 'engine_dead' AND 'engine_stats'
    AND events.layer = 'model'
GROUP BY
    time_bucket($bucket, events.ts),
    coalesce(events.engine, events.clock_id)
ORDER BY ts ASC, coalesce(events.engine, events.clock_id) ASC
