-- title: What engines say of their own work from time to time
-- store: table
WITH told AS (
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
        -- A line of a batch is work in itself; figures only where they say something.
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
),

engines AS (
    SELECT engine_names.engine
    FROM engine_names
    UNION
    SELECT failures.engine
    FROM failures
    WHERE failures.engine IS NOT NULL
),

-- One scrape of an engine's metrics page; its ranks are samples of their own.
scrapes AS (
    SELECT
        min(samples.event_id) AS event_id,
        samples.source_id,
        samples.clock_id,
        samples.host,
        samples.ts,
        min(samples.ts_raw) AS ts_raw,
        max(samples.ts_error_us) AS ts_error_us,
        min(samples.clock_status) AS clock_status,
        sum(samples.value) FILTER (
            WHERE
            samples.name IN ('vllm:num_requests_running', 'sglang:num_running_reqs')
        ) AS running,
        sum(samples.value) FILTER (
            WHERE samples.name IN ('vllm:num_requests_waiting', 'sglang:num_queue_reqs')
        ) AS waiting,
        max(100 * samples.value) FILTER (
            WHERE
            samples.name IN (
                'vllm:gpu_cache_usage_perc', 'vllm:kv_cache_usage_perc',
                'sglang:token_usage'
            )
        ) AS kv_cache_pct,
        sum(samples.value) FILTER (
            WHERE
            samples.name IN (
                'vllm:avg_generation_throughput_toks_per_s', 'sglang:gen_throughput'
            )
        ) AS tps,
        sum(samples.value) FILTER (
            WHERE
            samples.name IN (
                'vllm:generation_tokens_total', 'vllm:generation_tokens',
                'sglang:generation_tokens_total'
            )
        ) AS tokens
    FROM samples
    WHERE regexp_matches(samples.name, '^(vllm|sglang):')
    GROUP BY samples.source_id, samples.clock_id, samples.host, samples.ts
),

paced AS (
    SELECT
        scrapes.*,
        coalesce(
            scrapes.tps,
            -- A counter begins anew with its engine.
            greatest(scrapes.tokens - lag(scrapes.tokens) OVER pages, 0)
            / nullif(
                date_diff('microsecond', lag(scrapes.ts) OVER pages, scrapes.ts) / 1e6,
                0
            )
        ) AS generation_tps
    FROM scrapes
    WINDOW pages AS (
        PARTITION BY scrapes.source_id ORDER BY scrapes.ts, scrapes.event_id
    )
)

SELECT told.* FROM told
UNION ALL
SELECT
    paced.event_id,
    coalesce(
        (
            SELECT min(engine_names.engine)
            FROM engine_names
            WHERE paced.host IN (engine_names.engine, engine_names.label)
        ),
        (SELECT min(engines.engine) FROM engines HAVING count(*) = 1),
        paced.clock_id
    ) AS engine,
    paced.clock_id,
    paced.ts,
    paced.ts_raw,
    paced.ts_error_us,
    paced.clock_status,
    coalesce(paced.running, 0) AS running,
    coalesce(paced.waiting, 0) AS waiting,
    coalesce(paced.kv_cache_pct, 0) AS kv_cache_pct,
    paced.generation_tps / nullif(paced.running, 0) AS speed,
    coalesce(paced.generation_tps, 1) > 0 AS moving
FROM paced
WHERE paced.running IS NOT NULL OR paced.waiting IS NOT NULL
