-- title: An engine has more to do than it can, or works at a fraction of its speed
-- layer: model
-- cause: model.slow
-- known gaps: engines that say nothing of their queue, cache or throughput, while no
--     monitor shows their GPU throttled
WITH rated AS (
    SELECT
        progress.*,
        heated.because AS heat,
        heated.evidence AS heat_evidence,
        progress.waiting > 0
        OR progress.kv_cache_pct > threshold('kv_cache_full_pct') AS crowded,
        progress.speed / nullif(
            median(progress.speed) OVER (PARTITION BY progress.engine), 0
        ) AS usual_pace,
        -- Throttled for most of the time, what is usual for it is slow.
        CASE
            WHEN heated.event_id IS NOT NULL
                THEN progress.speed / nullif(
                    median(
                        CASE WHEN heated.event_id IS NULL THEN progress.speed END
                    ) OVER (PARTITION BY progress.engine), 0
                )
        END AS cool_pace
    FROM progress
    LEFT JOIN heated ON progress.event_id = heated.event_id
    -- Whoever does nothing at all is not slow.
    WHERE progress.moving
),

flagged AS (
    SELECT
        rated.*,
        least(rated.usual_pace, rated.cool_pace) AS pace,
        coalesce(
            rated.crowded
            OR rated.usual_pace < threshold('engine_pace')
            -- Less will do while its GPU is throttled.
            OR (
                least(rated.usual_pace, rated.cool_pace) < 0.8
                AND rated.heat_evidence IS NOT NULL
            ),
            FALSE
        ) AS slow
    FROM rated
),

numbered AS (
    SELECT
        flagged.*,
        sum(CASE WHEN flagged.slow THEN 0 ELSE 1 END) OVER (
            PARTITION BY flagged.engine ORDER BY flagged.ts, flagged.event_id
        ) AS run
    FROM flagged
),

-- A full engine is in order as long as nobody's time runs out.
waits AS (
    SELECT
        failures.ts_start,
        failures.ts_end,
        failures.ts_error_us
    FROM failures
    WHERE
        failures.status IN (408, 504)
        AND failures.duration_ms >= 1000 * threshold('slow_s')
),

runs AS (
    SELECT
        numbered.engine,
        min(numbered.ts) AS ts_start,
        max(numbered.ts) AS ts_end,
        max(numbered.ts_error_us) AS ts_error_us,
        min(numbered.clock_status) AS clock_status,
        bool_or(numbered.crowded) AS crowded,
        min(numbered.pace) AS pace,
        max(numbered.waiting) AS waiting,
        max(numbered.kv_cache_pct) AS kv_cache_pct,
        max(numbered.heat) AS heat,
        list(numbered.event_id ORDER BY numbered.event_id)[1:10] AS evidence,
        flatten(list(numbered.heat_evidence ORDER BY numbered.event_id))
            AS heat_evidence
    FROM numbered
    WHERE numbered.slow
    GROUP BY numbered.engine, numbered.run
),

slowness AS (
    SELECT
        runs.engine,
        runs.ts_start,
        runs.ts_end,
        runs.ts_error_us,
        runs.clock_status,
        runs.engine || CASE
            WHEN runs.crowded
                THEN
                    ' had up to ' || runs.waiting::BIGINT || ' waiting and its cache '
                    || round(runs.kv_cache_pct, 1) || ' % full'
            ELSE
                ' worked at ' || round(100 * runs.pace)::BIGINT
                || ' % of its usual speed'
        END
        || coalesce('; ' || runs.heat, '') AS because,
        list_sort(
            list_distinct(list_concat(runs.evidence, coalesce(runs.heat_evidence, [])))
        )[1:20] AS evidence
    FROM runs
    UNION ALL
    -- An engine that never tells of its speed: the only one, so that it is its GPU.
    SELECT
        gpu_heat.engine,
        gpu_heat.ts_start,
        gpu_heat.ts_end,
        gpu_heat.ts_error_us,
        gpu_heat.clock_status,
        gpu_heat.because,
        gpu_heat.evidence
    FROM gpu_heat
    WHERE
        gpu_heat.only_engine
        AND NOT EXISTS (SELECT 1 FROM progress)
)

SELECT
    'model.slow' AS cause,
    'root' AS role,
    'engine' AS scope_kind,
    slowness.engine AS scope,
    slowness.ts_start,
    slowness.ts_end,
    slowness.ts_error_us,
    slowness.clock_status,
    slowness.because,
    slowness.evidence
FROM slowness
SEMI JOIN waits
    ON may_overlap(
        waits.ts_start, waits.ts_end, waits.ts_error_us,
        slowness.ts_start, slowness.ts_end, slowness.ts_error_us
    )
