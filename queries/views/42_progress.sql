-- title: What engines say of their own work from time to time
-- store: table
SELECT
    events.event_id,
    coalesce(engine_names.engine, events.engine, events.clock_id) AS engine,
    events.clock_id,
    events.ts,
    events.ts_raw,
    coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
    coalesce(clocks.status, 'untied') AS clock_status,
    coalesce(try_cast((events.attrs ->> '$.running') AS DOUBLE), 0) AS running,
    coalesce(try_cast((events.attrs ->> '$.waiting') AS DOUBLE), 0) AS waiting,
    coalesce(
        try_cast((events.attrs ->> '$.kv_cache_pct') AS DOUBLE),
        100 * try_cast((events.attrs ->> '$.kv_cache') AS DOUBLE),
        100 * try_cast((events.attrs ->> '$.kv_cache_used') AS DOUBLE),
        0
    ) AS kv_cache_pct,
    try_cast((events.attrs ->> '$.generation_tps') AS DOUBLE)
    / nullif(try_cast((events.attrs ->> '$.running') AS DOUBLE), 0) AS speed,
    -- A line of a batch is work in itself; figures only where they do not say nothing.
    events.kind = 'engine_progress'
    OR coalesce(
        greatest(
            try_cast((events.attrs ->> '$.generation_tps') AS DOUBLE),
            try_cast((events.attrs ->> '$.prompt_tps') AS DOUBLE)
        ),
        1
    ) > 0 AS moving
FROM events
LEFT JOIN clocks
    ON events.clock_id = clocks.clock_id AND clocks.segment = 0
LEFT JOIN engine_names
    ON coalesce(events.engine, events.clock_id) = engine_names.label
WHERE
    events.kind IN ('engine_stats', 'engine_progress')
    -- As a range too, since that skips row groups of access records.
    AND events.kind BETWEEN 'engine_progress' AND 'engine_stats'
    AND of_engine(events.layer, events.component)
