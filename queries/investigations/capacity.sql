-- title: Real concurrency of each engine against what is configured
-- topic: load
-- answers: How many requests did an engine really work on at once, and is the configured limit far from it?
-- column engine: engine; NULL: the harness as a whole
-- column most_at_once: most attempts that were under way at it at once, by the access log
-- column served: attempts that succeeded
-- column failed: attempts that failed
-- column busy_s: time in which at least one was under way, s
-- column mean_at_once: mean number under way in that time
-- column said_running: most that the engine itself says it ran at once
-- column said_waiting: most that it says were waiting in its queue
-- column configured: max_concurrent_requests of the harness
-- column use_of_limit: most_at_once as a share of it
WITH served AS (
    SELECT
        attempts.engine,
        attempts.ts_start,
        attempts.ts_end,
        attempts.failed
    FROM attempts
    WHERE
        attempts.ts_start IS NOT NULL
        AND attempts.ts_end IS NOT NULL
        AND (attempts.status < 400 OR attempts.forwarded)
),

placed AS (
    SELECT served.* FROM served
    WHERE served.engine IS NOT NULL
    UNION ALL
    SELECT
        NULL AS engine,
        served.ts_start,
        served.ts_end,
        served.failed
    FROM served
),

steps AS (
    SELECT
        placed.engine,
        placed.ts_start AS ts,
        1 AS change
    FROM placed
    UNION ALL
    SELECT
        placed.engine,
        placed.ts_end AS ts,
        -1 AS change
    FROM placed
),

turns AS (
    SELECT
        steps.engine,
        steps.ts,
        sum(sum(steps.change)) OVER (
            PARTITION BY steps.engine ORDER BY steps.ts ROWS UNBOUNDED PRECEDING
        ) AS at_once,
        date_diff(
            'microsecond',
            steps.ts,
            lead(steps.ts) OVER (PARTITION BY steps.engine ORDER BY steps.ts)
        ) / 1e6 AS seconds
    FROM steps
    GROUP BY steps.engine, steps.ts
),

loads AS (
    SELECT
        turns.engine,
        max(turns.at_once)::BIGINT AS most,
        sum(turns.seconds) FILTER (WHERE turns.at_once > 0) AS busy_s,
        sum(turns.seconds * turns.at_once) AS work_s
    FROM turns
    GROUP BY turns.engine
),

outcomes AS (
    SELECT
        placed.engine,
        count(*) FILTER (WHERE NOT placed.failed) AS served,
        count(*) FILTER (WHERE placed.failed) AS failed
    FROM placed
    GROUP BY placed.engine
),

told AS (
    SELECT
        coalesce(events.engine, events.clock_id) AS engine,
        max(try_cast((events.attrs ->> '$.running') AS BIGINT)) AS running,
        max(try_cast((events.attrs ->> '$.waiting') AS BIGINT)) AS waiting
    FROM events
    WHERE
        events.kind IN ('engine_stats', 'engine_progress')
        AND events.kind BETWEEN 'engine_progress' AND 'engine_stats'
    GROUP BY coalesce(events.engine, events.clock_id)
),

limits AS (
    SELECT max(settings.number) AS configured
    FROM settings
    WHERE settings.key = 'max_concurrent_requests'
)

SELECT
    coalesce(loads.engine, told.engine) AS engine,
    loads.most AS most_at_once,
    outcomes.served,
    outcomes.failed,
    round(loads.busy_s, 3) AS busy_s,
    round(loads.work_s / nullif(loads.busy_s, 0), 2) AS mean_at_once,
    told.running AS said_running,
    told.waiting AS said_waiting,
    CASE WHEN loads.most IS NOT NULL THEN limits.configured::BIGINT END AS configured,
    round(loads.most / nullif(limits.configured, 0), 4) AS use_of_limit
FROM loads
INNER JOIN outcomes ON loads.engine IS NOT DISTINCT FROM outcomes.engine
FULL JOIN told ON loads.engine = told.engine
CROSS JOIN limits
ORDER BY coalesce(loads.engine, told.engine) ASC NULLS FIRST
