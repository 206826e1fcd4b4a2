-- title: Times in which an engine had requests, lived, and got nowhere
-- store: table
WITH waits AS (
    SELECT
        failures.attempt_id,
        coalesce(
            failures.engine,
            (
                SELECT min(engine_names.engine)
                FROM engine_names
                HAVING count(DISTINCT engine_names.engine) = 1
            )
        ) AS engine,
        failures.ts_start,
        failures.ts_end,
        coalesce(failures.ts_error_us, 0) AS ts_error_us
    FROM failures
    WHERE
        failures.status IN (408, 499, 504)
        AND failures.duration_ms >= 1000 * threshold('slow_s')
        AND failures.forwarded
),

-- What shows that it works, or that it has nothing to do.
works AS (
    SELECT
        progress.engine,
        progress.ts
    FROM progress
    WHERE
        progress.clock_status <> 'untied'
        AND (progress.moving OR (progress.running = 0 AND progress.waiting = 0))
    UNION ALL
    SELECT
        coalesce(engine_names.engine, marks.engine) AS engine,
        marks.ts
    FROM marks
    LEFT JOIN engine_names ON marks.engine = engine_names.label
    WHERE marks.kind = 'engine_ready' AND marks.clock_status <> 'untied'
    UNION ALL
    -- Whoever is served shows it as well.
    SELECT
        seconds.engine,
        seconds.second AS ts
    FROM seconds
    WHERE seconds.served > 0 AND (SELECT count(*) FROM waits) > 0
),

-- How often it tells of its work: a pause is one only where it tells more often.
paces AS (
    SELECT
        paced.engine,
        median(paced.pause_us) AS pause_us
    FROM (
        SELECT
            progress.engine,
            date_diff(
                'microsecond',
                lag(progress.ts) OVER (
                    PARTITION BY progress.engine ORDER BY progress.ts, progress.event_id
                ),
                progress.ts
            ) AS pause_us
        FROM progress
        WHERE progress.moving
    ) AS paced
    GROUP BY paced.engine
    HAVING count(paced.pause_us) >= 2
),

placed AS (
    SELECT
        waits.*,
        before.ts AS ts_before,
        after.ts AS ts_after
    FROM waits
    ASOF LEFT JOIN works AS before
        ON waits.engine = before.engine AND waits.ts_end >= before.ts
    ASOF LEFT JOIN works AS after
        ON waits.engine = after.engine AND waits.ts_end < after.ts
),

gaps AS (
    SELECT
        placed.engine,
        coalesce(placed.ts_before, min(placed.ts_start)) AS ts_start,
        placed.ts_after AS ts_end,
        max(placed.ts_end) AS ts_last,
        max(placed.ts_error_us) AS ts_error_us,
        count(*) AS attempts
    FROM placed
    GROUP BY placed.engine, placed.ts_before, placed.ts_after
    HAVING
        max(placed.ts_end) >= coalesce(placed.ts_before, min(placed.ts_start))
        + INTERVAL 30 SECOND
),

-- What shows that it, and its log, live all the same.
lives_on AS (
    SELECT
        progress.engine,
        progress.event_id,
        progress.ts,
        progress.ts_error_us,
        progress.clock_status,
        1 AS weight
    FROM progress
    WHERE NOT progress.moving AND progress.running > 0
    UNION ALL
    SELECT
        coalesce(engine_names.engine, marks.engine) AS engine,
        marks.event_id,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        2 AS weight
    FROM marks
    LEFT JOIN engine_names ON marks.engine = engine_names.label
    WHERE list_has_any(marks.kinds, ['engine_stall', 'engine_unhealthy'])
    UNION ALL
    SELECT
        failures.engine,
        own.event_id,
        own.ts,
        own.ts_error_us,
        own.clock_status,
        0 AS weight
    FROM own
    INNER JOIN failures ON own.attempt_id = failures.attempt_id
    WHERE of_engine(own.layer, own.component)
)

SELECT
    gaps.engine,
    gaps.ts_start,
    gaps.ts_end,
    gaps.ts_last,
    greatest(gaps.ts_error_us, max(lives_on.ts_error_us)) AS ts_error_us,
    gaps.attempts,
    list(DISTINCT lives_on.event_id ORDER BY lives_on.event_id)[1:20] AS evidence
FROM gaps
LEFT JOIN paces ON gaps.engine = paces.engine
INNER JOIN lives_on
    ON
        gaps.engine = lives_on.engine
        AND lives_on.clock_status <> 'untied'
        AND lives_on.ts >= gaps.ts_start + INTERVAL 10 SECOND
        AND lives_on.ts < coalesce(gaps.ts_end, gaps.ts_last + INTERVAL 10 MINUTE)
GROUP BY
    gaps.engine, gaps.ts_start, gaps.ts_end, gaps.ts_last, gaps.ts_error_us,
    gaps.attempts, paces.pause_us
HAVING
    sum(lives_on.weight) >= 2
    -- A single request may be a matter of its own.
    OR (
        gaps.attempts > 1
        AND date_diff(
            'microsecond', gaps.ts_start, coalesce(gaps.ts_end, gaps.ts_last)
        ) > 3 * paces.pause_us
    )
