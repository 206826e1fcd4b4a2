-- title: An engine is dead, from its death to the next load
-- layer: model
-- cause: *
-- known gaps: a death that no record states; a restart that logs no load marker and
--     serves nobody
WITH starts AS (
    SELECT
        marks.event_id,
        coalesce(engine_names.engine, marks.engine) AS engine,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        marks.kinds,
        list_has_any(marks.kinds, ['engine_dead', 'worker_died']) AS death
    FROM marks
    LEFT JOIN engine_names ON marks.engine = engine_names.label
    WHERE
        marks.layer = 'model'
        AND marks.component <> 'kernel'
        AND marks.request_id IS NULL
        AND marks.severity IN ('error', 'critical')
        AND (
            list_has_any(
                marks.kinds, ['engine_dead', 'worker_died', 'engine_start_failed']
            )
            OR list_has_any(
                marks.kinds, (SELECT list(named_causes.kind) FROM named_causes)
            )
        )
),

ready AS (
    SELECT
        coalesce(engine_names.engine, marks.engine) AS engine,
        marks.ts
    FROM marks
    LEFT JOIN engine_names ON marks.engine = engine_names.label
    WHERE marks.layer = 'model' AND marks.kind = 'engine_ready'
),

bounded AS (
    SELECT
        starts.*,
        (
            SELECT min(ready.ts)
            FROM ready
            WHERE ready.engine = starts.engine AND ready.ts > starts.ts
        ) AS ready_ts
    FROM starts
),

outages AS (
    SELECT
        bounded.engine,
        bounded.ready_ts,
        min(bounded.ts) AS ts_start,
        max(bounded.ts_error_us) AS ts_error_us,
        min(bounded.clock_status) AS clock_status,
        bool_or(bounded.death) AS death,
        list(bounded.event_id ORDER BY bounded.ts, bounded.event_id) AS evidence
    FROM bounded
    GROUP BY bounded.engine, bounded.ready_ts
),

-- What the kernel says; it knows no engine, so it counts where there is but one.
kernel AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.kinds
    FROM marks
    WHERE
        marks.component = 'kernel'
        AND marks.clock_status <> 'untied'
        AND (SELECT count(*) FROM engine_names) = 1
),

-- A reason belongs to a death that it precedes or that echoed it at once; what a
-- later restart meets is another story.
told AS (
    SELECT
        outages.engine,
        outages.ready_ts,
        bounded.event_id,
        bounded.kinds
    FROM outages
    INNER JOIN bounded
        ON
            outages.engine = bounded.engine
            AND outages.ready_ts IS NOT DISTINCT FROM bounded.ready_ts
            AND bounded.ts <= outages.ts_start + INTERVAL 8 SECOND
    UNION ALL
    SELECT
        outages.engine,
        outages.ready_ts,
        kernel.event_id,
        kernel.kinds
    FROM outages
    INNER JOIN kernel
        ON
            kernel.ts BETWEEN outages.ts_start - INTERVAL 30 SECOND
            AND outages.ts_start + INTERVAL 8 SECOND
),

reasons AS (
    SELECT
        told.engine,
        told.ready_ts,
        arg_min(named_causes.cause, named_causes.rank) AS cause,
        list(DISTINCT told.event_id ORDER BY told.event_id) AS evidence
    FROM told
    INNER JOIN named_causes ON list_contains(told.kinds, named_causes.kind)
    GROUP BY told.engine, told.ready_ts
),

-- Whoever is served by this engine again ends the outage as well.
served AS (
    SELECT
        outages.engine,
        outages.ts_start,
        min(attempts.ts_start) AS ts
    FROM outages
    INNER JOIN attempts
        ON
            outages.engine = attempts.engine
            AND attempts.ts_start
            > outages.ts_start + micros(outages.ts_error_us + attempts.ts_error_us)
    WHERE attempts.status < 400 AND NOT attempts.failed
    GROUP BY outages.engine, outages.ts_start
)

SELECT
    coalesce(
        reasons.cause,
        CASE
            WHEN outages.death THEN 'model.engine_dead'
            ELSE 'model.startup_failure'
        END
    ) AS cause,
    'root' AS role,
    'engine' AS scope_kind,
    outages.engine AS scope,
    outages.ts_start,
    least(outages.ready_ts, served.ts) AS ts_end,
    outages.ts_error_us,
    outages.clock_status,
    outages.engine
    || CASE WHEN outages.death THEN ' died' ELSE ' failed' END
    || CASE
        WHEN reasons.cause IS NOT NULL
            THEN ' of ' || replace(reasons.cause, 'model.', '')
        WHEN outages.death THEN ''
        ELSE ' to start'
    END AS because,
    list_distinct(list_concat(coalesce(reasons.evidence, []), outages.evidence))[1:20]
        AS evidence
FROM outages
LEFT JOIN reasons
    ON
        outages.engine = reasons.engine
        AND outages.ready_ts IS NOT DISTINCT FROM reasons.ready_ts
LEFT JOIN served
    ON outages.engine = served.engine AND outages.ts_start = served.ts_start
