-- title: An engine has more to do than it can, or works at a fraction of its speed
-- layer: model
-- cause: model.slow
-- known gaps: engines that say nothing of their queue, cache or throughput
WITH rated AS (
    SELECT
        progress.*,
        progress.waiting > 0 OR progress.kv_cache_pct > 95 AS crowded,
        progress.speed < 0.5 * median(progress.speed) OVER (
            PARTITION BY progress.engine
        ) AS dragging
    FROM progress
    -- Whoever does nothing at all is not slow.
    WHERE progress.moving
),

flagged AS (
    SELECT
        rated.*,
        coalesce(rated.crowded OR rated.dragging, FALSE) AS slow
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
    WHERE failures.status IN (408, 504) AND failures.duration_ms >= 10000
),

runs AS (
    SELECT
        numbered.engine,
        min(numbered.ts) AS ts_start,
        max(numbered.ts) AS ts_end,
        max(numbered.ts_error_us) AS ts_error_us,
        min(numbered.clock_status) AS clock_status,
        bool_or(numbered.crowded) AS crowded,
        max(numbered.waiting) AS waiting,
        max(numbered.kv_cache_pct) AS kv_cache_pct,
        list(numbered.event_id ORDER BY numbered.event_id)[1:20] AS evidence
    FROM numbered
    WHERE numbered.slow
    GROUP BY numbered.engine, numbered.run
)

SELECT
    'model.slow' AS cause,
    'root' AS role,
    'engine' AS scope_kind,
    runs.engine AS scope,
    runs.ts_start,
    runs.ts_end,
    runs.ts_error_us,
    runs.clock_status,
    runs.engine || CASE
        WHEN runs.crowded
            THEN
                ' had up to ' || runs.waiting::BIGINT || ' waiting and its cache '
                || round(runs.kv_cache_pct, 1) || ' % full'
        ELSE ' worked at less than half of its speed'
    END AS because,
    runs.evidence
FROM runs
SEMI JOIN waits
    ON may_overlap(
        waits.ts_start, waits.ts_end, waits.ts_error_us,
        runs.ts_start, runs.ts_end, runs.ts_error_us
    )
